"""Rule: windows that Spark could keep may be kept by our operator, where their rows are combined as they are read.

Only where it is the one step with state: chains of windows and joins stay Spark's own. Whether Arrow can read the rows
is seen when the grouping becomes text (``choose_source``).
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan.explain import walk
from sqlext.plan.nodes import Aggregate, AssignWindows, Join, Operator, PlanNode
from sqlext.plan.stateful import Stateful


def combine_where_read(plan: PlanNode) -> PlanNode:
    """Return the plan whose grouping may be combined where its rows are read only if nothing else has state."""
    with_state = [n for n in walk(plan) if _has_state(n)]

    def rule(node: PlanNode) -> PlanNode:
        if isinstance(node, Aggregate) and node.combining is not None and len(with_state) > 1:
            return replace(node, combining=None)
        return node

    return plan.transform(rule)


def _has_state(node: PlanNode) -> bool:
    if isinstance(node, AssignWindows):
        return node.by_rows
    return isinstance(node, (Aggregate, Join, Operator, Stateful))
