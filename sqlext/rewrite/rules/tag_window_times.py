"""Rule: compute and tag the time of a custom window below Spark's ``window()``.

Spark does not take the struct of a custom window for one of its own. So cascades above it compute ``window_time`` and
mark it.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.nodes import AssignWindows, ComputeTime, PlanNode, TagTime

TIME = "__time"


def tag_window_times(plan: PlanNode) -> PlanNode:
    """Return the plan with computed, tagged times below the windows that need them."""
    return plan.transform(_rule)


def _rule(node: PlanNode) -> PlanNode:
    if not isinstance(node, AssignWindows) or node.custom or node.time.part is not Part.CUSTOM_TIME:
        return node
    time = PlanColumn(TIME, node.time.type, TIME, Part.INSTANT, node.time.time)
    computed = ComputeTime((*node.input.columns, time), node.input, node.time, TIME)
    tagged: PlanNode = TagTime(computed.columns, computed, TIME) if node.streaming else computed
    return replace(node, input=tagged, time=time)
