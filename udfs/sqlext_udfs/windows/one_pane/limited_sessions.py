"""Run sessions that have a maximum length, and give exactly one pane.

Where such a session ends depends on where the one before it ended. So rows that others may come before are kept one by
one: those that are not behind the watermark. Rows behind it are joined, as no row comes before them any more. A row
that comes behind the watermark is late. So the sessions are those of all other rows, in whatever order they came.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.groups import Bools, Groups, Ints, numbered
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.horizon import Horizon
from sqlext_udfs.windows.one_pane.engine import OnePaneEngine, TakenIn
from sqlext_udfs.windows.one_pane.state import BucketState
from sqlext_udfs.windows.panes.columns import EARLIEST, PartialLayout, PartialResults, is_partial, together
from sqlext_udfs.windows.panes.limited_sessions import limited_sessions
from sqlext_udfs.windows.panes.session_rules import SessionRules
from sqlext_udfs.windows.panes.session_windows import Sessions
from sqlext_udfs.windows.panes.table import PaneTable


class LimitedSessionEngine(OnePaneEngine):
    """Sessions that are cut on whole columns.

    Args:
        rules: how rows become sessions.
        limit: the greatest length of a session (ms).
        layout, horizon, panes, row: as of ``OnePaneEngine``.
    """

    def __init__(
        self,
        rules: SessionRules,
        limit: int,
        layout: PartialLayout,
        horizon: Horizon,
        panes: PaneTable,
        row: int | None,
    ) -> None:
        super().__init__(layout, horizon, panes, row, combines=not layout.aggregation.ordered)
        self._rules = rules
        self._limit = limit

    def start(self, rows: pa.Table) -> tuple[PartialResults, Ints]:
        """Return a partial result of each key and window of a row: only rows of one time are surely together."""
        kept, groups = self._started(rows, np.arange(rows.num_rows))
        return kept, groups.first()

    def merge(self, kept: PartialResults, marks: np.ufunc) -> tuple[PartialResults, Groups]:
        """Return partial results of the same key and window joined."""
        groups = numbered(kept.keys, kept.bounds, kept.rows())
        return self.layout.joined(kept, groups, marks), groups

    def take_in(self, state: BucketState, rows: pa.Table, clock: Clock) -> TakenIn:
        """Take the rows that are not behind the watermark."""
        limit = max(state.done, self.horizon.late(clock))
        arrived = state.arrived + rows.num_rows
        came, groups = self._came(rows, np.arange(state.arrived, arrived))
        late = came.bounds[0] < limit
        dropped = int(came.marks[late].sum())
        behind = None
        if dropped:
            if groups is not None:
                behind = self.late_rows(rows.filter(pa.array(late[groups.ids])), clock)
            came = came.take(np.flatnonzero(~late))
        if not came.rows():
            return TakenIn(state, dropped, behind)
        came = came._replace(marks=np.zeros(came.rows(), np.int64))
        kept = together(self.layout.read(state.table), came) if state.table.num_rows else came
        joined, _ = self.merge(kept, EARLIEST)
        return TakenIn(self._state(joined, limit, arrived), dropped, behind)

    def fire(self, state: BucketState, until: int) -> tuple[BucketState, pa.Table]:
        """Return the panes of sessions that nothing can join any more, and forget these."""
        kept = self.layout.read(state.table)
        found = self._sessions(kept)
        over = self._over(found) <= until
        out = over[found.groups.ids]
        due = self._joined(kept, found, out)
        starts, ends = due.bounds
        panes = self.panes.only_panes(due.keys, starts, ends, self.layout.aggregation.finish(due.partials), None)
        return self._state(kept.take(np.flatnonzero(~out)), until, state.arrived), panes

    def _sessions(self, kept: PartialResults) -> Sessions:
        keys, (starts, ends) = numbered(kept.keys, (), kept.rows()), kept.bounds
        return limited_sessions(keys, starts, ends, self._limit, touching=self._rules.touching)

    def _over(self, found: Sessions) -> Ints:
        """Return from which time on no row that is not late can join each session."""
        if not self._rules.touching:
            return found.ends
        # A row at its end still joins a session that its maximum has not ended.
        return found.ends + (found.ends < found.starts + self._limit)

    def _joined(self, kept: PartialResults, found: Sessions, which: Bools) -> PartialResults:
        """Return one partial result for each session that has some of the results of ``which``, with its bounds."""
        places = np.flatnonzero(which)
        of = found.groups.ids[places]
        sessions, ids = np.unique(of, return_inverse=True)
        joined = self.layout.joined(kept.take(places), Groups(ids, len(sessions)), EARLIEST)
        return joined._replace(bounds=[found.starts[sessions], found.ends[sessions]])

    def _came(self, rows: pa.Table, places: Ints) -> tuple[PartialResults, Groups | None]:
        """Return partial results of what came, and the groups of rows that came as they were."""
        return (self.layout.read(rows), None) if is_partial(rows) else self._started(rows, places)

    def _started(self, rows: pa.Table, places: Ints) -> tuple[PartialResults, Groups]:
        keys, bounds = self.layout.key_columns(rows), self._rules.windows(rows)
        groups = numbered(keys, bounds, rows.num_rows)
        kept, first = self.layout.of_groups(rows, keys, groups, places)
        return kept._replace(bounds=[b[first] for b in bounds]), groups

    def _state(self, kept: PartialResults, done: int, arrived: int) -> BucketState:
        """Return a state in which what is surely together is joined: no row comes before ``done`` any more."""
        if not kept.rows():
            return BucketState(self.layout.state(kept), done, None, arrived)
        found = self._sessions(kept)
        settled = kept.bounds[0] < done
        if settled.any():
            ends = kept.bounds[1]
            joined = self._joined(kept, found, settled)
            # The reach of its rows and not the session's end: a row behind a maximum does not lie in the session.
            ids = np.unique(found.groups.ids[settled], return_inverse=True)[1]
            reach = np.zeros(joined.rows(), np.int64)
            np.maximum.at(reach, ids, ends[settled])
            joined = joined._replace(bounds=[joined.bounds[0], reach])
            kept = together(joined, kept.take(np.flatnonzero(~settled)))
        return BucketState(self.layout.state(kept), done, int(self._over(found).min()), arrived)
