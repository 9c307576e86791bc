"""Compile a trigger for many groups at once, from the one for a single group."""

from __future__ import annotations

from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.lanes.composites import (
    LaneAll,
    LaneAny,
    LaneEach,
    LaneTimeout,
    LaneUntil,
    LaneWatermark,
    LaneWrap,
)
from sqlext_udfs.windows.lanes.nodes import LaneCount, LaneDelay, LaneEventPeriod, LaneIdle, LaneNode, LanePeriod
from sqlext_udfs.windows.triggers.composites import AllNode, AnyNode, EachNode, PurgingNode, RepeatNode, UntilNode
from sqlext_udfs.windows.triggers.nodes import CountNode, TriggerNode
from sqlext_udfs.windows.triggers.phase_nodes import TimeoutNode, WatermarkNode
from sqlext_udfs.windows.triggers.time_nodes import DelayNode, EventPeriodNode, IdleNode, PeriodNode

# By exact class, so that a new kind of node is not taken for another one.
_COMPOSITES: dict[type[TriggerNode], type[LaneNode]] = {
    AllNode: LaneAll,
    AnyNode: LaneAny,
    EachNode: LaneEach,
    UntilNode: LaneUntil,
    RepeatNode: LaneWrap,
    PurgingNode: LaneWrap,
}


def lane_program(plan: CompiledPolicy) -> LaneNode | None:
    """Return the trigger of a policy for many groups at once; None where groups must be looked at one by one.

    That is so where windows merge, rows are evicted, missed periods fire one by one, or a trigger looks at single rows
    or waits for the query to be idle.
    """
    policy = plan.policy
    alone = plan.sessions or not plan.combines or policy.options.missed_firings == "each" or policy.asks_last_row
    # Bits are one 64-bit column here; a trigger that needs more words goes to the other engine.
    if alone or plan.program.words > 1:
        return None
    return _lane_node(plan.program.root)


def _lane_node(node: TriggerNode) -> LaneNode | None:
    made = _leaf(node)
    if made is not None:
        return made
    if isinstance(node, TimeoutNode):
        part = _lane_node(node.of)
        return None if part is None else LaneTimeout(node, part)
    if isinstance(node, WatermarkNode):
        early, late = (None if n is None else _lane_node(n) for n in (node.early, node.late))
        missing = (early is None) != (node.early is None) or (late is None) != (node.late is None)
        return None if missing else LaneWatermark(node, early, late)
    make = _COMPOSITES.get(type(node))
    parts = [_lane_node(p) for p in node.parts]
    known = [p for p in parts if p is not None]
    return make(node, *known) if make is not None and len(known) == len(parts) else None


def _leaf(node: TriggerNode) -> LaneNode | None:
    if type(node) is TriggerNode:
        return LaneNode(node)
    if isinstance(node, CountNode) and not node.exact:
        return LaneCount(node)
    if isinstance(node, DelayNode):
        return LaneDelay(node)
    if isinstance(node, IdleNode) and not node.of_query:
        return LaneIdle(node)
    if isinstance(node, PeriodNode):
        return LanePeriod(node)
    return LaneEventPeriod(node) if isinstance(node, EventPeriodNode) else None
