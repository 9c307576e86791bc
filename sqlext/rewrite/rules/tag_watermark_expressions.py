"""Rule: give a watermark that is no constant delay a column of its own, and tag the rowtime.

The same holds for a watermark that rows do not move. Spark's watermark is the largest value of a column minus a
constant. So the declared expression becomes that column, with delay 0, and leaves again. The rowtime is then marked as
event time (``TagTime``).
"""

from __future__ import annotations

from sqlext.plan.nodes import PlanNode, Scan, TagTime
from sqlext.rewrite.script.begun import has_splits


def tag_watermark_expressions(plan: PlanNode) -> PlanNode:
    """Return the plan with a tag above every watermarked scan whose watermark is an expression."""

    def rule(node: PlanNode) -> PlanNode:
        if (
            isinstance(node, Scan)
            and node.watermarked
            and node.rowtime
            and (node.marked or node.paced or has_splits(node))
        ):
            return TagTime(node.columns, node, node.rowtime)
        return node

    return plan.transform(rule)
