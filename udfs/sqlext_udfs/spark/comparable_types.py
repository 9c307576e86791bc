"""Check which columns an operator can compare, and carry as Arrow."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import types as t

from sqlext.capabilities import TIME_TYPE, has
from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.arrow_types import plain_schema
from sqlext_udfs.spark.arrow_schemas import arrow_schema

_ATOMS: tuple[type[t.DataType], ...] = (
    t.NullType,
    t.BooleanType,
    t.IntegralType,
    t.FloatType,
    t.DoubleType,
    t.DecimalType,
    t.StringType,
    t.CharType,
    t.VarcharType,
    t.BinaryType,
    t.DateType,
    t.TimestampType,
    t.TimestampNTZType,
    t.DayTimeIntervalType,
    *((t.TimeType,) if has(TIME_TYPE) else ()),
)


def require_comparable(schema: t.StructType, what: str) -> None:
    """Check that rows can be told apart.

    Args:
        schema: the rows' columns.
        what: the clause that compares them, for the message.

    Raises:
        SqlExtError: FUNC-011, naming the column.
    """
    for field in schema:
        for part in _parts(field.dataType):
            if reason := _reason(part):
                message = f"{what} cannot take column `{field.name}`: {reason}"
                raise SqlExtError("FUNC-011", message, hint="leave it out, or turn it into text or numbers first")


def arrow_types(schema: t.StructType, keys: int, what: str) -> list[pa.DataType]:
    """Return the Arrow types of an operator's input, whose first columns are a key, and must be comparable.

    Raises:
        SqlExtError: FUNC-011 for a key that is not.
    """
    require_comparable(t.StructType(schema.fields[:keys]), what)
    # In UTC: state must read the same under all zones.
    found: list[pa.DataType] = plain_schema(arrow_schema(schema)).types
    return found


def _parts(of: t.DataType) -> Iterator[t.DataType]:
    if isinstance(of, t.ArrayType):
        yield from _parts(of.elementType)
    elif isinstance(of, t.StructType):
        for field in of:
            yield from _parts(field.dataType)
    else:
        yield of


def _reason(of: t.DataType) -> str | None:
    if isinstance(of, t.MapType):
        return "maps cannot be compared"
    # Arrow compares bytes, so text that is equal under a collation would be two keys.
    if isinstance(of, t.StringType) and not of.isUTF8BinaryCollation():
        return f"text compared by collation {of.collation}"
    return None if isinstance(of, _ATOMS) else f"type {of.simpleString()}"
