"""Rule: a scan gets its watermark only where a window above waits for it.

Without one, Spark would drop late rows from an aggregate that is to count them all (a GROUP BY without window),
and keep asking for batches that nothing needs.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan.nodes import Aggregate, AssignWindows, PlanNode, Scan
from sqlext.plan.stateful import Stateful


def place_watermarks(plan: PlanNode) -> PlanNode:
    """Return the plan with ``watermarked`` set on the scans below windowed aggregates."""
    return _place(plan, needed=False)


def _place(node: PlanNode, needed: bool) -> PlanNode:
    if isinstance(node, Scan):
        return replace(node, watermarked=needed and node.is_stream and node.rowtime is not None)
    needed = needed or _waits(node)
    inputs = tuple(_place(i, needed) for i in node.inputs)
    return node.with_inputs(inputs) if inputs else node


def _waits(node: PlanNode) -> bool:
    """Whether a node gives its rows when the watermark passes a window."""
    if isinstance(node, AssignWindows):
        return node.by_rows
    if isinstance(node, Stateful):
        return node.event_time
    if not isinstance(node, Aggregate):
        return False
    return node.firing.event_time if node.firing is not None else node.window is not None
