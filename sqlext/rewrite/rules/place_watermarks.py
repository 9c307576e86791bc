"""Give a scan its watermark only where something above waits for it: a window, an operator, a DataFrame.

With a needless watermark, Spark would drop late rows from an aggregate that is to count them all (a GROUP BY without
window). It would also keep asking for batches that nothing needs.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan.base import PlanNode
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import AssignWindows, Scan
from sqlext.plan.windows import WindowKind, WindowSpec
from sqlext.watermarks.ends import Ends, SessionEnd


def place_watermarks(plan: PlanNode) -> PlanNode:
    """Return the plan with ``watermarked`` and ``ends`` set on the scans below windowed aggregates."""
    return _place(plan, (), needed=False)


def _place(node: PlanNode, ends: tuple[Ends | SessionEnd, ...], *, needed: bool) -> PlanNode:
    if isinstance(node, Scan):
        watermarked = needed and node.is_stream and node.rowtime is not None
        return replace(node, watermarked=watermarked, ends=ends if watermarked else ())
    needed = needed or node.event_time
    if isinstance(node, Aggregate):  # windows above it come later than those below
        ends = ()
    elif isinstance(node, AssignWindows) and not node.spec.processing:
        ends = (*ends, _ends(node.spec))
    inputs = tuple(_place(i, ends, needed=needed) for i in node.inputs)
    return node.with_inputs(inputs) if inputs else node


def _ends(spec: WindowSpec) -> Ends | SessionEnd:
    if spec.kind is WindowKind.SESSION:
        return SessionEnd(spec.size)
    offset = spec.offset + (spec.size if spec.kind is WindowKind.HOP else 0)
    return Ends(spec.slide, offset % spec.slide, spec.wall_clock)
