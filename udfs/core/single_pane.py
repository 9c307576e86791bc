"""Windows that give exactly one pane, on whole columns: no loop over keys, windows or rows.

The state has a row for each key and piece (a slice or a window): partial results of its rows. When the watermark
passes the end of windows, their pieces are joined into panes, and pieces that no later window needs are forgotten.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext.udfs.core.arrow_numpy import taken, whole
from sqlext.udfs.core.groups import Groups, Ints, dense, numbered
from sqlext.udfs.core.horizon import Horizon
from sqlext.udfs.core.operators import Clock, Step
from sqlext.udfs.core.pane_table import PaneTable
from sqlext.udfs.core.slices import Expanded
from sqlext.udfs.core.window_columns import COUNTED, EARLIEST, Kept, Layout, reduced, together
from sqlext.udfs.core.window_pieces import Pieces
from sqlext.udfs.core.window_state import WindowState, table_of

#: What the columns of partial results are called on their way, so that they are not taken for rows.
PARTIAL = "partial"


class Accepted(NamedTuple):
    """The rows of a batch: those that are not late as partial results, and what there is to say of the others."""

    kept: Kept
    dropped: int
    late: pa.Table | None


class SinglePaneEngine:
    """Windows of pieces that never change, one pane each.

    Args:
        pieces: of what the windows are made.
        layout: of state and partial results.
        horizon: when windows are over.
        panes: makes the output.
        row: the column of the original row, where late rows are kept.
    """

    def __init__(self, pieces: Pieces, layout: Layout, horizon: Horizon, panes: PaneTable, row: int | None) -> None:
        self._pieces = pieces
        self._layout = layout
        self._horizon = horizon
        self._panes = panes
        self._row = row
        # Late rows must be rows when they meet the watermark; order goes through slices only with each row's place.
        self._combines = row is None and not (layout.aggregation.ordered and pieces.shared)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return a partial result for each key and piece, with the number of its rows, and the bucket."""
        if not self._combines:
            return rows
        last = rows.num_columns - 1
        buckets = whole(rows.column(last))
        rows = rows.remove_column(last)
        if is_partial(rows):
            kept, groups = self._layout.merge(self._layout.read(rows), COUNTED)
            first = groups.first()
        else:
            bounds, places = self._assigned(rows)
            rows = rows if places is None else rows.take(pa.array(places))
            kept, groups = self._layout.start(rows, bounds, np.arange(rows.num_rows))
            first = groups.first() if places is None else places[groups.first()]
        columns = [*self._layout.columns(kept), taken(buckets, first)]
        return pa.table(columns, [f"{PARTIAL}{i}" for i in range(len(columns) - 1)] + ["bucket"])

    def step(self, state: WindowState, rows: pa.Table | None, clock: Clock) -> Step[WindowState]:
        """Take rows into windows, and give out the windows that are over."""
        # Windows that were over before (the bucket was not called then) do not get the new rows.
        state, overdue = self._fire(state, self._horizon.late(clock))
        out, dropped = [overdue], 0
        if rows is not None and rows.num_rows:
            limit = max(state.done, self._horizon.late(clock))
            accepted = self._accepted(rows, limit, state.arrived, clock)
            dropped = accepted.dropped
            state = self._joined(state, accepted.kept, rows.num_rows, clock)
            out.append(accepted.late)
        state, panes = self._fire(state, self._horizon.over(clock))
        tables = [t for t in (*out, panes) if t is not None]
        made = pa.concat_tables(tables) if tables else self._panes.none()
        return Step(state, made, dropped, 0, state.table.num_rows)

    def _assigned(self, rows: pa.Table) -> tuple[list[Ints], Ints | None]:
        """Return the pieces of rows that are in one, and which rows these are; None for all."""
        bounds, inside = self._pieces.assign(rows)
        if inside is None or inside.all():
            return bounds, None
        return [b[inside] for b in bounds], np.flatnonzero(inside)

    def _accepted(self, rows: pa.Table, limit: int, arrived: int, clock: Clock) -> Accepted:
        """Return the rows whose last window ends after a limit."""
        if is_partial(rows):
            kept = self._layout.read(rows)
            kept = kept._replace(partials=self._layout.aggregation.renumbered(kept.partials, arrived))
            late = self._pieces.last_ends(kept.bounds) <= limit
            dropped = int(kept.marks[late].sum())
            return Accepted(kept.take(np.flatnonzero(~late)) if dropped else kept, dropped, None)
        bounds, places = self._assigned(rows)
        places = np.arange(rows.num_rows) if places is None else places
        late = self._pieces.last_ends(bounds) <= limit
        behind = rows.take(pa.array(places[late])) if late.any() else None
        if behind is not None or len(places) < rows.num_rows:
            places, bounds = places[~late], [b[~late] for b in bounds]
            rows = rows.take(pa.array(places))
        kept, _ = self._layout.start(rows, bounds, arrived + places)
        if behind is None:
            return Accepted(kept, 0, None)
        return Accepted(kept, behind.num_rows, self._late_rows(behind, clock))

    def _late_rows(self, rows: pa.Table, clock: Clock) -> pa.Table | None:
        if self._row is None:
            return None
        return self._panes.late_rows(
            self._layout.key_columns(rows), whole(rows.column(self._row)), clock.late_watermark
        )

    def _joined(self, state: WindowState, kept: Kept, arrived: int, clock: Clock) -> WindowState:
        """Return the state with more in it."""
        if not kept.rows():
            return state
        passed = self._horizon.passed(clock) if self._horizon.lateness else 0
        kept = kept._replace(marks=np.full(kept.rows(), passed))
        if state.table.num_rows:
            kept = together(self._layout.read(state.table), kept)
        kept, _ = self._layout.merge(kept, EARLIEST)
        done = max(state.done, self._horizon.late(clock))
        return replace(self._state(kept, done), arrived=state.arrived + arrived)

    def _state(self, kept: Kept, done: int) -> WindowState:
        next_ends = self._pieces.next_ends(kept.bounds, done)
        return WindowState(table_of(self._layout.columns(kept)), done, int(next_ends.min()) if len(next_ends) else None)

    def _fire(self, state: WindowState, until: int) -> tuple[WindowState, pa.Table | None]:
        """Return the state after all windows up to an end have given their pane, and the panes."""
        if state.wakeup is None or state.wakeup > until:
            return state, None
        kept = self._layout.read(state.table)
        due = np.flatnonzero(self._pieces.next_ends(kept.bounds, state.done) <= until)
        panes = self._panes_of(kept.take(due) if len(due) < kept.rows() else kept, state.done, until)
        left = np.flatnonzero(self._pieces.last_ends(kept.bounds) > until)
        kept = kept.take(left)
        settled = self._pieces.settled(kept.bounds, until)
        if settled is not kept.bounds:
            kept, _ = self._layout.merge(kept._replace(bounds=settled), EARLIEST)
        return replace(self._state(kept, until), arrived=state.arrived), panes

    def _panes_of(self, due: Kept, done: int, until: int) -> pa.Table:
        windows = self._pieces.expand(due.bounds, done, until)
        aggregation = self._layout.aggregation
        if not self._pieces.shared:
            keys, partials, marks, first = due.keys, due.partials, due.marks, windows.places
        else:
            groups = self._windows(due, windows)
            first = groups.first()
            partials = aggregation.merge([taken(p, windows.places) for p in due.partials], groups)
            marks = reduced(EARLIEST, due.marks[windows.places], groups)
            keys = [taken(k, windows.places[first]) for k in due.keys]
        ends = windows.ends[first] if self._pieces.shared else windows.ends
        starts = windows.starts[first] if self._pieces.shared else windows.starts
        late = marks >= ends if self._horizon.lateness else None
        return self._panes.only_panes(keys, starts, ends, aggregation.finish(partials), late)

    def _windows(self, due: Kept, windows: Expanded) -> Groups:
        """Return the groups of pieces of the same key and window: keys are compared once, not for each window."""
        keys = numbered(due.keys, (), due.rows())
        ends = numbered((), (windows.ends,))
        return dense(keys.ids[windows.places] * ends.count + ends.ids, keys.count * ends.count)


def is_partial(rows: pa.Table) -> bool:
    """Return whether a table has partial results."""
    return bool(rows.column_names[0].startswith(PARTIAL))
