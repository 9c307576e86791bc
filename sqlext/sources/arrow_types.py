"""Find the Arrow type of a column: of what Spark would make of it."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from sqlext.types import LogicalType
from sqlext_udfs.expressions.functions import INSTANT, WALL_CLOCK


class ArrowField(NamedTuple):
    """A column: its name and the type that it is read as."""

    name: str
    type: pa.DataType


def arrow_type(declared: LogicalType, *, instant: bool = False) -> pa.DataType | None:
    """Return the Arrow type of a column, None for one that is not read here.

    Args:
        declared: as the table has it.
        instant: whether it is a rowtime of type TIMESTAMP, which is carried as an instant.
    """
    if declared.is_text:
        return pa.string()
    if declared.root == "DECIMAL":
        # DECIMAL alone is DECIMAL(10, 0), in Flink as in Spark.
        return pa.decimal128(declared.precision or 10, declared.scale or 0)
    if declared.root == "TIMESTAMP":
        return INSTANT if instant else WALL_CLOCK
    return _TYPES.get(declared.root)


def json_type(declared: LogicalType, *, instant: bool = False) -> pa.DataType | None:
    """Return the same of a column in JSON: rows in rows too, but none with instants or dates."""
    if declared.root != "ROW":
        return arrow_type(declared, instant=instant)
    fields = {f.name: json_type(f.type) for f in declared.fields}
    if len(fields) < len(declared.fields) or not fields or any(t in _NOT_IN_ROWS for t in fields.values()):
        return None
    return pa.struct(list(fields.items()))


def require_digits(values: pa.Array) -> None:
    """Check the digits of DECIMALs, also in rows: Arrow's parsers of csv and JSON do not count those before the point.

    Raises:
        ArrowInvalid: for a value with more digits than its type.
    """
    if _has_decimals(values.type):
        values.validate(full=True)


def _has_decimals(of: pa.DataType) -> bool:
    if pa.types.is_struct(of):
        return any(_has_decimals(field.type) for field in of)
    return bool(pa.types.is_decimal(of))


#: What has no form of its own in a row of JSON.
_NOT_IN_ROWS = (None, INSTANT, pa.date32())
_TYPES = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DATE": pa.date32(),
    "TIMESTAMP_LTZ": INSTANT,
}
