"""Sessions that give exactly one pane.

The state has a row for each key and session that is not over. What comes is joined to sessions first among itself,
then with those in state; whether it was late is judged after that (rule M7), or on each row's own window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext.udfs.core.arrow_numpy import integers, taken, whole
from sqlext.udfs.core.bucket_state import WindowState, table_of
from sqlext.udfs.core.groups import Groups, Ints, numbered
from sqlext.udfs.core.horizon import Horizon
from sqlext.udfs.core.one_pane_engine import OnePaneEngine, TakenIn
from sqlext.udfs.core.operators import Clock
from sqlext.udfs.core.pane_table import PaneTable
from sqlext.udfs.core.session_windows import Sessions, cells, sessions
from sqlext.udfs.core.window_columns import EARLIEST, Kept, Layout, is_partial, reduced, together
from sqlext.udfs.core.window_pieces import times_of


@dataclass(frozen=True, slots=True)
class SessionRules:
    """How rows become sessions.

    Attributes:
        time: the column of the rowtime.
        gap: that of each row's gap, where ``fixed`` is None.
        fixed: the gap of all rows, in milliseconds.
        touching: whether sessions that touch are one.
        own_window: whether lateness is judged on a row's own window, before it joins others.
    """

    time: int
    gap: int | None
    fixed: int | None
    touching: bool
    own_window: bool

    def windows(self, rows: pa.Table) -> tuple[Ints, Ints]:
        """Return start and end of each row's own window.

        Raises:
            SqlExtError: RUN-036 for a row without time, RUN-037 for one without gap.
        """
        times = times_of(rows, self.time)
        if self.fixed is not None:
            return times, times + self.fixed
        assert self.gap is not None
        gaps = integers(whole(rows.column(self.gap)).fill_null(0))
        if (gaps <= 0).any():
            raise SqlExtError("RUN-037", "a row's session gap is NULL or not positive", hint="give it a default")
        return times, times + gaps

    def sessions(self, keys: Groups, starts: Ints, ends: Ints) -> Sessions:
        """Return the sessions of some windows."""
        return sessions(keys, starts, ends, touching=self.touching)

    def sessions_of_rows(self, keys: Groups, starts: Ints, ends: Ints) -> Sessions:
        """Return the same for many windows that may lie close together: see ``cells``."""
        least = int((ends - starts).min()) if len(starts) else 0
        if not least:
            return self.sessions(keys, starts, ends)
        inner = cells(keys, starts, least)
        if inner.count * 2 > len(starts):
            return self.sessions(keys, starts, ends)
        latest = np.full(inner.count, np.iinfo(np.int64).min)
        np.maximum.at(latest, inner.ids, ends)
        cell_keys = Groups(keys.ids[inner.first()], keys.count)
        made = self.sessions(cell_keys, reduced(EARLIEST, starts, inner), latest)
        return Sessions(Groups(made.groups.ids[inner.ids], made.groups.count), made.starts, made.ends)


class SingleSessionEngine(OnePaneEngine):
    """Sessions.

    Args:
        rules: how rows become sessions.
    """

    def __init__(
        self, rules: SessionRules, layout: Layout, horizon: Horizon, panes: PaneTable, row: int | None
    ) -> None:
        # Where order matters, what joins later joins by each row's place among all rows.
        combines = not rules.own_window and not layout.aggregation.ordered
        super().__init__(layout, horizon, panes, row, combines=combines)
        self._rules = rules

    def start(self, rows: pa.Table) -> tuple[Kept, Ints]:
        """Return partial results of each key and session of these rows."""
        kept, groups = self._started(rows, np.arange(rows.num_rows))
        return kept, groups.first()

    def merge(self, kept: Kept, marks: np.ufunc) -> tuple[Kept, Groups]:
        """Return partial results joined to sessions."""
        keys = numbered(kept.keys, (), kept.rows())
        found = self._rules.sessions(keys, *kept.bounds)
        joined = self.layout.joined(kept, found.groups, marks)
        return joined._replace(bounds=[found.starts, found.ends]), found.groups

    def take_in(self, state: WindowState, rows: pa.Table, clock: Clock) -> TakenIn:
        """Take rows into sessions."""
        limit = max(state.done, self.horizon.late(clock))
        arrived = rows.num_rows
        behind, rows, places = self._own_late(rows, limit)
        came, groups = self._came(rows, state.arrived + places)
        before = self.layout.read(state.table) if state.table.num_rows else None
        known = before.rows() if before is not None else 0
        marked = self.marks(came, clock)
        joined, into = self.merge(together(before, marked) if before is not None else marked, EARLIEST)
        late = joined.bounds[1] <= limit
        lost = late[into.ids[known:]]
        dropped = behind.num_rows + int(came.marks[lost].sum())
        if groups is not None and lost.any():
            behind = pa.concat_tables([behind, rows.filter(pa.array(lost[groups.ids]))])
        if not lost.all():
            joined = joined.take(np.flatnonzero(~late)) if late.any() else joined
            state = self._state(joined, max(state.done, self.horizon.late(clock)), state.arrived + arrived)
        return TakenIn(state, dropped, self.late_rows(behind, clock) if dropped and groups is not None else None)

    def fire(self, state: WindowState, until: int) -> tuple[WindowState, pa.Table]:
        """Return the panes of sessions that end up to a time, and forget these."""
        kept = self.layout.read(state.table)
        over = kept.bounds[1] <= until
        due = kept.take(np.flatnonzero(over))
        late = due.marks >= due.bounds[1] if self.horizon.lateness else None
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

    def _came(self, rows: pa.Table, places: Ints) -> tuple[Kept, Groups | None]:
        """Return partial results of what came, and the groups of rows that came as they were."""
        return (self.layout.read(rows), None) if is_partial(rows) else self._started(rows, places)

    def _started(self, rows: pa.Table, places: Ints) -> tuple[Kept, Groups]:
        keys = self.layout.key_columns(rows)
        numbers = numbered(keys, (), rows.num_rows)
        found = self._rules.sessions_of_rows(numbers, *self._rules.windows(rows))
        first = found.groups.first()
        partials = self.layout.aggregation.start(rows, found.groups, places)
        kept = Kept([taken(k, first) for k in keys], [found.starts, found.ends], found.groups.sizes(), partials)
        return kept, found.groups

    def _state(self, kept: Kept, done: int, arrived: int) -> WindowState:
        ends = kept.bounds[1]
        return WindowState(table_of(self.layout.columns(kept)), done, int(ends.min()) if len(ends) else None, arrived)
