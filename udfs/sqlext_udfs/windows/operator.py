"""Run windows as a bucket operator: rows into windows, partial results into state, panes out.

There are three engines. Where several could run, they give the same panes. Each does more than the one before it.

1. ``one_pane``: each key and window has exactly one pane, when the watermark passes it.
2. ``lanes``: triggers look at groups and windows do not merge, so all groups are decided on at once.
3. ``groups``: everything else. It decides group by group, and only aggregates on whole columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.aggregates.aggregation import Aggregation
from sqlext_udfs.kernel.altered import Altered
from sqlext_udfs.kernel.dividing import Wanted
from sqlext_udfs.kernel.equality import first_rows
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.operator import BucketOperator, Clock, State, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import LATE_ROW, UPDATE_BEFORE
from sqlext_udfs.windows.evictors import Evictors
from sqlext_udfs.windows.groups.engine import WindowEngine
from sqlext_udfs.windows.groups.pane_engine import PaneEngine
from sqlext_udfs.windows.horizon import single_pane_horizon
from sqlext_udfs.windows.lanes.engine import LaneEngine
from sqlext_udfs.windows.lanes.program import lane_program
from sqlext_udfs.windows.lanes.state import LaneStates
from sqlext_udfs.windows.one_pane.engine import OnePaneEngine
from sqlext_udfs.windows.one_pane.limited_sessions import LimitedSessionEngine
from sqlext_udfs.windows.one_pane.pieces import SinglePaneEngine
from sqlext_udfs.windows.one_pane.sessions import SingleSessionEngine
from sqlext_udfs.windows.other_triggers import other_trigger, under
from sqlext_udfs.windows.panes.columns import PartialLayout
from sqlext_udfs.windows.panes.element_maker import ElementMaker
from sqlext_udfs.windows.panes.elements import ElementTiming, timing_of
from sqlext_udfs.windows.panes.pieces import GivenPieces, Pieces, SlicePieces, slicing_of
from sqlext_udfs.windows.panes.session_rules import SessionRules
from sqlext_udfs.windows.panes.table import PaneTable
from sqlext_udfs.windows.policy import LimitedSession, Policy, Session
from sqlext_udfs.windows.specification import PANE_COLUMNS, WindowSpecification, output_types
from sqlext_udfs.windows.triggers.conditions import PaneCondition
from sqlext_udfs.windows.triggers.hooks import Triggers
from sqlext_udfs.windows.triggers.rules import batch_insensitive
from sqlext_udfs.windows.triggers.tree import When, tree

# Columns of bounds of a session: its start and its end.
_BOUNDS = 2
# The number of the engine that decides group by group.
_ALONE = 3


#: Each is a bucket operator over a state of its own.
Engine = BucketOperator[Any]


class WindowOperator(BucketOperator[Any]):
    """Compute windows with the first engine that can.

    The columns that come out are those of ``output_types``.

    Args:
        specification: what is computed.
        types: of the columns that go in.
        triggers: registered triggers, by name.
        evictors: registered evictors, by name.
        least: the number of the first engine that may run, from 1 to 3 as above; tests compare engines by it.

    Raises:
        SqlExtError: FUNC-022 for an aggregate that there is not, or not for these types.
        ValueError: for a policy that the planner should have refused.
    """

    def __init__(
        self,
        specification: WindowSpecification,
        types: Sequence[pa.DataType],
        triggers: Triggers | None = None,
        evictors: Evictors | None = None,
        *,
        least: int = 1,
    ) -> None:
        panes = PaneTable(output_types(specification, types), specification.keys)
        engine = _one_pane(specification, types, panes) if least == 1 else None
        # Plain values: an operator is pickled.
        self._of, self._types, self._hooks = specification, types, (triggers, evictors)
        self._alone = least == _ALONE
        self._engine = self._any_panes(specification.policy) if engine is None else engine

    def _any_panes(self, policy: Policy) -> LaneEngine | PaneEngine:
        """Return the engine for a policy that differs from its own in the trigger alone."""
        of = replace(self._of, policy=policy)
        panes = PaneTable(output_types(of, self._types), of.keys)
        compiled = WindowEngine(policy, _conditions(policy), *self._hooks, closed=of.closed)
        return _any_panes(of, self._types, panes, compiled, alone=self._alone)

    @property
    def partial_layout(self) -> PartialLayout | None:
        """The order of the columns of partial results; None where ``partial`` gives rows as they are, or other ones."""
        engine = self._engine
        return engine.layout if isinstance(engine, OnePaneEngine) and engine.combines else None

    def ends_of(self, rows: pa.Table) -> tuple[Ints, Ints]:
        """Return the ends of the first and of the last window of each piece that rows, or partial results, are in.

        Raises:
            ValueError: for windows that are not made of pieces, or that give several panes.
        """
        if not isinstance(self._engine, SinglePaneEngine):
            raise ValueError("these windows have no pieces")
        return self._engine.ends_of(rows)

    @property
    def separable(self) -> bool:
        """Whether keys go their own way in the engine."""
        return self._engine.separable

    @property
    def reads_levels(self) -> bool:
        """Whether there may be levels: another trigger, under which the query began, may have had them."""
        return self.separable or isinstance(self._engine, PaneEngine)

    @property
    def takes_rows(self) -> bool:
        """Whether rows can come as they are."""
        return self._engine.takes_rows

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return rows, or partial results of them; the bucket stays the last column."""
        return self._engine.partial(rows)

    def gathered(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Return partial results, or rows, as one table."""
        return self._engine.gathered(tables)

    def empty(self) -> Any:
        """Return the state without windows."""
        return self._engine.empty()

    def step(self, state: Any, rows: pa.Table | None, clock: Clock) -> StepResult[Any]:
        """Do a micro-batch.

        Raises:
            SqlExtError: RUN-035 for a SUM that overflows, RUN-036 for a row without event time, RUN-037 for one
                without session gap.
        """
        return self._engine.step(state, rows, clock)

    def next_wakeup(self, state: Any) -> Wakeup:
        """Return when there is something to do without rows."""
        return self._engine.next_wakeup(state)

    def encode(self, state: Any) -> bytes:
        """Return a state as bytes."""
        return self._engine.encode(state)

    def decode(self, data: bytes) -> Any:
        """Return the state of bytes, also where it was written under other EARLY and LATE parts."""
        engine, trigger = self._engine, None
        if isinstance(engine, LaneEngine | PaneEngine):
            trigger = other_trigger(data, self._of.policy)
        if trigger is None:
            return engine.decode(data)
        assert isinstance(engine, LaneEngine | PaneEngine)
        before = self._any_panes(replace(self._of.policy, trigger=trigger))
        return engine.of_panes(under(before.panes_of(data), before.plan, engine.plan))

    def of_encoded(self, data: bytes, wanted: Wanted) -> Any:
        """Return what a state's bytes know of some keys."""
        if self.is_current(data):
            return self._engine.of_encoded(data, wanted)
        return self.of_keys(self.decode(data), wanted)

    def is_current(self, data: bytes) -> bool:
        """Return whether a state was written under these EARLY and LATE parts."""
        return not isinstance(self._engine, LaneEngine | PaneEngine) or other_trigger(data, self._of.policy) is None

    def open_groups(self, state: Any) -> int:
        """Return how many the engine counts."""
        return self._engine.open_groups(state)

    def of_keys(self, state: Any, wanted: Wanted) -> Any:
        """Return the windows of some keys."""
        return self._engine.of_keys(state, wanted)

    def together(self, states: Sequence[Any]) -> Any:
        """Return the windows of all keys."""
        return self._engine.together(states)


def _one_pane(of: WindowSpecification, types: Sequence[pa.DataType], panes: PaneTable) -> Engine | None:
    """Return the engine on whole columns, if the policy is one for it."""
    horizon, pieces, rules = single_pane_horizon(of.policy, of.closed), _pieces(of), _session_rules(of)
    if horizon is None:
        return None
    if rules is not None:
        # Places: sessions that merge have rows that came in turn, so their lists are not one after the other.
        layout = PartialLayout(of.keys, _BOUNDS, Aggregation(of.aggregates, types, places=True))
        if isinstance(of.policy.window, LimitedSession):
            return LimitedSessionEngine(rules, of.policy.window.limit, layout, horizon, panes, of.row)
        return SingleSessionEngine(rules, layout, horizon, panes, of.row)
    if pieces is None:
        return None
    layout = PartialLayout(of.keys, pieces.columns, Aggregation(of.aggregates, types, places=pieces.shared))
    return SinglePaneEngine(pieces, layout, horizon, panes, of.row)


def _any_panes(
    of: WindowSpecification,
    types: Sequence[pa.DataType],
    panes: PaneTable,
    engine: WindowEngine,
    *,
    alone: bool,
) -> LaneEngine | PaneEngine:
    """Return the engine for any policy.

    Args:
        of: what is computed.
        types: of the columns that go in.
        panes: makes the output.
        engine: the compiled policy.
        alone: whether groups are decided on one by one also where they need not.
    """
    rules = _session_rules(of)
    if rules is not None and isinstance(of.policy.window, LimitedSession):
        raise ValueError("sessions with a maximum length give one pane")
    timing: ElementTiming = timing_of(of, slicing_of(of.policy.window), rules)
    # Lateness that is judged row by row needs the rows themselves.
    combines = batch_insensitive(of.policy) and (rules is None or not rules.own_window)
    merging = timing.shared or isinstance(of.policy.window, Session)
    layout = PartialLayout(of.keys, timing.columns, Aggregation(of.aggregates, types, places=merging))
    maker = ElementMaker(timing, layout, of.values, combines=combines, early=of.row is None)
    root = None if alone else lane_program(engine.plan)
    if root is None:
        return PaneEngine(engine, maker, panes, of.row)
    written = layout.aggregation.output_types if of.policy.mode == "RETRACTING" else ()
    written = (*written, *(t for _, t in PANE_COLUMNS[:-1])) if written else ()
    states = LaneStates(engine.plan, tuple(panes.key_types), layout.aggregation, written)
    return LaneEngine(engine.plan, root, maker, states, panes, of.row)


def _conditions(policy: Policy) -> dict[str, PaneCondition]:
    """Return the conditions of WHEN: each is its own name."""
    texts = [t.condition for t in tree(policy.trigger) if isinstance(t, When)]
    return {text: PaneCondition(text) for text in texts}


def _session_rules(of: WindowSpecification) -> SessionRules | None:
    window, options = of.policy.window, of.policy.options
    if not isinstance(window, Session) or of.time is None or of.start is not None or of.policy.processing_time:
        return None
    own_window = options.late_check == "before_merge"
    return SessionRules(of.time, of.gap, window.gap, options.session_gap == "inclusive", own_window)


def _pieces(of: WindowSpecification) -> Pieces | None:
    if of.start is not None and of.end is not None:
        return GivenPieces(of.start, of.end)
    slicing = slicing_of(of.policy.window)
    return SlicePieces(slicing, of.time) if slicing is not None and of.time is not None else None


#: Where ``row_kind`` stands, from the end: behind it are the late row and its watermark.
_KIND = -3
assert PANE_COLUMNS[-1][0] == "row_kind"


class Latest(Altered[State]):
    """Give only the last pane of each key and window in a micro-batch, and no rows that take back.

    A table that is kept by key can show no more. Late rows come out too.

    Args:
        operator: the window operator.
        keys: how many of its first output columns are the key; the window's start and end stand behind them.
    """

    def __init__(self, operator: BucketOperator[State], keys: int) -> None:
        super().__init__(operator)
        self._named = keys + 2

    def altered(self, out: pa.Table) -> pa.Table:
        """Return the last row of each key and window, and the late rows."""
        if not out.num_rows:
            return out
        kinds = out.column(out.num_columns + _KIND)
        late = out.filter(pc.equal(kinds, LATE_ROW))
        panes = out.filter(pc.less(kinds, LATE_ROW))
        panes = panes.filter(pc.not_equal(panes.column(panes.num_columns + _KIND), UPDATE_BEFORE))
        # ``first_rows`` keeps the first of equal ones, so the last pane must stand first.
        backwards = panes.take(np.arange(panes.num_rows - 1, -1, -1))
        last = backwards.take(first_rows(backwards.select(range(self._named))))
        return pa.concat_tables([last, late])
