"""Run sessions that give exactly one pane.

The state has a row for each key and session that is not over. What comes is joined to sessions first among itself, then
with those in state. Lateness is judged after that (rule M7), or on each row's own window.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Groups, Ints, numbered
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.horizon import Horizon
from sqlext_udfs.windows.one_pane.engine import OnePaneEngine, TakenIn
from sqlext_udfs.windows.one_pane.state import BucketState
from sqlext_udfs.windows.panes.columns import EARLIEST, PartialLayout, PartialResults, is_partial, together
from sqlext_udfs.windows.panes.session_rules import SessionRules
from sqlext_udfs.windows.panes.table import PaneTable


class SingleSessionEngine(OnePaneEngine):
    """Sessions that are joined on whole columns.

    Args:
        rules: how rows become sessions.
        layout, horizon, panes, row: as of ``OnePaneEngine``.
    """

    def __init__(
        self, rules: SessionRules, layout: PartialLayout, horizon: Horizon, panes: PaneTable, row: int | None
    ) -> None:
        # Where order matters, what joins later joins by each row's place among all rows.
        combines = not rules.own_window and not layout.aggregation.ordered
        super().__init__(layout, horizon, panes, row, combines=combines)
        self._rules = rules

    def start(self, rows: pa.Table) -> tuple[PartialResults, Ints]:
        """Return partial results of each key and session of these rows."""
        kept, groups = self._started(rows, np.arange(rows.num_rows))
        return kept, groups.first()

    def merge(self, kept: PartialResults, marks: np.ufunc) -> tuple[PartialResults, Groups]:
        """Return partial results joined to sessions."""
        keys = numbered(kept.keys, (), kept.rows())
        found = self._rules.sessions(keys, *kept.bounds)
        joined = self.layout.joined(kept, found.groups, marks)
        return joined._replace(bounds=[found.starts, found.ends]), found.groups

    def take_in(self, state: BucketState, rows: pa.Table, clock: Clock) -> TakenIn:
        """Take rows into sessions."""
        limit = max(state.done, self.horizon.late(clock))
        arrived = rows.num_rows
        behind, rows, places = self._own_late(rows, limit)
        came, groups = self._came(rows, state.arrived + places)
        before = self.layout.read(state.table) if state.table.num_rows else None
        known = before.rows() if before is not None else 0
        both = together(before, came) if before is not None else came
        joined, into = self.merge(both, EARLIEST)
        joined = joined._replace(marks=self._behind(both, known, joined, into, clock))
        # Judged after the merge: a late row may belong to a session that is not over.
        late = joined.bounds[1] <= limit
        lost = late[into.ids[known:]]
        dropped = behind.num_rows + int(came.marks[lost].sum())
        if groups is not None and lost.any():
            behind = pa.concat_tables([behind, rows.filter(pa.array(lost[groups.ids]))])
        if not lost.all():
            joined = joined.take(np.flatnonzero(~late)) if late.any() else joined
            state = self._state(joined, max(state.done, self.horizon.late(clock)), state.arrived + arrived)
        return TakenIn(state, dropped, self.late_rows(behind, clock) if dropped and groups is not None else None)

    def fire(self, state: BucketState, until: int) -> tuple[BucketState, pa.Table]:
        """Return the panes of sessions that end up to a time, and forget these."""
        kept = self.layout.read(state.table)
        over = kept.bounds[1] <= until
        due = kept.take(np.flatnonzero(over))
        late = due.marks > 0 if self.horizon.lateness else None
        starts, ends = due.bounds
        panes = self.panes.only_panes(due.keys, starts, ends, self.layout.aggregation.finish(due.partials), late)
        return self._state(kept.take(np.flatnonzero(~over)), until, state.arrived), panes

    def _own_late(self, rows: pa.Table, limit: int) -> tuple[pa.Table, pa.Table, Ints]:
        """Return rows whose own window is late, where that counts, and the others with their places."""
        places = np.arange(rows.num_rows)
        if not self._rules.own_window:
            return rows.slice(0, 0), rows, places
        late = self._rules.windows(rows)[1] <= limit
        return rows.filter(pa.array(late)), rows.filter(pa.array(~late)), places[~late]

    def _behind(self, both: PartialResults, known: int, joined: PartialResults, into: Groups, clock: Clock) -> Ints:
        """Return 1 for sessions that begin behind the watermark, as their pane will be LATE (rules M9 and M10).

        A session that grows is judged anew: it is not late if the watermark has not passed its new end; else it is
        late if all of those that it was made of are. One that does not grow stays as it is.

        Args:
            both: the sessions of the state, and those that came.
            known: how many of them are of the state.
            joined: the sessions of them all.
            into: which of these each is in.
            clock: what time it is.
        """
        count = joined.rows()
        if not self.horizon.lateness:
            return np.zeros(count, np.int64)
        ids, marked = into.ids[:known], both.marks[:known] > 0
        old_late, old_on_time, stays = (np.zeros(count, np.bool_) for _ in range(3))
        old_late[ids[marked]], old_on_time[ids[~marked]] = True, True
        stays[ids] = np.logical_and.reduce(
            [b[:known] == after[ids] for b, after in zip(both.bounds, joined.bounds, strict=True)]
        )
        passed = joined.bounds[1] <= self.horizon.passed(clock)
        return np.where(stays, old_late, passed & ~old_on_time).astype(np.int64)

    def _came(self, rows: pa.Table, places: Ints) -> tuple[PartialResults, Groups | None]:
        """Return partial results of what came, and the groups of rows that came as they were."""
        return (self.layout.read(rows), None) if is_partial(rows) else self._started(rows, places)

    def _started(self, rows: pa.Table, places: Ints) -> tuple[PartialResults, Groups]:
        keys = self.layout.key_columns(rows)
        numbers = numbered(keys, (), rows.num_rows)
        found = self._rules.sessions_of_rows(numbers, *self._rules.windows(rows))
        first = found.groups.first()
        partials = self.layout.aggregation.start(rows, found.groups, places)
        kept = PartialResults(
            [taken(k, first) for k in keys], [found.starts, found.ends], found.groups.sizes(), partials
        )
        return kept, found.groups

    def _state(self, kept: PartialResults, done: int, arrived: int) -> BucketState:
        ends = kept.bounds[1]
        return BucketState(self.layout.state(kept), done, int(ends.min()) if len(ends) else None, arrived)
