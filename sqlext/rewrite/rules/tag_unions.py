"""Rule: mark the rowtime of a union as event time where its first branch does not mark it.

Spark gives a union's column the marks of its first branch. That branch may have an ordinary timestamp there, or compute
the time of a window.
"""

from __future__ import annotations

from sqlext.plan.columns import Part
from sqlext.plan.nodes import PlanNode, SetQuery, TagTime


def tag_unions(plan: PlanNode) -> PlanNode:
    """Return the plan with tags above the unions whose first branch loses the mark."""
    return plan.transform(_rule)


def _rule(node: PlanNode) -> PlanNode:
    if not isinstance(node, SetQuery) or not node.streaming:
        return node
    tagged: PlanNode = node
    for own, common in zip(node.branches[0].columns, node.columns, strict=True):
        marked = own.is_rowtime and own.part in (Part.VALUE, Part.INSTANT)
        if common.is_rowtime and not marked:
            tagged = TagTime(node.columns, tagged, common.physical)
    return tagged
