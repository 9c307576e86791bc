"""Tell Spark which columns are event time: watermarks of scans, and marks where Spark sees none.

Spark closes windows and drops late rows by columns that carry its mark. ``place_watermarks`` gives scans their
watermarks. The other rules put a ``TagTime`` above a node whose output loses the mark, or never had it.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan.base import PlanNode
from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import AssignWindows, ComputeTime, Scan, SetQuery, TagTime, WindowKind, WindowSpec
from sqlext.rewrite.script.begun import has_splits
from sqlext.watermarks.ends import Ends, MonthEnds, RowEnds, SessionEnd, WindowEnds

TIME = "__time"
#: No zone puts its clock on or back by more (ms).
_SHIFT = 2 * 3_600_000


def place_watermarks(plan: PlanNode) -> PlanNode:
    """Return the plan with ``watermarked`` and ``ends`` set on the scans below what waits for a watermark.

    That is a window, an operator, or a DataFrame. With a needless watermark, Spark would drop late rows from an
    aggregate that is to count them all (a GROUP BY without window). It would also keep asking for batches that nothing
    needs.
    """
    return _place(plan, (), needed=False)


def _place(node: PlanNode, ends: tuple[WindowEnds, ...], *, needed: bool) -> PlanNode:
    if isinstance(node, Scan):
        watermarked = needed and node.is_stream and node.rowtime is not None
        return replace(node, watermarked=watermarked, ends=ends if watermarked else ())
    needed = needed or node.event_time
    if isinstance(node, Aggregate):  # windows above it come later than those below
        ends = ()
    elif isinstance(node, AssignWindows) and not node.spec.processing and node.spec.kind is not WindowKind.SLIDE:
        ends = (*ends, _ends(node.spec))
    inputs = tuple(_place(i, ends, needed=needed) for i in node.inputs)
    if isinstance(node, Aggregate) and node.filled is not None:  # its keys have no time
        inputs = (inputs[0], _place(node.filled, (), needed=False))
    return node.with_inputs(inputs) if inputs else node


def _ends(spec: WindowSpec) -> WindowEnds:
    if spec.kind is WindowKind.SESSION:
        return SessionEnd(spec.size)
    if spec.row_offset is not None:
        return RowEnds(spec.size + (_SHIFT if spec.wall_clock is not None else 0))
    if spec.months is not None and spec.months.slide:
        months = spec.months
        first = months.offset + (months.size if spec.kind is WindowKind.HOP else 0)
        return MonthEnds(months.slide, first, spec.offset, spec.wall_clock)
    # HOP windows end at start + size. TUMBLE and CUMULATE have an end at every multiple of the slide.
    offset = spec.offset + (spec.size if spec.kind is WindowKind.HOP else 0)
    return Ends(spec.slide, offset % spec.slide, spec.wall_clock)


def tag_watermark_expressions(plan: PlanNode) -> PlanNode:
    """Return the plan with a tag above every watermarked scan whose watermark is no constant delay.

    Spark's watermark is the largest value of a column minus a constant. So the scan gives the declared expression as
    that column, with delay 0, and takes it away again. The rowtime is then marked. The same holds for a watermark that
    rows do not move.
    """

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


def tag_unions(plan: PlanNode) -> PlanNode:
    """Return the plan with tags above the unions whose first branch has no mark.

    Spark gives a union's column the marks of its first branch. That branch may have an ordinary timestamp there, or
    compute the time of a window.
    """
    return plan.transform(_tag_union)


def _tag_union(node: PlanNode) -> PlanNode:
    if not isinstance(node, SetQuery) or not node.streaming:
        return node
    tagged: PlanNode = node
    for own, common in zip(node.branches[0].columns, node.columns, strict=True):
        # Any other part is computed in the branch, and an expression loses Spark's mark.
        marked = own.is_rowtime and own.part in (Part.VALUE, Part.INSTANT)
        if common.is_rowtime and not marked:
            tagged = TagTime(node.columns, tagged, common.physical)
    return tagged


def tag_window_times(plan: PlanNode) -> PlanNode:
    """Return the plan with computed, tagged times below Spark's windows over custom windows.

    Spark's ``window()`` takes no struct that is not one of its own: the time of a custom window is a column here.
    """
    return plan.transform(_tag_window)


def _tag_window(node: PlanNode) -> PlanNode:
    if not isinstance(node, AssignWindows) or node.custom or node.time.part is not Part.CUSTOM_TIME:
        return node
    time = PlanColumn(TIME, node.time.type, TIME, Part.INSTANT, node.time.time)
    computed = ComputeTime((*node.input.columns, time), node.input, node.time, TIME)
    tagged: PlanNode = TagTime(computed.columns, computed, TIME) if node.streaming else computed
    return replace(node, input=tagged, time=time)


def tag_custom_windows(plan: PlanNode) -> PlanNode:
    """Return the plan with a tag above every custom window of a stream: one that Spark cannot make itself.

    Spark then closes it as its own: when the watermark passes the struct's second field, the window's end.
    """

    def rule(node: PlanNode) -> PlanNode:
        if isinstance(node, AssignWindows) and node.custom and node.streaming:
            return TagTime(node.columns, node, node.physical)
        return node

    return plan.transform(rule)
