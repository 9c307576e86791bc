"""Order the rows of a bucket by partition and time, and keep the state of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, storage, taken, whole
from sqlext_udfs.kernel.clock import BEFORE_ALL
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Bools, Ints, numbered
from sqlext_udfs.kernel.order import ordered, ranks
from sqlext_udfs.kernel.table_codec import decode_state, encode_state
from sqlext_udfs.matching.specification import MatchSpecification, Order

#: Columns of the state behind the input's: whether no match may begin at a row any more (it is only looked back at),
#: and how many matches its partition has had.
PAST, MATCHES = "past", "matches"
# Where the fields of ``MatchState`` stand that are no columns: in the metadata of the table.
_FACTS = b"sqlext.match"
_NAMES = ("done", "wakeup", "open")


@dataclass(frozen=True, slots=True)
class MatchState:
    """The rows of a bucket that may still be part of a match.

    Attributes:
        table: the rows that are kept, with ``PAST`` and ``MATCHES``, those of a partition in their order; without
            columns where there has been none.
        done: rows before this time have been looked at.
        wakeup: the least time (watermark or clock) at which something happens without rows, None if nothing will.
        open: how many partitions have rows.
    """

    table: pa.Table = field(default_factory=lambda: pa.table({}))
    done: int = BEFORE_ALL
    wakeup: int | None = None
    open: int = 0


def encode(state: MatchState) -> bytes:
    """Return a state as bytes."""
    facts = {name: getattr(state, name) for name in _NAMES}
    return encode_state(state.table.replace_schema_metadata({_FACTS: json.dumps(facts)}))


def decode(data: bytes) -> MatchState:
    """Return the state that ``encode`` wrote."""
    table = decode_state(data)
    facts = json.loads(table.schema.metadata[_FACTS])
    return MatchState(table.replace_schema_metadata(None), **facts)


@dataclass(frozen=True)
class Partitions:
    """The rows of a bucket, partition by partition, each in its order.

    Attributes:
        table: the rows, with ``PAST`` and ``MATCHES``.
        ids: the number of each row's partition, ascending.
        times: of the rows, None without a column of time.
        fresh: whether a row has come in this micro-batch.
    """

    table: pa.Table
    ids: Ints
    times: Ints | None
    fresh: Bools

    @property
    def bounds(self) -> Ints:
        """Where each partition begins, and the end of the last."""
        starts = np.flatnonzero(np.diff(self.ids, prepend=-1))
        bounds: Ints = np.append(starts, len(self.ids)).astype(np.int64)
        return bounds

    def only(self, rows: Bools) -> Partitions:
        """Return some of the rows."""
        times = None if self.times is None else self.times[rows]
        return Partitions(self.table.filter(pa.array(rows)), self.ids[rows], times, self.fresh[rows])

    def past(self) -> Bools:
        """Return whether a match may no longer begin at each row; the array is the caller's."""
        return np.array(whole(self.table.column(PAST)).to_numpy(zero_copy_only=False), np.bool_)

    def matches(self) -> Ints:
        """Return how many matches the partition of each row has had; the array is the caller's."""
        counts: Ints = integers(self.table.column(MATCHES)).copy()
        return counts


def with_state_columns(rows: pa.Table) -> pa.Table:
    """Return rows as they are kept: a match may begin at each, and their partition has had none."""
    count = rows.num_rows
    rows = rows.append_column(PAST, pa.array(np.zeros(count, np.bool_)))
    return rows.append_column(MATCHES, pa.array(np.zeros(count, np.int64)))


def partitions(table: pa.Table, known: int, specification: MatchSpecification) -> Partitions:
    """Return rows as partitions.

    Rows are ordered by time if that is event time, then by the further columns, then as they came. In processing time
    the columns order the rows of one micro-batch.

    Args:
        table: the rows, in the order in which they came.
        known: how many of the first ones were ordered before.
        specification: what the order is.
    """
    keys = [whole(c) for c in normalised(table.select(range(specification.keys))).columns]
    ids = numbered(keys, (), table.num_rows).ids
    times = None if specification.time is None else integers(table.column(specification.time))
    fresh = np.arange(table.num_rows) >= known
    by: list[Ints] = [ids, times if specification.event_time and times is not None else fresh.astype(np.int64)]
    for order in specification.order:
        numbers = _order(whole(table.column(order.column)), order)
        by.append(numbers if specification.event_time else np.where(fresh, numbers, 0))
    # Rows that are equal in all of them stay in the order of arrival.
    places = ordered(by)
    rows = pa.table([taken(whole(c), places) for c in table.columns], table.schema.names)
    return Partitions(rows, ids[places], None if times is None else times[places], fresh[places])


def python_values(column: pa.Array) -> list[Any]:
    """Return values as conditions see them: numbers, text and booleans; dates as days, times as microseconds."""
    kept = storage(column.type) if pa.types.is_temporal(column.type) else None
    return list((column if kept is None else column.view(kept)).to_pylist())


def _order(column: pa.Array, order: Order) -> Ints:
    """Return numbers that are ordered as the column's values; NULL is the least value, unless told otherwise."""
    rank = ranks(column)
    rank = -rank if order.descending else rank
    if order.nulls_first is None or not column.null_count:
        return rank
    outside = -len(rank) - 1 if order.nulls_first else len(rank) + 1
    return np.where(column.is_null().to_numpy(zero_copy_only=False), outside, rank)
