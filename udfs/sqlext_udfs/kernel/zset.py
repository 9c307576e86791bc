"""Count rows: how many of each a micro-batch adds or takes back (a Z-set, as in DBSP, VLDB 2023).

On its way to a bucket a changelog's column of row kinds (int8) becomes one of counts (int64). Equal rows become one
row, and rows that were added and taken back are gone. Operators look only at a batch's net effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, table_of, whole
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Groups, Ints, numbered
from sqlext_udfs.kernel.row_kinds import INSERT, UPDATE_AFTER


def counts_of(kinds: pa.Array | pa.ChunkedArray) -> Ints:
    """Return how many of each row are added; a negative count is taken back.

    Args:
        kinds: row kinds (int8), or counts already (int64).
    """
    values = integers(kinds)
    if pa.types.is_int64(kinds.type):
        return values
    return np.where((values == INSERT) | (values == UPDATE_AFTER), 1, -1)


def netted(rows: pa.Table, kind: int) -> pa.Table:
    """Return the different rows of a changelog, each once, with counts in place of row kinds.

    Args:
        rows: of some buckets.
        kind: the place of the row kinds, or of counts.
    """
    rows = summed(rows, kind)
    there = integers(rows.column(kind)) != 0
    return rows if there.all() else rows.filter(pa.array(there))


def summed(rows: pa.Table, kind: int) -> pa.Table:
    """Return the different rows of a changelog, each once: also those whose count is 0, as their time may matter."""
    rows = normalised(rows)
    counts = counts_of(rows.column(kind))
    others = [whole(c) for i, c in enumerate(rows.columns) if i != kind]
    groups = numbered(others, (), rows.num_rows)
    first, sums = groups.first(), _sums(groups, counts)
    order = np.argsort(first, kind="stable")
    made = rows.take(pa.array(first[order]))
    return made.set_column(kind, pa.field(rows.schema.names[kind], pa.int64()), pa.array(sums[order]))


def net_of(groups: Groups, counts: Ints) -> tuple[Ints, Ints]:
    """Return the place of the first row of each group whose counts do not cancel out, ascending, and their sums."""
    sums, first = _sums(groups, counts), groups.first()
    left = np.flatnonzero(sums)
    left = left[np.argsort(first[left], kind="stable")]
    return first[left], sums[left]


def _sums(groups: Groups, counts: Ints) -> Ints:
    sums = np.zeros(groups.count, np.int64)
    # Exact for every count; ``bincount`` with weights sums floats.
    np.add.at(sums, groups.ids, counts)
    return sums


def joined(held: Sequence[pa.Array], more: Sequence[pa.Array]) -> list[pa.Array]:
    """Return columns with others behind them."""
    return [pa.concat_arrays([a, b]) for a, b in zip(held, more, strict=True)]


def columns_of(rows: pa.Table, places: Sequence[int]) -> list[pa.Array]:
    """Return some columns of a table, each in one piece, equal values with equal bits."""
    chosen = normalised(table_of([whole(rows.column(p)) for p in places])) if places else None
    return [whole(c) for c in chosen.columns] if chosen is not None else []
