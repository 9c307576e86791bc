"""Map each Spark type to one Arrow type, whatever the session's settings are.

Spark gives instants the session's time zone (``spark.sql.session.timeZone``). It gives text 64-bit offsets if told so
(``spark.sql.execution.arrow.useLargeVarTypes``). State must be the same under all such settings.
"""

from __future__ import annotations

import pyarrow as pa


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema with each column nullable and of its plain type."""
    return pa.schema([_plain_field(f) for f in schema])


def plain(table: pa.Table) -> pa.Table:
    """Return a table with the plain schema."""
    schema = plain_schema(table.schema)
    return table if table.schema.equals(schema, check_metadata=True) else table.cast(schema)


def has_floats(of: pa.DataType) -> bool:
    """Return whether a type is or contains a floating-point one."""
    return pa.types.is_floating(of) or any(has_floats(of.field(i).type) for i in range(of.num_fields))


def _plain_field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _plain_type(field.type))


def _plain_type(of: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(of) and of.tz is not None:
        return pa.timestamp(of.unit, "UTC")
    if pa.types.is_large_string(of) or pa.types.is_string_view(of):
        return pa.string()
    if pa.types.is_large_binary(of) or pa.types.is_binary_view(of):
        return pa.binary()
    if pa.types.is_list(of) or pa.types.is_large_list(of):
        return pa.list_(_plain_field(of.value_field))
    if pa.types.is_struct(of):
        return pa.struct([_plain_field(of.field(i)) for i in range(of.num_fields)])
    return of
