"""Do the steps of a micro-batch for windows of one pane, be they slices or sessions.

There is no loop over keys, windows or rows: everything is done on whole columns.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import taken, whole
from sqlext_udfs.kernel.dividing import Wanted, least, rows_of_keys, tables_together
from sqlext_udfs.kernel.groups import Groups, Ints
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.windows.horizon import Horizon
from sqlext_udfs.windows.one_pane.state import BucketState, decode, encode
from sqlext_udfs.windows.panes.columns import COUNTED, PARTIAL, PartialLayout, PartialResults, is_partial
from sqlext_udfs.windows.panes.table import PaneTable


class TakenIn(NamedTuple):
    """What became of a batch's rows.

    Attributes:
        state: with the rows that were not late.
        dropped: how many rows were late.
        late: the late rows as output, where somebody wants them; else None.
    """

    state: BucketState
    dropped: int
    late: pa.Table | None = None


class OnePaneEngine(BucketOperator[BucketState]):
    """Windows that give exactly one pane.

    Args:
        layout: of state and partial results.
        horizon: when windows are over.
        panes: makes the output.
        row: the column of the original row, where late rows come out; else None.
        combines: whether rows may be combined before they meet the watermark; never where late rows come out.
    """

    def __init__(
        self, layout: PartialLayout, horizon: Horizon, panes: PaneTable, row: int | None, *, combines: bool
    ) -> None:
        self.layout = layout
        self.horizon = horizon
        self.panes = panes
        self.row = row
        self.combines = combines and row is None

    @abstractmethod
    def start(self, rows: pa.Table) -> tuple[PartialResults, Ints]:
        """Return partial results of rows, and the place of the first row of each."""

    @abstractmethod
    def merge(self, kept: PartialResults, marks: np.ufunc) -> tuple[PartialResults, Groups]:
        """Return partial results joined as far as they can be, and the groups of those there were."""

    @abstractmethod
    def take_in(self, state: BucketState, rows: pa.Table, clock: Clock) -> TakenIn:
        """Take rows, or partial results of rows, into the state."""

    @abstractmethod
    def fire(self, state: BucketState, until: int) -> tuple[BucketState, pa.Table]:
        """Return the state after all windows that end up to a time (ms) have given their pane, and the panes."""

    @property
    def takes_rows(self) -> bool:
        """Whether rows can come as they are; not where each needs its place among those that were read with it."""
        return not self.layout.aggregation.ordered

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return a partial result for each key and piece, with the number of its rows, and the bucket."""
        if not self.combines:
            return rows
        # The bucket travels last; it depends on the key, so any row of a group has it.
        last = rows.num_columns - 1
        buckets = whole(rows.column(last))
        rows = rows.remove_column(last)
        if is_partial(rows):
            kept, groups = self.merge(self.layout.read(rows), COUNTED)
            first = groups.first()
        else:
            kept, first = self.start(rows)
        return self._results(kept).append_column("bucket", taken(buckets, first))

    def gathered(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Return rows, or partial results: of rows too where both have come."""
        rows = [table for table in tables if not is_partial(table)]
        if len(rows) in (0, len(tables)):
            return pa.concat_tables(tables)
        kept, _ = self.start(pa.concat_tables(rows))
        return pa.concat_tables([*(table for table in tables if is_partial(table)), self._results(kept)])

    def _results(self, kept: PartialResults) -> pa.Table:
        columns = self.layout.columns(kept)
        return pa.table(columns, [f"{PARTIAL}{i}" for i in range(len(columns))])

    def step(self, state: BucketState, rows: pa.Table | None, clock: Clock) -> StepResult[BucketState]:
        """Take rows into windows, and give out the windows that are over."""
        # Windows that were over before (the bucket was not called then) do not get the new rows.
        state, overdue = self._fired(state, self.horizon.late(clock))
        taken_in = TakenIn(state, 0)
        if rows is not None and rows.num_rows:
            taken_in = self.take_in(state, rows, clock)
        state, panes = self._fired(taken_in.state, self.horizon.over(clock))
        tables = [t for t in (overdue, taken_in.late, panes) if t is not None]
        out = pa.concat_tables(tables) if tables else self.panes.none()
        return StepResult(state, out, taken_in.dropped, 0, state.table.num_rows)

    def empty(self) -> BucketState:
        """Return the state without windows."""
        return BucketState()

    def next_wakeup(self, state: BucketState) -> Wakeup:
        """Return when the next window is over."""
        return Wakeup(None if state.wakeup is None else self.horizon.watermark(state.wakeup))

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: BucketState) -> int:
        """Return how many slices or sessions there are."""
        return int(state.table.num_rows)

    def encode(self, state: BucketState) -> bytes:
        """Return a state as bytes."""
        return encode(state, self.layout.aggregation.named)

    def decode(self, data: bytes) -> BucketState:
        """Return the state of bytes."""
        state, named = decode(data)
        return replace(state, table=self.layout.moved(state.table, named)) if state.table.num_rows else state

    def of_keys(self, state: BucketState, wanted: Wanted) -> BucketState:
        """Return the windows of some keys; the next one may be over later than it says."""
        table = rows_of_keys(state.table, range(self.layout.keys), wanted)
        return replace(state, table=table, wakeup=state.wakeup if table.num_rows else None)

    def together(self, states: Sequence[BucketState]) -> BucketState:
        """Return the windows of all keys."""
        table = tables_together(s.table for s in states if s.table.num_rows)
        done, arrived = (max(getattr(s, name) for s in states) for name in ("done", "arrived"))
        return BucketState(table, done, least(s.wakeup for s in states), arrived)

    def late_rows(self, rows: pa.Table, clock: Clock) -> pa.Table | None:
        """Return rows that came too late for the late table, if there is one."""
        if self.row is None:
            return None
        return self.panes.late_rows(self.layout.key_columns(rows), whole(rows.column(self.row)), clock.late_watermark)

    def marks(self, kept: PartialResults, clock: Clock) -> PartialResults:
        """Return what has come, marked by the watermark that it met."""
        # Without lateness a window takes no row once its end is passed, so no pane can be LATE (M9).
        passed = self.horizon.passed(clock) if self.horizon.lateness else 0
        return kept._replace(marks=np.full(kept.rows(), passed))

    def _fired(self, state: BucketState, until: int) -> tuple[BucketState, pa.Table | None]:
        if state.wakeup is None or state.wakeup > until:
            return state, None
        return self.fire(state, until)
