"""Turn Arrow tables into rows of Python values, as Spark's ``collect`` gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def can_be_values(of: pa.DataType) -> bool:
    """Return whether values of a type are the same in Python: Spark has rows of its own for a row within a row."""
    if pa.types.is_struct(of) or pa.types.is_map(of):
        return False
    return can_be_values(of.value_type) if pa.types.is_list(of) else True


def rows_of_table(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table."""
    columns = [_values(table.column(i)) for i in range(table.num_columns)]
    yield from zip(*columns, strict=True)


def _values(column: pa.ChunkedArray) -> list[Any]:
    convert = _conversion(column.type)
    if pa.types.is_timestamp(column.type):
        # Arrow would need the database of time zones.
        column = column.cast(pa.int64()) if column.type.tz is None else column.cast(pa.timestamp("us")).cast(pa.int64())
    values = column.to_pylist()
    return values if convert is None else [None if v is None else convert(v) for v in values]


def _conversion(of: pa.DataType) -> Callable[[Any], Any] | None:
    if not pa.types.is_timestamp(of):
        return None
    return _wall_clock if of.tz is None else _local


def _wall_clock(micros: int) -> datetime:
    return (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=None)


def _local(micros: int) -> datetime:
    """Return an instant as the wall clock of this process, as PySpark does."""
    return (_EPOCH + timedelta(microseconds=micros)).astimezone().replace(tzinfo=None)
