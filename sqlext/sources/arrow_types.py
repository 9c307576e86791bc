"""Find the Arrow type of a column: of what Spark would make of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sqlext.types import LogicalType
from sqlext_udfs.expressions.functions import INSTANT, WALL_CLOCK


class ArrowField(NamedTuple):
    """A column.

    Attributes:
        name: its own.
        type: as what it is read.
        looked_at: the same, without fields of rows that nobody looks at; None: all are.
    """

    name: str
    type: pa.DataType
    looked_at: pa.DataType | None = None

    @property
    def made(self) -> pa.DataType:
        """The type that it comes out with."""
        return self.type if self.looked_at is None else self.looked_at


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


def with_fields(values: pa.Array, of: pa.DataType) -> pa.Array:
    """Return rows with some of their fields alone, in rows within them too."""
    if values.type == of:
        return values
    fields = [with_fields(pc.struct_field(values, field.name), field.type) for field in of]
    return pa.StructArray.from_arrays(fields, fields=list(of), mask=pc.is_null(values))


def fields_at(of: pa.DataType, paths: Iterable[Sequence[str]]) -> pa.DataType:
    """Return the type of a row with the fields at some paths alone; an empty path is all of it."""
    found = list(paths)
    if not pa.types.is_struct(of) or not all(found):
        return of
    below = {field.name: [rest for name, *rest in found if name == field.name] for field in of}
    return pa.struct([field.with_type(fields_at(field.type, below[field.name])) for field in of if below[field.name]])


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
