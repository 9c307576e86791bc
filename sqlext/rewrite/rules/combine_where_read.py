"""Rule: let our operator keep groups that Spark could keep, where their rows are combined as they are read.

It applies only where Spark keeps nothing else above or below. Chains of windows and joins that are Spark's stay so.
Below operators of ours it also applies to several inputs, and to the first of a chain of windows. Rendering the
grouping shows whether Arrow can read the rows (``arrow.choose_source``).
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan.base import walk
from sqlext.plan.nodes import Aggregate, AssignWindows, Join, Operator, PlanNode
from sqlext.plan.stateful import Stateful


def combine_where_read(plan: PlanNode) -> PlanNode:
    """Return the plan whose groupings may be combined where their rows are read only where that can pay."""
    below_ours = any(isinstance(n, Stateful) for n in walk(plan))
    alone = sum(map(_kept_by_spark, walk(plan))) == 1

    def rule(node: PlanNode) -> PlanNode:
        if not isinstance(node, Aggregate) or node.combining is None:
            return node
        free = alone or (below_ours and sum(map(_kept_by_spark, walk(node))) == 1)
        return replace(node, below_ours=below_ours) if free else replace(node, combining=None)

    return plan.transform(rule)


def _kept_by_spark(node: PlanNode) -> bool:
    if isinstance(node, AssignWindows):
        return node.by_rows
    return isinstance(node, (Aggregate, Join, Operator))
