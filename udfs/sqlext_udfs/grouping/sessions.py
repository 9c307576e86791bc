"""Compute sessions of rows that may be taken back: each gives one result, when the watermark passes its end.

The different rows of sessions that are not over are kept, each with the bounds of its session. A row that is taken back
leaves its time behind: sessions do not shrink. Flink's do not either: it takes a row back from the accumulator of its
session, and keeps the session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.grouping.operator import GroupAggregate
from sqlext_udfs.kernel.arrow_numpy import integers, whole
from sqlext_udfs.kernel.dividing import Wanted, rows_of_keys, tables_together
from sqlext_udfs.kernel.groups import Groups, Ints, numbered
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.table_codec import decode_state, encode_state
from sqlext_udfs.kernel.zset import columns_of, counts_of, summed
from sqlext_udfs.windows.horizon import horizon_of
from sqlext_udfs.windows.panes.session_rules import SessionRules, gaps_of
from sqlext_udfs.windows.panes.table import PaneTable
from sqlext_udfs.windows.policy import LimitedSession, Session
from sqlext_udfs.windows.specification import WindowSpecification, output_types

_FACTS = b"sqlext.sessions"
_BOUNDS = ("session_start", "session_end")


@dataclass(frozen=True, slots=True)
class OpenSessions:
    """The sessions of a bucket that are not over.

    Attributes:
        rows: the columns that go in, with counts in place of kinds, and the bounds of the row's session (ms). Of a
            session without rows there is one row, whose count is 0.
    """

    rows: pa.Table = field(default_factory=lambda: pa.table({}))


class SessionsOfChanges(BucketOperator[OpenSessions]):
    """Group by key and session. The columns that come out are those of a window operator.

    Args:
        specification: what is computed; each row says what it does.
        types: of the columns that go in.

    Raises:
        ValueError: for a policy or rows that the planner should have refused.
    """

    def __init__(self, specification: WindowSpecification, types: Sequence[pa.DataType]) -> None:
        policy, kind = specification.policy, specification.kind
        horizon, window = horizon_of(policy, specification.closed), policy.window
        if horizon is None or kind is None or not isinstance(window, Session) or isinstance(window, LimitedSession):
            raise ValueError("sessions of rows that change give one pane, and have no maximum")
        self._horizon = horizon
        self._by_clock = policy.processing_time
        touching = policy.options.session_gap == "inclusive"
        self._rules = SessionRules(specification.time or 0, specification.gap, window.gap, touching, own_window=False)
        self._keys, self._kind = specification.keys, kind
        bounds = (len(types), len(types) + 1)
        all_types = [*types, pa.int64(), pa.int64()]
        # The bounds behind the keys: of the groups they are keys too.
        self._order = (*range(self._keys), *bounds, *range(self._keys, len(types)))
        at = {place: i for i, place in enumerate(self._order)}
        inner = replace(
            specification,
            keys=self._keys + len(bounds),
            aggregates=tuple(replace(a, inputs=tuple(at[i] for i in a.inputs)) for a in specification.aggregates),
            time=None,
            gap=None,
            kind=at[kind],
        )
        self._groups = GroupAggregate(inner, [all_types[i] for i in self._order])
        self._out = PaneTable(output_types(specification, types), self._keys)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the different rows, with counts in place of kinds: also those that are taken back at once."""
        return summed(rows, self._kind)

    def empty(self) -> OpenSessions:
        """Return no sessions."""
        return OpenSessions()

    def step(self, state: OpenSessions, rows: pa.Table | None, clock: Clock) -> StepResult[OpenSessions]:
        """Add rows to their sessions, or take them away, and give out the sessions that are over.

        Raises:
            SqlExtError: RUN-036 for a row without event time, RUN-037 for one without session gap.
        """
        dropped = 0
        if rows is not None and rows.num_rows:
            state, dropped = self._taken_in(state, rows, clock)
        held = state.rows
        if not held.num_rows:
            return StepResult(state, self._out.none(), dropped)
        over = integers(whole(held.column(_BOUNDS[1]))) <= self._horizon.over(clock)
        out = self._panes(held.filter(pa.array(over)), clock) if over.any() else self._out.none()
        left = held.filter(pa.array(~over)) if over.any() else held
        return StepResult(OpenSessions(left), out, dropped, open_groups=self._sessions(left))

    def next_wakeup(self, state: OpenSessions) -> Wakeup:
        """Return when the next session is over."""
        rows = state.rows
        return self._horizon.wakeup(int(integers(whole(rows.column(_BOUNDS[1]))).min()) if rows.num_rows else None)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: OpenSessions) -> int:
        """Return how many sessions are open."""
        return self._sessions(state.rows)

    def encode(self, state: OpenSessions) -> bytes:
        """Return a state as bytes."""
        return encode_state(state.rows.replace_schema_metadata({_FACTS: b"1"}))

    def decode(self, data: bytes) -> OpenSessions:
        """Return the state that ``encode`` wrote.

        Raises:
            SqlExtError: RUN-033 if it is of another operator.
        """
        rows = decode_state(data)
        if _FACTS not in (rows.schema.metadata or {}):
            message = "the state of sessions was written by an older version of sqlext"
            raise SqlExtError("RUN-033", message, hint="DROP QUERY starts the query anew")
        return OpenSessions(rows.replace_schema_metadata(None))

    def of_keys(self, state: OpenSessions, wanted: Wanted) -> OpenSessions:
        """Return the sessions of some keys."""
        return OpenSessions(rows_of_keys(state.rows, range(self._keys), wanted))

    def together(self, states: Sequence[OpenSessions]) -> OpenSessions:
        """Return the sessions of all keys."""
        return OpenSessions(tables_together(s.rows for s in states))

    def _taken_in(self, state: OpenSessions, rows: pa.Table, clock: Clock) -> tuple[OpenSessions, int]:
        """Return a state with more rows, and how many were late."""
        came = self._bounded(rows, *self._windows(rows, clock))
        held = state.rows if state.rows.num_rows else came.slice(0, 0)
        known = held.num_rows
        keys = numbered(columns_of(pa.concat_tables([held, came]), range(self._keys)), (), known + came.num_rows).ids
        # Sessions of other keys stay as they are: work grows with the keys touched.
        touched = np.isin(keys[:known], keys[known:])
        work = pa.concat_tables([held.filter(pa.array(touched)), came])
        of_work = _numbers(np.concatenate([keys[:known][touched], keys[known:]]))
        made = self._rules.sessions(of_work, *(integers(whole(work.column(name))) for name in _BOUNDS))
        starts, ends = made.starts[made.groups.ids], made.ends[made.groups.ids]
        # Judged after the merge: a late row may belong to a session that is not over.
        late = ends <= self._horizon.late(clock)
        counts = counts_of(work.column(self._kind))
        dropped = int(np.abs(counts[late]).sum())
        work = self._bounded(work.select(range(work.num_columns - len(_BOUNDS))), starts, ends)
        work = _without_traces(summed(work.filter(pa.array(~late)), self._kind), self._kind, self._keys)
        return OpenSessions(pa.concat_tables([held.filter(pa.array(~touched)), work])), dropped

    def _windows(self, rows: pa.Table, clock: Clock) -> tuple[Ints, Ints]:
        """Return start and end of each row's own window."""
        if not self._by_clock:
            return self._rules.windows(rows)
        assert clock.now is not None, "windows of processing time need the batch clock"
        times = np.full(rows.num_rows, clock.now, np.int64)
        if self._rules.fixed is not None:
            return times, times + self._rules.fixed
        assert self._rules.gap is not None
        return times, times + gaps_of(rows, self._rules.gap)

    def _bounded(self, rows: pa.Table, starts: Ints, ends: Ints) -> pa.Table:
        bounds = zip(_BOUNDS, (starts, ends), strict=True)
        for name, values in bounds:
            rows = rows.append_column(name, pa.array(values, pa.int64()))
        return rows

    def _panes(self, due: pa.Table, clock: Clock) -> pa.Table:
        """Return the results of sessions; one of which all rows were taken back has none."""
        groups = self._groups.step(self._groups.empty(), due.select(self._order), clock).state
        *keys, starts, ends = self._groups.keys_of(groups)
        every = np.ones(len(starts), np.bool_)
        results = self._groups.results_of(groups, every)
        return self._out.only_panes(keys, integers(starts), integers(ends), results, None)

    def _sessions(self, rows: pa.Table) -> int:
        of = (*range(self._keys), *range(rows.num_columns - len(_BOUNDS), rows.num_columns))
        return numbered(columns_of(rows, of), (), rows.num_rows).count if rows.num_rows else 0


def _numbers(ids: Ints) -> Groups:
    """Return groups that are numbered from 0."""
    used, anew = np.unique(ids, return_inverse=True)
    return Groups(anew.astype(np.int64), len(used))


def _without_traces(rows: pa.Table, kind: int, keys: int) -> pa.Table:
    """Return rows without those whose count is 0, but for one of each session that has no others."""
    there = counts_of(rows.column(kind)) != 0
    if there.all():
        return rows
    of = (*range(keys), *range(rows.num_columns - len(_BOUNDS), rows.num_columns))
    sessions = numbered(columns_of(rows, of), (), rows.num_rows)
    lives = np.zeros(sessions.count, np.bool_)
    lives[sessions.ids[there]] = True
    first = np.zeros(rows.num_rows, np.bool_)
    first[sessions.first()] = True
    return rows.filter(pa.array(there | (first & ~lives[sessions.ids])))
