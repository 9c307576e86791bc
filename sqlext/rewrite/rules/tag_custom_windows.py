"""Rule: mark the struct of a window that Spark cannot make itself as event time.

Spark then closes such a window as its own: when the watermark passes the struct's second field, its end.
"""

from __future__ import annotations

from sqlext.plan.nodes import AssignWindows, PlanNode, TagTime


def tag_custom_windows(plan: PlanNode) -> PlanNode:
    """Return the plan with a tag above every custom window of a stream."""

    def rule(node: PlanNode) -> PlanNode:
        if isinstance(node, AssignWindows) and node.custom and node.streaming:
            return TagTime(node.columns, node, node.physical)
        return node

    return plan.transform(rule)
