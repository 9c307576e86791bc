"""Wrap the operator of windows and give out those that got no row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.groups import Ints, numbered
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import LATE_ROW
from sqlext_udfs.kernel.table_codec import decode_state, encode_state, nested, unnested
from sqlext_udfs.windows.filling.gaps import Gaps, gaps_of
from sqlext_udfs.windows.filling.grid import WindowGrid
from sqlext_udfs.windows.filling.specification import FILLED, Filling
from sqlext_udfs.windows.filling.state import Entries, FillState, entries_of, last_of, table_of_entries
from sqlext_udfs.windows.horizon import single_pane_horizon
from sqlext_udfs.windows.panes.table import PaneTable
from sqlext_udfs.windows.specification import PANE_COLUMNS, WindowSpecification, output_types

# Columns behind those of a pane: the late row, and its watermark.
_LATE_COLUMNS = 2
_KIND = -1 - _LATE_COLUMNS


class FilledWindows(BucketOperator[FillState]):
    """Give the panes of an operator of windows, and panes of the windows without rows.

    A window without rows comes out when it ends, and with ``joins`` when the next window with rows has ended, or none
    can be near enough any more. ``output_types`` says what comes out.

    Args:
        operator: gives each key and window one pane, and no other.
        filling: which windows come out.
        specification: what the operator computes.
        types: of the columns that go in.

    Raises:
        ValueError: for a policy that gives other panes, which the planner should have refused.
    """

    def __init__(
        self,
        operator: BucketOperator[Any],
        filling: Filling,
        specification: WindowSpecification,
        types: Sequence[pa.DataType],
    ) -> None:
        horizon = single_pane_horizon(specification.policy)
        if horizon is None:
            raise ValueError("windows that are filled give one pane")
        self._operator = operator
        self._filling = filling
        self._horizon = horizon
        self._grid = WindowGrid(filling)
        named = output_types(specification, types)
        self._panes = PaneTable(named, specification.keys)
        self._types = [of for _, of in named]
        self._keys = specification.keys - filling.keys_of_window
        self._start = specification.keys
        behind = len(PANE_COLUMNS) + _LATE_COLUMNS
        self._results = range(self._start + 2, len(named) - behind)
        kept = filling.carries or filling.joins
        self._carried = [self._types[i] for i in self._results] if kept else []
        self._names = _names(specification, len(self._carried))

    @property
    def takes_rows(self) -> bool:
        """Whether the operator takes them."""
        return self._operator.takes_rows

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return what the operator does."""
        return self._operator.partial(rows)

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
        panes, late = parted(step.out)
        if not panes.num_rows and (state.wakeup is None or state.wakeup > last):
            same = step.state is state.windows
            after = state if same else replace(state, windows=step.state)
            return replace(step, state=after, out=self._widened(step.out), open_groups=self._open(step, after))
        entries = self._entries(state, panes)
        groups = numbered(entries.keys, (), len(entries.numbers))
        order = np.lexsort((entries.numbers, groups.ids))
        entries, ids = entries.at(order), groups.ids[order]
        gaps = gaps_of(entries, ids, last, self._filling)
        after = self._kept(step.state, entries, gaps, last_of(ids))
        out = pa.concat_tables([self._in_order(panes, self._filled(entries, gaps)), self._widened(late)])
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
        facts = {} if state.wakeup is None else {b"wakeup": str(state.wakeup)}
        windows = pa.table([pa.array([self._operator.encode(state.windows)], pa.large_binary())], ["windows"])
        return encode_state(nested([windows, state.keys.replace_schema_metadata(facts)]))

    def decode(self, data: bytes) -> FillState:
        """Return the state of bytes."""
        windows, keys = unnested(decode_state(data))
        wakeup = (keys.schema.metadata or {}).get(b"wakeup")
        inner = self._operator.decode(windows.column(0)[0].as_py())
        return FillState(inner, keys.replace_schema_metadata(None), None if wakeup is None else int(wakeup))

    def _open(self, step: StepResult[Any], state: FillState) -> int:
        return step.open_groups + int(state.keys.num_rows)

    def _entries(self, state: FillState, panes: pa.Table) -> Entries:
        """Return the last windows of the keys, and those that have just come."""
        columns = [whole(c) for c in panes.columns]
        numbers = self._grid.numbers(self._ends(columns))
        results = [columns[i] for i in self._results] if self._carried else []
        came = Entries(columns[: self._keys], numbers, numbers, results)
        if not state.keys.num_rows:
            return came
        return came.behind(entries_of(state.keys, self._keys, self._names, self._carried))

    def _ends(self, columns: Sequence[pa.Array]) -> Ints:
        """Return where windows end, as the clock shows it that cuts them."""
        if not self._filling.walls:
            return integers(columns[self._start + 1])
        return integers(columns[self._start - 1].cast(pa.timestamp("ms"), safe=False).cast(pa.int64()))

    def _kept(self, windows: Any, entries: Entries, gaps: Gaps, is_last: np.ndarray[Any, Any]) -> FillState:
        """Return the state with the last window of each key that can still be filled."""
        done = np.maximum(entries.done, gaps.until)
        entries = entries._replace(done=done)
        open_ = np.flatnonzero(is_last & (done < entries.numbers + self._filling.most))
        kept = entries.at(open_)
        if not len(open_):
            return FillState(windows, pa.table({}))
        waits = kept.numbers + self._filling.most if self._filling.joins else kept.done + 1
        return FillState(windows, table_of_entries(kept, self._names), int(waits.min()))

    def _filled(self, entries: Entries, gaps: Gaps) -> pa.Table:
        """Return the panes of windows without rows."""
        starts, ends = self._grid.bounds(gaps.numbers)
        # An hour that the clock leaves out is no window.
        there = np.flatnonzero(ends > starts)
        gaps, starts, ends = gaps.at(there), starts[there], ends[there]
        keys = [taken(c, gaps.entries) for c in entries.keys]
        if self._filling.walls:
            of = self._types[self._keys]
            keys += [pa.array(w).cast(pa.timestamp("ms")).cast(of) for w in self._grid.walls(gaps.numbers)]
        nothing = [pa.nulls(len(ends), self._types[i]) for i in self._results]
        results = [taken(c, gaps.entries) for c in entries.results] if self._filling.carries else nothing
        panes = self._panes.only_panes(keys, starts, ends, results, None, timing=FILLED)
        if not self._filling.joins:
            return panes
        nexts = [taken(c, gaps.nexts) for c in entries.results]
        return table_of([*panes.columns, *nexts, pa.array(gaps.weights)])

    def _widened(self, panes: pa.Table) -> pa.Table:
        """Return panes with rows with the columns that those without have."""
        if not self._filling.joins or not panes.num_columns:
            return panes
        more = [*(pa.nulls(panes.num_rows, of) for of in self._carried), pa.nulls(panes.num_rows, pa.float64())]
        return table_of([*panes.columns, *more])

    def _in_order(self, panes: pa.Table, filled: pa.Table) -> pa.Table:
        """Return panes in the order in which their windows end."""
        both = pa.concat_tables([self._widened(panes), filled]).combine_chunks()
        if not filled.num_rows:
            return both
        return both.take(pa.array(np.argsort(integers(both.column(self._start + 1)), kind="stable")))


def filled_types(
    filling: Filling, specification: WindowSpecification, types: Sequence[pa.DataType]
) -> list[tuple[str, pa.DataType]]:
    """Return name and type of each column that comes out."""
    named = output_types(specification, types)
    if not filling.joins:
        return named
    results = named[specification.keys + 2 : len(named) - len(PANE_COLUMNS) - _LATE_COLUMNS]
    return [*named, *((f"next_{name}", of) for name, of in results), ("weight", pa.float64())]


def _names(specification: WindowSpecification, results: int) -> list[str]:
    """Return the names of results that are carried: by what they are, so that state finds them again."""
    calls = [a.name for a in specification.aggregates]
    if len(calls) == results and all(calls):
        return [f"r:{name}" for name in calls]
    return [f"r{i}" for i in range(results)]


def parted(out: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return panes, and rows that came too late."""
    if not out.num_rows:
        return out, out
    late = pc.equal(out.column(out.num_columns + _KIND), LATE_ROW)
    return out.filter(pc.invert(late)), out.filter(late)
