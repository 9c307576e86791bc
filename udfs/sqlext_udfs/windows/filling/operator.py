"""Wrap the operator of windows and give out those that got no row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import integers, whole
from sqlext_udfs.kernel.dividing import Wanted, greatest, least, rows_of_keys, tables_together
from sqlext_udfs.kernel.groups import Bools, Ints, numbered
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import LATE_ROW
from sqlext_udfs.kernel.table_codec import decode_state, encode_state, nested, unnested
from sqlext_udfs.windows.filling.gaps import WithRows, gaps_of
from sqlext_udfs.windows.filling.grid import WindowGrid
from sqlext_udfs.windows.filling.rows import LATE_COLUMNS, DueWindows, FilledRows
from sqlext_udfs.windows.filling.specification import Filling
from sqlext_udfs.windows.filling.state import Entries, FillState, entries_of, last_of, table_of_entries
from sqlext_udfs.windows.horizon import single_pane_horizon
from sqlext_udfs.windows.specification import PANE_COLUMNS, WindowSpecification, output_types

# Where the kind of a row stands, from the end.
_KIND = -1 - LATE_COLUMNS
# The numbers of a state.
_WAKEUP, _LATEST = b"wakeup", b"latest"


class FilledWindows(BucketOperator[FillState]):
    """Give the panes of an operator of windows, and panes of the windows without rows.

    A window without rows comes out when it ends, and with ``joins`` when the next window with rows has ended, or none
    can be near enough any more. ``output_types`` says what comes out.

    Args:
        operator: gives each key and window one pane, and no other.
        filling: which windows come out.
        specification: what the operator computes.
        types: of the columns that go in.
        asked: positions of the columns that come out; None for all.

    Raises:
        ValueError: for a policy that gives other panes, which the planner should have refused.
    """

    def __init__(
        self,
        operator: BucketOperator[Any],
        filling: Filling,
        specification: WindowSpecification,
        types: Sequence[pa.DataType],
        asked: Sequence[int] | None = None,
    ) -> None:
        horizon = single_pane_horizon(specification.policy)
        if horizon is None:
            raise ValueError("windows that are filled give one pane")
        self._operator = operator
        self._filling = filling
        self._horizon = horizon
        self._grid = WindowGrid(filling)
        named = output_types(specification, types)
        self._types = [of for _, of in named]
        self._keys = specification.keys - filling.keys_of_window
        self._start = specification.keys
        behind = len(PANE_COLUMNS) + LATE_COLUMNS
        self._results = range(self._start + 2, len(named) - behind)
        kept = filling.carries or filling.joins
        self._carried = [self._types[i] for i in self._results] if kept else []
        self._names = _names(specification, len(self._carried))
        self._keeps_late = specification.row is not None
        self._rows = FilledRows(filling, self._grid, named, specification.keys, self._carried, asked)

    @property
    def takes_rows(self) -> bool:
        """Whether the operator takes them."""
        return self._operator.takes_rows

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return what the operator does."""
        return self._operator.partial(rows)

    def for_each(self, leaving: pa.Table) -> pa.Table | None:
        """Return what the operator does."""
        return self._operator.for_each(leaving)

    def gathered(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Return what the operator makes of them."""
        return self._operator.gathered(tables)

    def empty(self) -> FillState:
        """Return the state without keys."""
        return FillState(self._operator.empty(), pa.table({}))

    def step(self, state: FillState, rows: pa.Table | None, clock: Clock) -> StepResult[FillState]:
        """Do the operator's step, and fill the keys up to the windows that are over."""
        step = self._operator.step(state.windows, rows, clock)
        last = self._grid.last_until(self._horizon.over(clock))
        panes, late = self._parted(step.out)
        if not panes.num_rows and (state.wakeup is None or state.wakeup > last):
            same = step.state is state.windows
            after = state if same else replace(state, windows=step.state)
            return replace(step, state=after, out=self._rows.as_they_are(late), open_groups=self._open(step, after))
        known = entries_of(state.keys, self._keys, self._names, self._carried) if state.keys.num_rows else None
        entries, numbers = self._entries(known, panes)
        ids = numbered(entries.keys, (), len(entries.numbers)).ids
        order = np.lexsort((entries.numbers, ids))
        ids = ids[order]
        gaps = gaps_of(WithRows(entries.numbers[order], entries.done[order]), ids, last, self._filling)
        after = self._kept(step.state, entries, order, gaps.until, last_of(ids))
        gaps = gaps._replace(entries=order[gaps.entries], nexts=np.where(gaps.nexts < 0, -1, order[gaps.nexts]))
        places = np.arange(len(entries.numbers) - len(numbers), len(entries.numbers))
        out = self._with_late(self._rows.of(DueWindows(panes, places, numbers, entries, gaps)), late)
        return replace(step, state=after, out=out, open_groups=self._open(step, after))

    def next_wakeup(self, state: FillState) -> Wakeup:
        """Return when the operator wants to be called, or the next window without rows may be over."""
        event, processing = self._operator.next_wakeup(state.windows)
        if state.wakeup is None:
            return Wakeup(event, processing)
        due = self._horizon.watermark(self._grid.end(state.wakeup))
        return Wakeup(due if event is None else min(event, due), processing)

    def encode(self, state: FillState) -> bytes:
        """Return a state as bytes: the operator's, and the keys."""
        numbers = {_WAKEUP: state.wakeup, _LATEST: state.latest}
        facts = {name: str(number) for name, number in numbers.items() if number is not None}
        windows = pa.table([pa.array([self._operator.encode(state.windows)], pa.large_binary())], ["windows"])
        return encode_state(nested([windows, state.keys.replace_schema_metadata(facts)]))

    def decode(self, data: bytes) -> FillState:
        """Return the state of bytes."""
        windows, keys = unnested(decode_state(data))
        facts = {name: int(number) for name, number in (keys.schema.metadata or {}).items()}
        inner = self._operator.decode(windows.column(0)[0].as_py())
        return FillState(inner, keys.replace_schema_metadata(None), facts.get(_WAKEUP), facts.get(_LATEST))

    def of_keys(self, state: FillState, wanted: Wanted) -> FillState:
        """Return the windows of some keys, and these keys."""
        keys = rows_of_keys(state.keys, range(self._keys), wanted)
        wakeup = state.wakeup if keys.num_rows else None
        return replace(state, windows=self._operator.of_keys(state.windows, wanted), keys=keys, wakeup=wakeup)

    def together(self, states: Sequence[FillState]) -> FillState:
        """Return the windows of all keys, and the keys."""
        windows, keys = self._operator.together([s.windows for s in states]), tables_together(s.keys for s in states)
        return FillState(windows, keys, least(s.wakeup for s in states), greatest(s.latest for s in states))

    def _open(self, step: StepResult[Any], state: FillState) -> int:
        return step.open_groups + int(state.keys.num_rows)

    def _entries(self, known: Entries | None, panes: pa.Table) -> tuple[Entries, Ints]:
        """Return the entries that are known, behind them windows with rows that have come; and the numbers of these."""
        columns = [whole(c) for c in panes.columns]
        numbers = self._grid.numbers(self._ends(columns)) if panes.num_rows else np.zeros(0, np.int64)
        if not panes.num_rows and known is not None:
            return known, numbers
        results = [columns[i] for i in self._results] if self._carried else []
        came = Entries(columns[: self._keys], numbers, numbers, results)
        return (came.behind(known) if known is not None else came), numbers

    def _ends(self, columns: Sequence[pa.Array]) -> Ints:
        """Return where windows end, as the clock shows it that cuts them."""
        if not self._filling.walls:
            return integers(columns[self._start + 1])
        return self._walls(columns[self._start - 1])

    def _walls(self, shown: pa.Array) -> Ints:
        """Return times of a wall clock in ms."""
        return integers(shown.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()))

    def _kept(self, windows: Any, entries: Entries, order: Ints, until: Ints, is_last: Bools) -> FillState:
        """Return the state with the last window of each key that can still be filled.

        Args:
            windows: the state of the operator of windows.
            entries: windows with rows.
            order: their places, ordered by key and number.
            until: in this order, up to which window each is filled now.
            is_last: in this order, which are the last of their key.
        """
        numbers, done = entries.numbers[order], np.maximum(entries.done[order], until)
        open_ = np.flatnonzero(is_last & (done < numbers + self._filling.most))
        if not len(open_):
            return FillState(windows, pa.table({}))
        kept = entries.at(order[open_])._replace(done=done[open_])
        waits = kept.numbers + self._filling.most if self._filling.joins else kept.done + 1
        return FillState(windows, table_of_entries(kept, self._names), int(waits.min()))

    def _parted(self, out: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Return panes, and rows that came too late."""
        if not out.num_rows or not self._keeps_late:
            return out, out.slice(0, 0)
        late = pc.equal(out.column(out.num_columns + _KIND), LATE_ROW)
        return out.filter(pc.invert(late)), out.filter(late)

    def _with_late(self, panes: pa.Table, late: pa.Table) -> pa.Table:
        return pa.concat_tables([panes, self._rows.as_they_are(late)]) if late.num_rows else panes


def filled_types(
    filling: Filling, specification: WindowSpecification, types: Sequence[pa.DataType]
) -> list[tuple[str, pa.DataType]]:
    """Return name and type of each column that comes out."""
    named = output_types(specification, types)
    if not filling.joins:
        return named
    results = named[specification.keys + 2 : len(named) - len(PANE_COLUMNS) - LATE_COLUMNS]
    return [*named, *((f"next_{name}", of) for name, of in results), ("weight", pa.float64())]


def _names(specification: WindowSpecification, results: int) -> list[str]:
    """Return the names of results that are carried: by what they are, so that state finds them again."""
    calls = [a.name for a in specification.aggregates]
    if len(calls) == results and all(calls):
        return [f"r:{name}" for name in calls]
    return [f"r{i}" for i in range(results)]
