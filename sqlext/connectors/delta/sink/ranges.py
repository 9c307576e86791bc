"""Tell which files of a Delta table can hold keys: from which value to which the keys reach, and those of each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from sqlext.quoting import identifier

if TYPE_CHECKING:
    from deltalake import DeltaTable

#: Statistics of files have milliseconds, cut off; microseconds of one.
_CUT = 1000


@dataclass(frozen=True)
class KeyRange:
    """Between which values a column of keys lies.

    Attributes:
        name: of the column.
        low: Arrow's value; None where all are NULL.
        high: the same.
        nulls: whether some are NULL.
    """

    name: str
    low: pa.Scalar | None
    high: pa.Scalar | None
    nulls: bool

    def condition(self, table: str) -> str:
        """Return what holds for each row that can have one of the keys, as SQL of delta-rs."""
        column = f"{table}.{identifier(self.name)}"
        tests = [f"{column} IS NULL"] if self.nulls else []
        if self.low is not None and self.high is not None:
            tests.append(f"({column} >= {_literal(self.low)} AND {column} <= {_literal(self.high)})")
        return f"({' OR '.join(tests)})"

    def files(self, actions: pa.Table) -> pa.ChunkedArray | None:
        """Return which files may hold such a row, by their statistics; None where nothing tells."""
        low, high, nulls = (f"{part}.{self.name}" for part in ("min", "max", "null_count"))
        if not {low, high, nulls} <= set(actions.column_names):
            return None
        tests = []
        if self.low is not None and self.high is not None:
            # A file without a statistic may hold anything.
            tests.append(
                pc.and_(
                    pc.fill_null(pc.less_equal(actions[low], self.high), True),
                    pc.fill_null(pc.greater_equal(actions[high], self.low), True),
                )
            )
        if self.nulls:
            tests.append(pc.fill_null(pc.greater(actions[nulls], 0), True))
        return tests[0] if len(tests) == 1 else pc.or_(*tests)


def key_ranges(rows: pa.Table, keys: Sequence[str]) -> Sequence[KeyRange]:
    """Return the ranges of those columns that statistics are compared by; none without rows."""
    return list(_ranges(rows, keys)) if rows.num_rows else []


def _ranges(rows: pa.Table, keys: Sequence[str]) -> Iterator[KeyRange]:
    for name in keys:
        column = rows[name]
        if not _is_compared(column.type):
            continue
        found = pc.min_max(column)
        low, high = found["min"], found["max"]
        nulls = column.null_count > 0
        if not low.is_valid:
            yield KeyRange(name, None, None, nulls)
        elif pa.types.is_timestamp(column.type):
            yield KeyRange(name, _moved(low, -1), _moved(high, 1), nulls)
        else:
            yield KeyRange(name, low, high, nulls)


def bytes_within(table: DeltaTable, ranges: Sequence[KeyRange]) -> int:
    """Return the bytes of the files that may hold a key within all ranges."""
    actions = pa.table(table.get_add_actions(flatten=True))
    for within in ranges:
        found = within.files(actions)
        if found is not None:
            actions = actions.filter(found)
    return int(pc.sum(actions["size_bytes"]).as_py() or 0)


def _is_compared(of: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(of) or types.is_date32(of) or types.is_timestamp(of) or types.is_string(of))


def _moved(value: pa.Scalar, by: int) -> pa.Scalar:
    """Return a time some milliseconds later: microseconds, as all times of a batch."""
    return pa.scalar(value.value + by * _CUT, value.type)


def _literal(value: pa.Scalar) -> str:
    """Return a value as delta-rs reads it in SQL."""
    of = value.type
    if pa.types.is_integer(of):
        return f"{value.as_py()}"
    if pa.types.is_string(of):
        text = str(value.as_py()).replace("'", "''")
        return f"'{text}'"
    # By numbers: Python has no times beyond the year 9999.
    if pa.types.is_date(of):
        return f"arrow_cast({value.value}, 'Date32')"
    zone = "None" if of.tz is None else f'Some("{of.tz}")'
    return f"arrow_cast({value.value}, 'Timestamp(Microsecond, {zone})')"
