"""Decide on panes: one call per micro-batch and bucket, which aggregates nothing.

It touches the groups that get rows or have a deadline due, however many others are open.
"""

from __future__ import annotations

from sqlext_udfs.kernel.clock import BEFORE_ALL
from sqlext_udfs.kernel.operator import Clock, Wakeup
from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.evictors import Evictors
from sqlext_udfs.windows.groups.run import GroupRun
from sqlext_udfs.windows.groups.state import WindowState
from sqlext_udfs.windows.panes.rows import ElementRows, PaneDecisions
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.triggers.hooks import Conditions, Triggers
from sqlext_udfs.windows.triggers.rules import uses_clock


class WindowEngine:
    """The semantics of windows under any policy.

    Args:
        policy: what to do.
        conditions: the conditions of WHEN, by name.
        triggers: registered triggers, by name.
        evictors: registered evictors, by name.
        closed: as of ``WindowSpecification``.

    Raises:
        ValueError: if the trigger cannot be used with the window, or a name is not registered.
    """

    def __init__(
        self,
        policy: Policy,
        conditions: Conditions | None = None,
        triggers: Triggers | None = None,
        evictors: Evictors | None = None,
        *,
        closed: int = BEFORE_ALL,
    ) -> None:
        self.policy = policy
        self.plan = CompiledPolicy(policy, conditions or {}, triggers or {}, evictors or {}, closed)

    def empty(self) -> WindowState:
        """Return the state before the first step."""
        return self.plan.layout.empty()

    def wakeup(self, state: WindowState) -> Wakeup:
        """Return when a step is needed although no rows come: the watermark and the batch clock (ms)."""
        return state.wakeup(self.policy.timeout)

    def step(self, state: WindowState, rows: ElementRows, clock: Clock, last_row: int | None = None) -> PaneDecisions:
        """Return what a micro-batch does.

        Args:
            state: before; it is not changed.
            rows: in order of arrival.
            clock: rows are late, and rows and the batch clock make panes, by the watermark of the batch before.
                Windows end by the current one (M6, M7). ``Clock.END`` is the end of input.
            last_row: the batch clock (ms) of the last micro-batch in which the query had rows, of any bucket; None: of
                the last one in which this state had rows. Only timeouts of the query ask for it.

        Raises:
            ValueError: if the clock or the rows lack something that the policy needs.
        """
        if clock.now is None and uses_clock(self.policy):
            raise ValueError("this policy needs the batch clock")
        if not self.plan.combines and rows.count is not None and (rows.count != 1).any():
            raise ValueError("rows were combined, but this trigger looks at single rows")
        return GroupRun(self.plan, state, rows, clock, last_row).decide()
