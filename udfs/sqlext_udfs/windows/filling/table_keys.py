"""Wrap the operator of windows and give out those that got no row, for each key of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import integers, whole
from sqlext_udfs.kernel.equality import first_rows, normalised
from sqlext_udfs.kernel.groups import Ints, numbered
from sqlext_udfs.kernel.operator import Clock, StepResult, Wakeup
from sqlext_udfs.windows.filling.gaps import Gaps
from sqlext_udfs.windows.filling.operator import FilledWindows
from sqlext_udfs.windows.filling.rows import DueWindows
from sqlext_udfs.windows.filling.specification import Filling
from sqlext_udfs.windows.filling.state import Entries, FillState, entries_of, table_of_entries
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.specification import WindowSpecification

# The column of partial results that says which of them are of the table's rows.
_OF_TABLE = "of_table"
# The columns of what each bucket is told: from which window to which there are rows of any key, without a break.
_FIRST, _LAST = "first window", "last window"
# The same beside the rows of a bucket, as metadata of their table.
_TOLD = b"windows"
# What stands for a window where a key had none with rows.
_NONE = 0


class _Arrived(NamedTuple):
    """What has come to a bucket.

    Attributes:
        rows: the operator's.
        keys: those that rows of the table have.
        windows: from which window to which there are rows of any key of any bucket: a row for each stretch.
    """

    rows: pa.Table | None
    keys: list[pa.Array] | None
    windows: Ints


class FilledTableKeys(FilledWindows):
    """Give the panes of an operator of windows, and of each key of a table those of the windows without rows.

    The rows of the table come among the others, and a column says which they are. Each bucket is told which windows
    have rows of any key: the first of them is the first that is filled. Windows that are over come out as the
    watermark says; at the end of input those up to the last one with rows.
    """

    def __init__(
        self,
        operator: WindowOperator,
        filling: Filling,
        specification: WindowSpecification,
        types: Sequence[pa.DataType],
        asked: Sequence[int] | None = None,
    ) -> None:
        super().__init__(operator, filling, specification, types, asked)
        self._ends_of = operator.ends_of

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
            some = _where(rows, flags, of_table)
            if not some.num_rows and (of_table or len(rows)):
                continue
            done = self._operator.partial(some)
            column = pa.repeat(pa.scalar(of_table), done.num_rows)
            parts.append(done.add_column(done.num_columns - 1, _OF_TABLE, column))
        return pa.concat_tables(parts)

    def for_each(self, leaving: pa.Table) -> pa.Table:
        """Return from which windows to which there are rows."""
        rows = _where(leaving.drop_columns([_OF_TABLE]), leaving.column(_OF_TABLE), False)
        first, last = self._numbers_of(rows) if rows.num_rows else (np.zeros(0, np.int64),) * 2
        # Windows that stand side by side become one stretch.
        ends = np.maximum.accumulate(last) if len(last) else last
        begins = np.append(np.ones(min(len(first), 1), np.bool_), first[1:] > ends[:-1] + 1)
        stops = np.append(begins[1:], np.ones(min(len(first), 1), np.bool_))
        return pa.table([first[begins], ends[stops]], [_FIRST, _LAST])

    def gathered(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Return all of them; what is known of windows becomes metadata."""
        told = [table for table in tables if table.column_names == [_FIRST, _LAST]]
        others = [table for table in tables if table.column_names != [_FIRST, _LAST]]
        rows = pa.concat_tables(others) if others else pa.table({})
        stretches = (f"{first} {last}" for t in told for first, last in zip(*t.to_pydict().values(), strict=True))
        return rows.replace_schema_metadata({_TOLD: ",".join(stretches)})

    def step(self, state: FillState, rows: pa.Table | None, clock: Clock) -> StepResult[FillState]:
        """Do the operator's step, take the keys of the table, and fill these up to the windows that are over."""
        came = self._arrived(rows)
        step = self._operator.step(state.windows, came.rows, clock)
        panes, late = self._parted(step.out)
        before = replace(state, windows=step.state)
        state = self._told(state, came.windows, clock)
        if came.keys is None and not panes.num_rows and not self._due(state, clock):
            same = (step.state, state.wakeup, state.latest) == (before.windows, before.wakeup, before.latest)
            after = state if same and step.state is state.windows else replace(state, windows=step.state)
            left = step.open_groups if self._at_end(clock) else self._open(step, after)
            return replace(step, state=after, out=self._rows.as_they_are(late), open_groups=left)
        keys = self._with(self._known(state), came.keys)
        windows = self._due_windows(state, clock)
        found, keys = self._found(keys, panes, windows)
        # After the end of input nothing is due.
        wakeup = None if self._at_end(clock) else windows.stop if windows else state.wakeup
        after = FillState(step.state, table_of_entries(keys, self._names), wakeup, state.latest)
        out = self._with_late(self._rows.of(found), late)
        # At the end no window of these keys is left that could come out.
        left = step.open_groups if self._at_end(clock) else self._open(step, after)
        return replace(step, state=after, out=out, open_groups=left)

    def next_wakeup(self, state: FillState) -> Wakeup:
        """Return when the operator wants to be called, or the next window is over, if there are keys."""
        return super().next_wakeup(state if state.keys.num_rows else replace(state, wakeup=None))

    def _numbers_of(self, rows: pa.Table) -> tuple[Ints, Ints]:
        """Return the first and the last window of pieces that rows, or partial results, are in; in their order."""
        if self._filling.walls:
            ends = self._walls(whole(pc.unique(rows.column(self._start - 1))))
            numbers = np.sort(self._grid.numbers(ends))
            return numbers, numbers
        first, last = self._ends_of(rows)
        return self._grid.numbers(first), self._grid.numbers(last)

    def _arrived(self, rows: pa.Table | None) -> _Arrived:
        if rows is None:
            return _Arrived(None, None, np.zeros((0, 2), np.int64))
        told = (rows.schema.metadata or {}).get(_TOLD, b"").replace(b",", b" ").split()
        windows = np.array([int(n) for n in told], np.int64).reshape(-1, 2)
        if not rows.num_rows:
            return _Arrived(None, None, windows)
        rows, flags = rows.replace_schema_metadata(None).drop_columns([_OF_TABLE]), rows.column(_OF_TABLE)
        of_table, others = (_where(rows, flags, of) for of in (True, False))
        keys = normalised(of_table.select(range(self._keys)))
        came = [whole(c) for c in keys.columns] if of_table.num_rows else None
        return _Arrived(others if others.num_rows else None, came, windows)

    def _told(self, state: FillState, windows: Ints, clock: Clock) -> FillState:
        """Return the state that knows which windows have rows; rows that are late do not count."""
        first = np.maximum(windows[:, 0], self._over_before(clock) + 1)
        in_time = first <= windows[:, 1]
        if not in_time.any():
            return state
        least, latest = int(first[in_time].min()), int(windows[in_time, 1].max())
        least = least if state.wakeup is None else min(least, state.wakeup)
        return replace(state, wakeup=least, latest=latest if state.latest is None else max(latest, state.latest))

    def _over_before(self, clock: Clock) -> int:
        """Return the last window that was over before."""
        return self._grid.last_until(self._horizon.late(clock))

    def _due_windows(self, state: FillState, clock: Clock) -> range:
        """Return the windows that are filled now: those over before are not, also where no key was there."""
        if state.wakeup is None or state.latest is None:
            return range(0)
        last = state.latest if self._at_end(clock) else self._grid.last_until(self._horizon.over(clock))
        return range(max(state.wakeup, self._over_before(clock) + 1), last + 1)

    def _due(self, state: FillState, clock: Clock) -> bool:
        return bool(state.keys.num_rows and self._due_windows(state, clock))

    def _at_end(self, clock: Clock) -> bool:
        return clock.watermark == Clock.END

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

    def _found(self, keys: Entries, panes: pa.Table, windows: range) -> tuple[DueWindows, Entries]:
        """Return what comes out, and the keys with the results of their last window with rows."""
        count = len(keys.numbers)
        # Also windows with rows take a place here.
        self._filling.check(count * len(windows))
        every, numbers = self._entries(keys, panes)
        places = np.arange(count, count + len(numbers))
        # Of each window and key the place of its pane, and of one without rows that of the last before it.
        sources = np.zeros((len(windows), count), np.int64) + np.arange(count)
        has = np.zeros(sources.shape, np.bool_)
        if count and len(windows) and len(numbers):
            ids = numbered(every.keys, (), len(every.numbers)).ids
            rows = np.full(int(ids.max()) + 1, -1)
            rows[ids[:count]] = np.arange(count)
            row = rows[ids[count:]]
            mine = row >= 0
            at = numbers[mine] - windows.start, row[mine]
            sources[at], has[at] = places[mine], True
            if self._carried:
                # Panes came in any order, so the last one is found by its window.
                sources = _last_before(sources, has)
        after = every.at(sources[-1])._replace(keys=keys.keys) if self._carried and len(windows) else keys
        return DueWindows(panes, places, numbers, every, _gaps(sources, has, windows)), after


def _last_before(sources: np.ndarray[Any, Any], has: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return of each window and key the place of its last window with rows so far; else the key's own."""
    windows = np.arange(1, len(has) + 1)[:, None] * has
    last = np.maximum.accumulate(windows, axis=0)
    keys = np.arange(has.shape[1])
    found: np.ndarray[Any, Any] = np.where(last > 0, sources[last - 1, keys], keys)
    return found


def _gaps(sources: np.ndarray[Any, Any], has: np.ndarray[Any, Any], windows: range) -> Gaps:
    """Return the windows without rows: ``sources`` has of each window and key where its results are."""
    window, key = np.nonzero(~has)
    none = np.full(len(key), -1, np.int64)
    return Gaps(sources[window, key], window + windows.start, none, np.zeros(len(key)), np.zeros(0, np.int64))


def _where(rows: pa.Table, flags: pa.ChunkedArray, of_table: bool) -> pa.Table:
    """Return the rows that are the table's, or the others; no copy where all are."""
    if pc.all(pc.equal(flags, of_table)).as_py():
        return rows
    return rows.filter(pc.equal(flags, of_table))
