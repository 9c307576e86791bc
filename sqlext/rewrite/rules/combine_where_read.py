"""Let our operator keep groups that Spark could keep, where their rows are combined as they are read.

It applies only where Spark keeps nothing else above or below. Chains of windows and joins that are Spark's stay so,
but in one batch groups of groups are ours too: there nothing is kept. Below operators of ours it also applies to
several inputs, and to the first of a chain of windows. Rendering the grouping shows whether Arrow can read the rows
(``arrow.choose_source``).
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan.base import PlanNode, walk
from sqlext.plan.grouping import Aggregate, Combining
from sqlext.plan.nodes import Join
from sqlext.plan.stateful import Operator, Stateful


def with_combining(plan: PlanNode) -> PlanNode:
    """Return the plan whose groupings may be combined where their rows are read only where that can pay."""
    below_ours = any(isinstance(n, Operator) for n in walk(plan))
    alone = sum(map(_kept_by_spark, walk(plan))) == 1
    combining = Combining.BELOW_OURS if below_ours else Combining.WHERE_CHEAPER

    def rule(node: PlanNode) -> PlanNode:
        if not isinstance(node, Aggregate):
            return node
        kept = [n for n in walk(node) if _kept_by_spark(n)]
        if not all(isinstance(n, Aggregate) and _could_be_ours(n) for n in (node, *kept)):
            return replace(node, combining=Combining.NEVER)
        free = alone or (below_ours and len(kept) == 1)
        return replace(node, combining=combining if free else Combining.AT_ONCE)

    return plan.transform(rule)


def _could_be_ours(node: Aggregate) -> bool:
    """Whether Spark keeps groups of a stream whose windows, if there are some, an operator of ours could give."""
    known = node.by.window is None or node.assignment() is not None
    return known and node.firing is not None and node.kept is None


def _kept_by_spark(node: PlanNode) -> bool:
    return isinstance(node, Join) or (isinstance(node, Stateful) and not isinstance(node, Operator))
