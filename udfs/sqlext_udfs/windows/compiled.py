"""Compile a policy: compute once what every step of an engine uses."""

from __future__ import annotations

from sqlext_udfs.kernel.clock import BEFORE_ALL
from sqlext_udfs.windows.evictors import Eviction, Evictors
from sqlext_udfs.windows.groups.state import StateLayout
from sqlext_udfs.windows.policy import Policy, Session
from sqlext_udfs.windows.triggers.hooks import Conditions, Triggers
from sqlext_udfs.windows.triggers.moment import TriggerMoment
from sqlext_udfs.windows.triggers.program import TriggerProgram
from sqlext_udfs.windows.triggers.rules import batch_insensitive


class CompiledPolicy:
    """A policy with everything that follows from it alone.

    Args:
        policy: what to do.
        conditions, triggers, evictors: those of users, by the names that the policy has for them.
        closed: as of ``WindowSpecification``.

    Attributes:
        policy: what to do.
        program: its trigger.
        layout: the columns of its state.
        eviction: its evictor; None without one.
        sessions: whether windows merge.
        inclusive: whether sessions that touch are one.
        combines: whether a group's rows of one step may be added at once.
        lateness: in ms; windows of the batch clock have none.
        closed: up to which end (ms) windows take no rows, whatever the watermark says.

    Raises:
        ValueError: if the trigger cannot be used with the window, or a name is not registered.
    """

    def __init__(
        self,
        policy: Policy,
        conditions: Conditions,
        triggers: Triggers,
        evictors: Evictors,
        closed: int = BEFORE_ALL,
    ) -> None:
        self.policy = policy
        self.closed = closed
        self.program = TriggerProgram(policy, conditions, triggers)
        self.layout = StateLayout(policy, self.program)
        self.eviction = None if policy.evictor is None else Eviction(policy.evictor, evictors)
        self.sessions = isinstance(policy.window, Session)
        self.inclusive = policy.options.session_gap == "inclusive"
        self.combines = batch_insensitive(policy)
        # Rows of processing time arrive at the clock, so none of them is ever late.
        self.lateness = 0 if policy.processing_time else policy.lateness

    def moment(self) -> TriggerMoment:
        """Return what a step begins with."""
        options = self.policy.options
        return TriggerMoment(
            strict=options.deadline == "after",
            last_ms=options.window_end == "last_ms",
            each=options.missed_firings == "each",
            merging=self.sessions,
        )
