"""Rule: the struct of a window that Spark cannot make itself is marked as event time.

Spark then closes such a window when the watermark passes the struct's second field, its end, as with its own.
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
