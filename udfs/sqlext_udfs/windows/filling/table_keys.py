"""Wrap the operator of windows and give out those that got no row, for each key of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import integers, whole
from sqlext_udfs.kernel.equality import first_rows, normalised
from sqlext_udfs.kernel.groups import Ints, numbered
from sqlext_udfs.kernel.operator import Clock, StepResult, Wakeup
from sqlext_udfs.windows.filling.gaps import Gaps
from sqlext_udfs.windows.filling.operator import FilledWindows, parted
from sqlext_udfs.windows.filling.state import Entries, FillState, entries_of, table_of_entries

# The column of partial results that says which of them are of the table's rows.
_OF_TABLE = "of_table"
# What stands for a window where a key had none with rows.
_NONE = 0


class FilledTableKeys(FilledWindows):
    """Give the panes of an operator of windows, and of each key of a table those of the windows without rows.

    The rows of the table come among the others, and a column says which they are. All keys are in one bucket: the
    first window with rows of any key is the first that is filled. Windows that are over come out as the watermark
    says; at the end of input those up to the last one with rows.
    """

    @property
    def takes_rows(self) -> bool:
        """Never: rows of the table are told from others by ``partial``."""
        return False

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return what the operator does, of the table's rows and of the others apart."""
        if _OF_TABLE in rows.column_names:
            flags = rows.column(_OF_TABLE)
            rows = rows.drop_columns([_OF_TABLE])
        else:
            assert self._filling.table is not None
            flags = rows.column(self._filling.table)
        parts = []
        for of_table in (False, True):
            some = rows.filter(pc.equal(flags, of_table))
            if not some.num_rows and (of_table or len(rows)):
                continue
            done = self._operator.partial(some)
            column = pa.repeat(pa.scalar(of_table), done.num_rows)
            parts.append(done.add_column(done.num_columns - 1, _OF_TABLE, column))
        return pa.concat_tables(parts)

    def gathered(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Return all of them."""
        return pa.concat_tables(tables)

    def step(self, state: FillState, rows: pa.Table | None, clock: Clock) -> StepResult[FillState]:
        """Do the operator's step, take the keys of the table, and fill these up to the windows that are over."""
        rows, came = self._told_apart(rows)
        step = self._operator.step(state.windows, rows, clock)
        panes, late = parted(step.out)
        if came is None and not panes.num_rows and not self._due(state, clock):
            same = step.state is state.windows
            after = state if same else replace(state, windows=step.state)
            left = step.open_groups if self._at_end(clock) else self._open(step, after)
            return replace(step, state=after, open_groups=left)
        keys = self._with(self._known(state), came)
        columns = [whole(c) for c in panes.columns]
        numbers = self._grid.numbers(self._ends(columns)) if panes.num_rows else np.zeros(0, np.int64)
        next_ = state.wakeup
        if next_ is None and len(numbers):
            next_ = int(numbers.min())
        last = self._last(next_, numbers, clock)
        filled, keys = self._fill(keys, panes, numbers, range(next_, last + 1) if next_ is not None else range(0))
        # After the end of input nothing is due.
        wakeup = None if next_ is None or self._at_end(clock) else max(next_, last + 1)
        after = FillState(step.state, table_of_entries(keys, self._names), wakeup)
        out = pa.concat_tables([self._in_order(panes, filled), late])
        # At the end no window of these keys is left that could come out.
        left = step.open_groups if self._at_end(clock) else self._open(step, after)
        return replace(step, state=after, out=out, open_groups=left)

    def next_wakeup(self, state: FillState) -> Wakeup:
        """Return when the operator wants to be called, or the next window is over, if there are keys."""
        return super().next_wakeup(state if state.keys.num_rows else replace(state, wakeup=None))

    def _told_apart(self, rows: pa.Table | None) -> tuple[pa.Table | None, list[pa.Array] | None]:
        """Return the operator's rows, and the keys that rows of the table have."""
        if rows is None:
            return None, None
        flags = rows.column(_OF_TABLE)
        rows = rows.drop_columns([_OF_TABLE])
        of_table = rows.filter(flags)
        others = rows.filter(pc.invert(flags)) if of_table.num_rows else rows
        keys = normalised(of_table.select(range(self._keys)))
        came = [whole(c) for c in keys.columns] if of_table.num_rows else None
        return others if others.num_rows else None, came

    def _due(self, state: FillState, clock: Clock) -> bool:
        if state.wakeup is None or not state.keys.num_rows:
            return False
        return self._at_end(clock) or state.wakeup <= self._grid.last_until(self._horizon.over(clock))

    def _at_end(self, clock: Clock) -> bool:
        return clock.watermark == Clock.END

    def _last(self, next_: int | None, numbers: Ints, clock: Clock) -> int:
        """Return the last window that is filled now."""
        if next_ is None:
            return -1
        last = int(numbers.max()) if len(numbers) else next_ - 1
        return last if self._at_end(clock) else max(last, self._grid.last_until(self._horizon.over(clock)))

    def _known(self, state: FillState) -> Entries | None:
        if not state.keys.num_rows:
            return None
        return entries_of(state.keys, self._keys, self._names, self._carried)

    def _with(self, known: Entries | None, came: list[pa.Array] | None) -> Entries:
        """Return the keys of the table, with those that have come."""
        nothing = [pa.array([], of) for of in self._types[: self._keys]]
        if came is None:
            return known if known is not None else self._entries_of(nothing)
        new = self._entries_of(came)
        both = new if known is None else new.behind(known)
        # Those that were known stand first, and have what their last window had.
        names = [f"k{i}" for i in range(self._keys)]
        return both.at(integers(first_rows(pa.table(both.keys, names))))

    def _entries_of(self, keys: list[pa.Array]) -> Entries:
        count = len(keys[0]) if keys else 0
        none = np.full(count, _NONE, np.int64)
        return Entries(keys, none, none, [pa.nulls(count, of) for of in self._carried])

    def _fill(self, keys: Entries, panes: pa.Table, numbers: Ints, windows: range) -> tuple[pa.Table, Entries]:
        """Return the panes of windows without rows, and the keys with their last window with rows."""
        count = len(keys.numbers)
        if not count or not windows:
            return self._filled(keys, _gaps(np.zeros((0, 0), np.int64), np.zeros((0, 0), np.bool_), windows)), keys
        # Also windows with rows take a place here.
        self._filling.check(count * len(windows))
        columns = [whole(c) for c in panes.columns]
        order = np.argsort(numbers, kind="stable")
        results = [columns[i] for i in self._results] if self._carried and len(numbers) else []
        came = Entries(columns[: self._keys], numbers, numbers, results).at(order) if len(numbers) else None
        every = came.behind(keys) if came is not None else keys
        ids = numbered(every.keys, (), len(every.numbers)).ids
        rows = np.full(int(ids.max()) + 1, -1)
        rows[ids[:count]] = np.arange(count)
        # Of each key and window the place of its pane, and of one without rows that of the last before it.
        sources = np.zeros((count, len(windows)), np.int64) + np.arange(count)[:, None]
        has = np.zeros(sources.shape, np.bool_)
        places = np.flatnonzero(rows[ids] >= 0)
        places = places[places >= count]
        at = rows[ids[places]], every.numbers[places] - windows.start
        sources[at], has[at] = places, True
        sources = np.maximum.accumulate(sources, axis=1)
        after = every.at(sources[:, -1]) if self._carried else keys
        return self._filled(every, _gaps(sources, has, windows)), after._replace(keys=keys.keys)


def _gaps(sources: np.ndarray[Any, Any], has: np.ndarray[Any, Any], windows: range) -> Gaps:
    """Return the windows without rows: ``sources`` has of each key and window where its results are."""
    key, window = np.nonzero(~has)
    none = np.full(len(key), -1, np.int64)
    return Gaps(sources[key, window], window + windows.start, none, np.zeros(len(key)), np.zeros(0, np.int64))
