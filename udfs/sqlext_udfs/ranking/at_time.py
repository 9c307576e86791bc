"""Rank rows whose result comes once: of a window at its end, or the first row by event time.

The first row is certain when the watermark has passed its time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.lives import Lives
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import INSERT
from sqlext_udfs.kernel.table_codec import TableState
from sqlext_udfs.kernel.zset import columns_of, joined
from sqlext_udfs.ranking.rows import RankRows
from sqlext_udfs.ranking.specification import Emission, RankSpecification


class TimedRankOperator(TableState, BucketOperator[pa.Table]):
    """Rank the rows of an input that only inserts.

    The state is the kept columns, whether the key is done, and, with a time to live, when its row came (ms of the batch
    clock). A window is forgotten with its end. Of FIRST a key that is done is kept with its row, so that no second row
    comes. The columns ``out`` come out, the number (BIGINT, NULL if it is not asked for), and the row kind INSERT.

    Args:
        specification: which rows are wanted.
        types: of the columns that go in.
    """

    def __init__(self, specification: RankSpecification, types: Sequence[pa.DataType]) -> None:
        self._spec = specification
        self._windowed = specification.emission is Emission.WINDOW
        self._rows = RankRows(specification, types)
        self._lives = Lives(specification.ttl)
        self.output_types = self._rows.output_types

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the first rows of each window. Of FIRST all: a late row must not take the place of one that is not."""
        if not self._windowed:
            return rows
        columns = columns_of(rows, self._rows.kept)
        numbers = self._rows.numbers(columns, self._rows.keys(columns, rows.num_rows))
        return rows.filter(pa.array(numbers <= self._spec.last))

    def empty(self) -> pa.Table:
        """Return no rows."""
        return pa.table({})

    def step(self, state: pa.Table, rows: pa.Table | None, clock: Clock) -> StepResult[pa.Table]:
        """Keep the first rows, and give those out whose time has come."""
        state = before = self._alive(state, clock)
        state, written = self._lives.split(state)
        held, done, late = self._held(state, rows, clock)
        if not len(done):
            return StepResult(before, self._rows.nothing(), late)
        keys = self._rows.keys(held, len(done))
        # A key that is done takes no more rows; its own row stands first.
        closed = np.zeros(keys.count, np.bool_)
        closed[keys.ids[done]] = True
        waits = np.flatnonzero(~closed[keys.ids])
        columns = [taken(c, waits) for c in held]
        numbers = self._rows.numbers(columns, self._rows.keys(columns, len(waits)))
        waits = waits[numbers <= self._spec.last]
        due = np.zeros(len(done), np.bool_)
        due[waits] = self._is_due(self._times(held)[waits], clock)
        out = self._rows.in_range(held, np.flatnonzero(due))
        kept = due | done if not self._windowed else np.zeros(len(done), np.bool_)
        kept[waits] |= ~due[waits]
        table = table_of([*(c.filter(pa.array(kept)) for c in held), pa.array((due | done)[kept])])
        if self._lives.ttl is not None:
            came = np.arange(len(done)) >= len(written)
            table = self._lives.joined(table, written, np.flatnonzero(kept), came, clock)
        made = self._rows.out(out.columns, out.numbers, np.full(len(out.numbers), INSERT))
        # The same object where nothing changed: it is not written then.
        changed = rows is not None or bool(due.any())
        return StepResult(table if changed else before, made, late, open_groups=table.num_rows)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: pa.Table) -> int:
        """Return how many rows are kept."""
        return int(state.num_rows)

    def key_places(self, state: pa.Table) -> Sequence[int]:
        """Return where the columns stand that choose the bucket."""
        return range(self._spec.keys)

    def next_wakeup(self, state: pa.Table) -> Wakeup:
        """Return the least time that a row waits for, and when the first key is forgotten."""
        if not state.num_rows:
            return Wakeup()
        ends = self._lives.first_end(state)
        *columns, done = (whole(c) for c in self._lives.split(state)[0].columns)
        times = self._times(columns)[~np.asarray(done)]
        # A window ends when the watermark reaches its end; a row is first when the watermark is behind its time.
        return Wakeup(int(times.min()) + (0 if self._windowed else 1) if len(times) else None, ends)

    def _alive(self, state: pa.Table, clock: Clock) -> pa.Table:
        """Return the keys that are not forgotten yet; those that wait for the watermark never are."""
        if self._lives.ttl is None or not state.num_rows:
            return state
        done = np.asarray(whole(state.column(state.num_columns - 2)), np.bool_)
        return self._lives.alive(state, clock, keeps=~done)

    def _held(self, state: pa.Table, rows: pa.Table | None, clock: Clock) -> tuple[list[pa.Array], Bools, int]:
        """Return the kept columns of old and new rows, which are done, and how many rows came too late."""
        *columns, done = (whole(c) for c in state.columns) if state.num_rows else (np.zeros(0, np.bool_),)
        was = np.asarray(done, np.bool_)
        if rows is None or not rows.num_rows:
            return columns, was, 0
        new = columns_of(rows, self._rows.kept)
        late = self._is_late(self._times(new), clock)
        if late.any():
            new = [c.filter(pa.array(~late)) for c in new]
        is_done = np.concatenate([was, np.zeros(len(late) - int(late.sum()), np.bool_)])
        return (joined(columns, new) if len(was) else new), is_done, int(late.sum())

    def _times(self, columns: Sequence[pa.Array]) -> Ints:
        return integers(self._rows.column(columns, self._spec.time))

    def _is_late(self, times: Ints, clock: Clock) -> Bools:
        if clock.late_watermark is None:
            return np.zeros(len(times), np.bool_)
        # A window is over when the watermark is at its end; a row is behind the watermark only below it.
        return times <= clock.late_watermark if self._windowed else times < clock.late_watermark

    def _is_due(self, times: Ints, clock: Clock) -> Bools:
        if clock.watermark is None:
            return np.zeros(len(times), np.bool_)
        return times <= clock.watermark if self._windowed else times < clock.watermark
