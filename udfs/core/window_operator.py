"""Windows as a bucket operator: rows into windows, partial results into state, panes out.

There are two engines. Policies that give each key and window exactly one pane when the watermark passes it run on
whole columns (one_pane_engine.py). Under all others the trigger engine decides, group by group, and only the
aggregation is done on whole columns (pane_engine.py). Where both could run, they give the same panes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import pyarrow as pa

from sqlext.udfs.core.aggregation import Aggregation
from sqlext.udfs.core.conditions import PaneCondition
from sqlext.udfs.core.element_maker import ElementMaker
from sqlext.udfs.core.elements import Timing, timing_of
from sqlext.udfs.core.horizon import single_pane_horizon
from sqlext.udfs.core.operators import BucketOperator, Clock, Step, Wakeup
from sqlext.udfs.core.pane_engine import PaneEngine
from sqlext.udfs.core.pane_table import PaneTable
from sqlext.udfs.core.policy import Policy, Session
from sqlext.udfs.core.session_rules import SessionRules
from sqlext.udfs.core.single_pane import SinglePaneEngine
from sqlext.udfs.core.single_session import SingleSessionEngine
from sqlext.udfs.core.trigger_hooks import Triggers
from sqlext.udfs.core.trigger_rules import batch_insensitive
from sqlext.udfs.core.trigger_tree import When, tree
from sqlext.udfs.core.window_columns import Layout
from sqlext.udfs.core.window_engine import WindowEngine
from sqlext.udfs.core.window_evictors import Evictors
from sqlext.udfs.core.window_pieces import GivenPieces, Pieces, SlicePieces, slicing_of
from sqlext.udfs.core.window_specification import WindowSpecification, output_types

_BOUNDS = 2


class Engine(Protocol):
    """What the engines have in common: a bucket operator over a state of its own."""

    def partial(self, rows: pa.Table) -> pa.Table:
        """Do what can be done before rows travel."""

    def empty(self) -> Any:
        """Return the state without windows."""

    def step(self, state: Any, rows: pa.Table | None, clock: Clock) -> Step[Any]:
        """Do a micro-batch."""

    def next_wakeup(self, state: Any) -> Wakeup:
        """Return when there is something to do without rows."""

    def encode(self, state: Any) -> bytes:
        """Return a state as bytes."""

    def decode(self, data: bytes) -> Any:
        """Return the state of bytes."""


class WindowOperator(BucketOperator[Any]):
    """A bucket operator.

    Args:
        specification: what is computed.
        types: of the columns that go in.
        triggers: registered triggers, by name.
        evictors: registered evictors, by name.
        general: whether the trigger engine decides also where it need not.

    Raises:
        SqlExtError: FUNC-022 for aggregates that there are not.
        ValueError: for a policy that the planner should have refused.
    """

    def __init__(
        self,
        specification: WindowSpecification,
        types: Sequence[pa.DataType],
        triggers: Triggers | None = None,
        evictors: Evictors | None = None,
        *,
        general: bool = False,
    ) -> None:
        panes = PaneTable(output_types(specification, types), specification.keys)
        engine = None if general else _one_pane(specification, types, panes)
        self._engine = engine or _any_panes(specification, types, panes, triggers, evictors)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return rows, or partial results of them; the bucket stays the last column."""
        return self._engine.partial(rows)

    def empty(self) -> Any:
        """Return the state without windows."""
        return self._engine.empty()

    def step(self, state: Any, rows: pa.Table | None, clock: Clock) -> Step[Any]:
        """Do a micro-batch.

        Raises:
            SqlExtError: RUN-035 for a SUM that overflows, RUN-036 for a row without event time, RUN-037 for one
                without session gap.
        """
        return self._engine.step(state, rows, clock)

    def process(self, state: Any, rows: pa.Table | None, clock: Clock) -> tuple[Any, pa.Table]:
        """Do a micro-batch, and return only the state and the rows that come out."""
        step = self.step(state, rows, clock)
        return step.state, step.out

    def next_wakeup(self, state: Any) -> Wakeup:
        """Return when there is something to do without rows."""
        return self._engine.next_wakeup(state)

    def encode(self, state: Any) -> bytes:
        """Return a state as bytes."""
        return self._engine.encode(state)

    def decode(self, data: bytes) -> Any:
        """Return the state of bytes."""
        return self._engine.decode(data)


def _one_pane(of: WindowSpecification, types: Sequence[pa.DataType], panes: PaneTable) -> Engine | None:
    """Return the engine on whole columns, if the policy is one for it."""
    horizon, pieces, rules = single_pane_horizon(of.policy), _pieces(of), _session_rules(of)
    if horizon is None:
        return None
    if rules is not None:
        layout = Layout(of.keys, _BOUNDS, Aggregation(of.aggregates, types, places=True))
        return SingleSessionEngine(rules, layout, horizon, panes, of.row)
    if pieces is None:
        return None
    layout = Layout(of.keys, pieces.columns, Aggregation(of.aggregates, types, places=pieces.shared))
    return SinglePaneEngine(pieces, layout, horizon, panes, of.row)


def _any_panes(
    of: WindowSpecification,
    types: Sequence[pa.DataType],
    panes: PaneTable,
    triggers: Triggers | None,
    evictors: Evictors | None,
) -> Engine:
    """Return the engine for any policy."""
    rules = _session_rules(of)
    timing: Timing = timing_of(of, slicing_of(of.policy.window), rules)
    # Lateness that is judged row by row needs the rows themselves.
    combines = batch_insensitive(of.policy) and (rules is None or not rules.own_window)
    merging = timing.shared or isinstance(of.policy.window, Session)
    layout = Layout(of.keys, timing.columns, Aggregation(of.aggregates, types, places=merging))
    maker = ElementMaker(timing, layout, of.values, combines=combines, early=of.row is None)
    engine = WindowEngine(of.policy, _conditions(of.policy), triggers, evictors)
    return PaneEngine(engine, maker, panes, of.row)


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
