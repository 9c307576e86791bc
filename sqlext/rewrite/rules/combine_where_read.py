"""Rule: groups that Spark could keep may be kept by our operator, where their rows are combined as they are read.

Only where Spark keeps nothing else above or below: chains of windows and joins that are its own stay its own. Below
operators of ours it pays for fewer rows, and for several inputs of them; of a chain of windows there, for the first.
Whether Arrow can read the rows is seen when the grouping becomes text (``choose_source``).
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
