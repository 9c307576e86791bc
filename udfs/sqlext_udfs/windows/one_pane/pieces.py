"""Run windows of pieces that never change: slices, or windows that SQL gave; one pane each.

The state has a row for each key and piece: partial results of its rows. When the watermark passes the end of windows,
their pieces are joined into panes. Pieces that no later window needs are forgotten.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import integers, taken
from sqlext_udfs.kernel.clock import BEFORE_ALL
from sqlext_udfs.kernel.groups import Groups, Ints, numbered
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.horizon import Horizon
from sqlext_udfs.windows.one_pane.engine import OnePaneEngine, TakenIn
from sqlext_udfs.windows.one_pane.state import BucketState
from sqlext_udfs.windows.panes.columns import EARLIEST, PartialLayout, PartialResults, is_partial, together
from sqlext_udfs.windows.panes.pieces import Pieces
from sqlext_udfs.windows.panes.table import PaneTable


class SinglePaneEngine(OnePaneEngine):
    """Windows that are made of pieces.

    Args:
        pieces: of what the windows are made.
        layout, horizon, panes, row: as of ``OnePaneEngine``.
    """

    def __init__(
        self, pieces: Pieces, layout: PartialLayout, horizon: Horizon, panes: PaneTable, row: int | None
    ) -> None:
        # Order goes through slices only with each row's place among all rows.
        super().__init__(layout, horizon, panes, row, combines=not (layout.aggregation.ordered and pieces.shared))
        self._pieces = pieces

    def start(self, rows: pa.Table) -> tuple[PartialResults, Ints]:
        """Return partial results of each key and piece."""
        bounds, places = self._assigned(rows)
        rows = rows if places is None else rows.take(pa.array(places))
        kept, first = self.layout.start(rows, bounds, self.layout.aggregation.places(0, rows.num_rows))
        # Places among the rows as they came: the bucket is looked up there.
        return kept, first if places is None else places[first]

    def merge(self, kept: PartialResults, marks: np.ufunc) -> tuple[PartialResults, Groups]:
        """Return partial results joined by key and piece."""
        groups = numbered(kept.keys, kept.bounds, kept.rows())
        return self.layout.joined(kept, groups, marks), groups

    def ends_of(self, rows: pa.Table) -> tuple[Ints, Ints]:
        """Return the ends of the first and of the last window of each piece that rows, or partial results, are in."""
        if is_partial(rows):
            bounds = [integers(rows.column(self.layout.keys + i)) for i in range(self.layout.bounds)]
        else:
            bounds, _ = self._assigned(rows)
        # The last bound alone tells which windows there are.
        different = np.unique(integers(pc.unique(pa.array(bounds[-1]))))
        bounds = [different] * len(bounds)
        return self._pieces.next_ends(bounds, BEFORE_ALL), self._pieces.last_ends(bounds)

    def take_in(self, state: BucketState, rows: pa.Table, clock: Clock) -> TakenIn:
        """Take rows into pieces; those are late that are late for all windows of their piece."""
        # ``done`` too: a window that has given its only pane takes no more rows, whatever the watermark says.
        limit = max(state.done, self.horizon.late(clock))
        if is_partial(rows):
            kept = self.layout.read(rows)
            kept = kept._replace(partials=self.layout.aggregation.renumbered(kept.partials, state.arrived))
            late = self._pieces.last_ends(kept.bounds) <= limit
            # While they travel, marks count the rows of each result.
            dropped = int(kept.marks[late].sum())
            kept = kept.take(np.flatnonzero(~late)) if dropped else kept
            return TakenIn(self._with(state, kept, rows.num_rows, clock), dropped)
        arrived = rows.num_rows
        bounds, inside = self._assigned(rows)
        places = np.arange(arrived) if inside is None else inside
        late = self._pieces.last_ends(bounds) <= limit
        behind = self._kept_of(rows.take(pa.array(places[late])))
        if late.any() or len(places) < arrived:
            places, bounds = places[~late], [b[~late] for b in bounds]
            rows = rows.take(pa.array(places))
        kept, _ = self.layout.start(rows, bounds, state.arrived + places)
        after = self._with(state, kept, arrived, clock)
        return TakenIn(after, behind.num_rows, self.late_rows(behind, clock) if behind.num_rows else None)

    def _kept_of(self, late: pa.Table) -> pa.Table:
        """Return the late rows that count: those without the original row are also in a window that ends later."""
        return late if self.row is None else late.filter(late.column(self.row).is_valid())

    def fire(self, state: BucketState, until: int) -> tuple[BucketState, pa.Table]:
        """Return the panes of windows that end up to a time; pieces without later windows go."""
        kept = self.layout.read(state.table)
        due = np.flatnonzero(self._pieces.next_ends(kept.bounds, state.done) <= until)
        panes = self._panes_of(kept.take(due) if len(due) < kept.rows() else kept, state.done, until)
        kept = kept.take(np.flatnonzero(self._pieces.last_ends(kept.bounds) > until))
        settled = self._pieces.settled(kept.bounds, until)
        if settled is not kept.bounds:
            kept, _ = self.merge(kept._replace(bounds=settled), EARLIEST)
        return self._state(kept, until, state.arrived), panes

    def _assigned(self, rows: pa.Table) -> tuple[list[Ints], Ints | None]:
        """Return the pieces of rows that are in one, and which rows these are; None for all."""
        bounds, inside = self._pieces.assign(rows)
        if inside is None or inside.all():
            return bounds, None
        return [b[inside] for b in bounds], np.flatnonzero(inside)

    def _with(self, state: BucketState, kept: PartialResults, arrived: int, clock: Clock) -> BucketState:
        """Return the state with more in it."""
        if not kept.rows():
            return state
        kept = self.marks(kept, clock)
        if state.table.num_rows:
            kept = together(self.layout.read(state.table), kept)
        kept, _ = self.merge(kept, EARLIEST)
        return self._state(kept, max(state.done, self.horizon.late(clock)), state.arrived + arrived)

    def _state(self, kept: PartialResults, done: int, arrived: int) -> BucketState:
        ends = self._pieces.next_ends(kept.bounds, done)
        return BucketState(self.layout.state(kept), done, int(ends.min()) if len(ends) else None, arrived)

    def _panes_of(self, due: PartialResults, done: int, until: int) -> pa.Table:
        # A piece is a whole window: there is nothing to join.
        if not self._pieces.shared:
            return self._pane_table(due, due.bounds[0], self._pieces.last_ends(due.bounds))
        due, keys = _by_key_and_time(due)
        spanned = self._pieces.spanned(keys, due.bounds, done, until)
        slices = spanned.slices
        joined = PartialResults(
            [taken(k, slices.firsts) for k in due.keys],
            [],
            slices.reduced(EARLIEST, due.marks),
            self.layout.aggregation.merge_ranges(due.partials, slices),
        )
        return self._pane_table(joined, spanned.starts, spanned.ends)

    def _pane_table(self, kept: PartialResults, starts: Ints, ends: Ints) -> pa.Table:
        late = kept.marks >= ends if self.horizon.lateness else None
        return self.panes.only_panes(kept.keys, starts, ends, self.layout.aggregation.finish(kept.partials), late)


def _by_key_and_time(kept: PartialResults) -> tuple[PartialResults, Ints]:
    """Return partial results of slices by key and time, and a number for the key of each."""
    keys, (slices,) = numbered(kept.keys, (), kept.rows()).ids, kept.bounds
    step = np.diff(keys)
    # So they lie already where keys and times were numbered by their size.
    if ((step > 0) | ((step == 0) & (np.diff(slices) > 0))).all():
        return kept, keys
    order = np.lexsort((slices, keys))
    return kept.take(order), keys[order]
