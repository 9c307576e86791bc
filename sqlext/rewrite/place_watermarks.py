"""Rule: a scan gets its watermark only where a window above waits for it.

Without one, Spark would drop late rows from an aggregate that is to count them all (a GROUP BY without window),
and keep asking for batches that nothing needs.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan.nodes import Aggregate, PlanNode, Scan


def place_watermarks(plan: PlanNode) -> PlanNode:
    """Return the plan with ``watermarked`` set on the scans below windowed aggregates."""
    return _place(plan, needed=False)


def _place(node: PlanNode, needed: bool) -> PlanNode:
    if isinstance(node, Scan):
        return replace(node, watermarked=needed and node.is_stream and node.rowtime is not None)
    needed = needed or (isinstance(node, Aggregate) and node.window is not None)
    inputs = tuple(_place(i, needed) for i in node.inputs)
    return node.with_inputs(inputs) if inputs else node
