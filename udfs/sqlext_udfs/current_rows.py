"""Keep the current row of each key of an upsert stream.

Works as Flink's ChangelogNormalize. The first record of a key gives +I, a different one -U and +U, a deletion -D.
A record that repeats the current row gives nothing. Rows with maps cannot be compared, so they are always given anew.
Of several records of a key in one micro-batch only the last one counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.groups import Bools, Ints, numbered
from sqlext_udfs.kernel.lives import Lives
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from sqlext_udfs.kernel.table_codec import TableState
from sqlext_udfs.kernel.zset import columns_of, joined


@dataclass(frozen=True, slots=True)
class CurrentSpecification:
    """The operator's input columns by position.

    Attributes:
        keys: how many of the first columns are the key; each of them is in ``out`` too.
        out: the columns of a row, which come out.
        kind: a row kind: DELETE takes the row of the key away, any other one gives it.
        position: BIGINT: of records of one key the one with the largest is the last.
        ttl: ms of processing time after which a key without new records is forgotten. What had come out of it
            stays out. None: never.
    """

    keys: int
    out: tuple[int, ...]
    kind: int
    position: int
    ttl: int | None = None


class CurrentOperator(TableState, BucketOperator[pa.Table]):
    """Turn upserts into a changelog.

    The state is the current rows. With a time to live a last column has when each was written (ms of the batch clock).
    The columns ``out`` and the row kind (int8) come out.

    Args:
        specification: the columns.
        types: of the columns that go in.
    """

    def __init__(self, specification: CurrentSpecification, types: Sequence[pa.DataType]) -> None:
        self._spec = specification
        self._lives = Lives(specification.ttl)
        self._key = [specification.out.index(place) for place in range(specification.keys)]
        self._compares = not any(_has_map(types[place]) for place in specification.out)
        self.output_types = (*(types[place] for place in specification.out), pa.int8())

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the last record of each key."""
        keys = numbered(columns_of(rows, range(self._spec.keys)), (), rows.num_rows)
        by_position = np.argsort(integers(rows.column(self._spec.position)), kind="stable")
        last = np.zeros(keys.count, np.int64)
        last[keys.ids[by_position]] = by_position  # of several values for one place the last one stays
        return rows.take(pa.array(np.sort(last)))

    def empty(self) -> pa.Table:
        """Return no rows."""
        return pa.table({})

    def step(self, state: pa.Table, rows: pa.Table | None, clock: Clock) -> StepResult[pa.Table]:
        """Replace the rows of the keys to which records come."""
        # Also without rows: a key may have come to its end.
        state = self._lives.alive(state, clock)
        if rows is None or not rows.num_rows:
            return StepResult(state, self._changes([], _NONE, _NONE), open_groups=state.num_rows)
        rows = self.partial(rows)
        held, written = self._lives.split(state)
        columns = columns_of(rows, self._spec.out)
        if held.num_rows:
            columns = joined([whole(c) for c in held.columns], columns)
        old, same = self._compared(columns, held.num_rows)
        gone = integers(rows.column(self._spec.kind)) == DELETE
        lost, added = (old >= 0) & (gone | ~same), ~gone & ~same
        out = self._out(columns, held.num_rows, old, lost, added)
        if not lost.any() and not added.any() and self._lives.ttl is None:
            return StepResult(state, out, open_groups=state.num_rows)
        # A row that is replaced is lost and added: it leaves here and comes in behind.
        left = np.setdiff1d(np.arange(held.num_rows), old[lost])
        places = np.concatenate([left, held.num_rows + np.flatnonzero(added)])
        table = table_of([taken(c, places) for c in columns])
        if self._lives.ttl is not None:
            now = np.ones(held.num_rows + rows.num_rows, np.bool_)
            # A record that repeats its row writes it too, as Flink renews the time to live of a key.
            now[: held.num_rows] = np.isin(np.arange(held.num_rows), old)
            table = self._lives.joined(table, written, places, now, clock)
        return StepResult(table, out, open_groups=table.num_rows)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: pa.Table) -> int:
        """Return how many rows there are."""
        return int(state.num_rows)

    def key_places(self, state: pa.Table) -> Sequence[int]:
        """Return where the columns stand that choose the bucket."""
        return self._key

    def next_wakeup(self, state: pa.Table) -> Wakeup:
        """Return when the first key is forgotten."""
        return Wakeup(processing=self._lives.first_end(state))

    def _compared(self, columns: list[pa.Array], before: int) -> tuple[Ints, Bools]:
        """Return the held row of the key of each record, -1 for none, and whether the record says the same.

        Args:
            columns: of the rows that are held and, behind them, of the records.
            before: how many are held.
        """
        rows = len(columns[0])
        keys = numbered([columns[place] for place in self._key], (), rows)
        place = np.full(keys.count, -1, np.int64)
        place[keys.ids[:before]] = np.arange(before)
        old = place[keys.ids[before:]]
        if not self._compares:
            return old, np.zeros(len(old), np.bool_)
        whole_rows = numbered(columns, (), rows).ids
        same: Bools = (old >= 0) & (whole_rows[before:] == whole_rows[old])
        return old, same

    def _out(self, columns: list[pa.Array], before: int, old: Ints, lost: Bools, added: Bools) -> pa.Table:
        """Return the changes, key by key: first the row that goes."""
        going, coming = np.flatnonzero(lost), np.flatnonzero(added)
        kinds = np.concatenate(
            [np.where(added[going], UPDATE_BEFORE, DELETE), np.where(old[coming] >= 0, UPDATE_AFTER, INSERT)]
        )
        # Both index the same records, so a stable sort puts what goes right before what comes.
        order = np.argsort(np.concatenate([going, coming]), kind="stable")
        return self._changes(columns, np.concatenate([old[going], before + coming])[order], kinds[order])

    def _changes(self, columns: list[pa.Array], places: Ints, kinds: Ints) -> pa.Table:
        rows = [taken(c, places) for c in columns] or [pa.nulls(0, of) for of in self.output_types[:-1]]
        return table_of([*rows, pa.array(kinds.astype(np.int8))])


def _has_map(of: pa.DataType) -> bool:
    return bool(pa.types.is_map(of)) or any(_has_map(of.field(i).type) for i in range(of.num_fields))


_NONE = np.zeros(0, np.int64)


def current_operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> CurrentOperator:
    """Return the operator of the fields of its specification and the types of the columns that go in."""
    return CurrentOperator(CurrentSpecification(**fields), types)
