"""Rule: windows that Spark could keep may be kept by our operator, where their rows are combined as they are read.

Only where Spark keeps nothing else above or below: chains of windows and joins that are its own stay its own. Below
operators of ours it pays for fewer rows, and for several inputs of them. Whether Arrow can read the rows is seen when
the grouping becomes text (``choose_source``).
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan.explain import walk
from sqlext.plan.nodes import Aggregate, AssignWindows, Join, Operator, PlanNode
from sqlext.plan.stateful import Stateful


def combine_where_read(plan: PlanNode) -> PlanNode:
    """Return the plan whose groupings may be combined where their rows are read only if Spark keeps nothing else."""
    nodes = list(walk(plan))
    below_ours = any(isinstance(n, Stateful) for n in nodes)
    kept = [n for n in nodes if _kept_by_spark(n)]
    chained = any(_kept_by_spark(n) for node in kept for n in walk(node) if n is not node)
    free = len(kept) == 1 or (below_ours and not chained)

    def rule(node: PlanNode) -> PlanNode:
        if not isinstance(node, Aggregate) or node.combining is None:
            return node
        return replace(node, below_ours=below_ours) if free else replace(node, combining=None)

    return plan.transform(rule)


def _kept_by_spark(node: PlanNode) -> bool:
    if isinstance(node, AssignWindows):
        return node.by_rows
    return isinstance(node, (Aggregate, Join, Operator))
