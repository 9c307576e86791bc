"""How the panes of a grouping come out, where Spark's own operators cannot say it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.catalog.model import Table
from sqlext.dialect.expression_nodes import Expr
from sqlext.udfs.core.policy import Global, Policy
from sqlext.udfs.core.trigger_tree import AfterDelay, AfterIdle, EveryAligned, EveryPeriod, Timeout, Using, tree


@dataclass(frozen=True, slots=True)
class Firing:
    """The stateful side of a grouping.

    Attributes:
        policy: which windows, when panes fire, and what is in them.
        given: whether SQL has given the rows their windows, before the operator.
        why: what Spark has no operator for, for EXPLAIN.
        once: whether a key and window has one pane at most: then its rows are final.
        changelog: whether rows carry their kind (-U and -D too).
        gap: the gap of a session as an expression of its rows.
        values: numbers of a row that triggers and evictors look at, by their number in the policy.
        late_table: where rows that come too late are kept.
        text: the EMIT clause as it was understood, for EXPLAIN and the fingerprint.
    """

    policy: Policy
    given: bool
    why: tuple[str, ...]
    once: bool = True
    changelog: bool = False
    gap: Expr | None = None
    values: tuple[Expr, ...] = ()
    late_table: Table | None = None
    text: str = ""

    @property
    def event_time(self) -> bool:
        """Whether the watermark means anything to it."""
        return not self.policy.processing_time and not isinstance(self.policy.window, Global)

    @property
    def uses_clock(self) -> bool:
        """Whether it asks for processing time."""
        timers = (AfterDelay, EveryPeriod, EveryAligned, AfterIdle, Timeout, Using)
        parts = tree(self.policy.trigger)
        waits = self.policy.timeout is not None or any(isinstance(t, timers) for t in parts)
        return self.policy.processing_time or waits
