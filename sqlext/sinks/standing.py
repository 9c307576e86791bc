"""Reduce the only batch of a query without Spark to the rows that stand; ``last_rows`` has these rules for Spark."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sqlext.plan.nodes import EXISTS
from sqlext.sinks.base import SinkContext
from sqlext_udfs.kernel.row_kinds import INSERT, UPDATE_AFTER


def standing(rows: pa.Table, context: SinkContext) -> pa.Table:
    """Return the rows that stand after all changes, with their hidden columns, in the order in which they first came.

    Args:
        rows: all rows that the query gives.
        context: says which hidden columns they have.
    """
    if context.kind is not None:
        return _taken(rows, [net.first for net in _nets(rows, context.kind) for _ in range(net.count)])
    if context.exists is None:
        return rows
    last = dict(zip(_values(rows, context.keys), range(rows.num_rows), strict=True))
    found = _taken(rows, list(last.values()))
    return found.filter(found[context.exists])


def last_of_keys(rows: pa.Table, keys: Sequence[str], context: SinkContext) -> pa.Table:
    """Return the last row of each key of a table, with ``EXISTS``: false where the row of that key is gone.

    ``keys`` may be others than those of the query. Then a row that exists goes before one that is gone.
    """
    if context.kind is not None:
        nets = [net for net in _nets(rows, context.kind) if net.count]
        nets.sort(key=lambda net: net.last)
        rows, exists = _taken(rows, [net.last for net in nets]), [net.count > 0 for net in nets]
    else:
        exists = rows[context.exists].to_pylist() if context.exists is not None else [True] * rows.num_rows
    last: dict[Hashable, int] = {}
    for row, key in enumerate(_values(rows, keys)):
        if exists[row] or key not in last or not exists[last[key]]:
            last[key] = row
    found = list(last.values())
    plain = rows.drop_columns([EXISTS]) if EXISTS in rows.column_names else rows
    return _taken(plain, found).append_column(EXISTS, pa.array([exists[row] for row in found], pa.bool_()))


@dataclass
class _Net:
    """Equal rows of a changelog: the first and the last of them, and how many are left (below 0: too few)."""

    first: int
    last: int
    count: int = 0


def _nets(rows: pa.Table, kind: str) -> list[_Net]:
    kinds = rows[kind].to_pylist()
    nets: dict[Hashable, _Net] = {}
    for row, key in enumerate(_values(rows, [n for n in rows.column_names if n != kind])):
        net = nets.setdefault(key, _Net(row, row))
        net.last = row
        net.count += 1 if kinds[row] in (INSERT, UPDATE_AFTER) else -1
    return list(nets.values())


def _values(rows: pa.Table, names: Sequence[str]) -> Iterator[Hashable]:
    """Yield what tells a row from others by some columns. Values of any type have a text; NaN equals itself there."""
    columns = [_comparable(rows[name]).to_pylist() for name in names]
    return map(repr, zip(*columns, strict=True)) if columns else iter(("",) * rows.num_rows)


def _taken(rows: pa.Table, places: Sequence[int]) -> pa.Table:
    # Without its type, an empty list of places is one of NULLs.
    return rows.take(pa.array(places, pa.int64()))


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    # Python has no times beyond the year 9999. To SQL the two zeros are one.
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64())
    return pc.add(column, pa.scalar(0, column.type)) if pa.types.is_floating(column.type) else column
