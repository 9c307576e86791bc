"""Convert the frames of OVER to rows or milliseconds."""

from __future__ import annotations

from typing import Literal

from sqlext.analysis.types.literals import interval_millis
from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError
from sqlext.source import Span
from sqlext_udfs.over.specification import OverFrame

#: Functions whose frame is theirs: all rows up to this one, or the one row behind it (Calcite: ``allowsFraming``).
UNFRAMED = ("ROW_NUMBER", "RANK", "DENSE_RANK", "LAG", "LEAD")
#: What a bound adds to the place of its row.
_SIDES = {"PRECEDING": -1, "FOLLOWING": 1}


def frame_of(call: e.Call) -> OverFrame:
    """Return the frame of a call whose window has no name. By default it is RANGE UNBOUNDED PRECEDING.

    Raises:
        SqlExtError: OVER-110 for a function that has no frame, OVER-111 for one that a stream does not know, OVER-112
            for RANGE without an interval, OVER-113 for ROWS without a number, WINDOW-002 for months.
    """
    over = call.over
    assert over is not None
    frame = over.frame
    if frame is None:
        if call.function == "LEAD":
            return OverFrame("ROWS", 0, offset_of(call))
        # RANGE takes rows of one time together, and ROW_NUMBER must tell them apart.
        return OverFrame("ROWS" if call.function == "ROW_NUMBER" else "RANGE")
    if call.function in UNFRAMED:
        looks = "the one row behind it" if call.function == "LEAD" else "all rows up to this one"
        raise _no_frame(call, frame, looks)
    start = None if frame.start.side == "UNBOUNDED PRECEDING" else _place(frame, frame.start)
    end = _place(frame, frame.end) if frame.end is not None else 0
    if start is not None and start > end:
        raise _refused("a frame begins before it ends", frame.start.span, "BETWEEN the earlier bound AND the later one")
    unit: Literal["ROWS", "RANGE"] = "ROWS" if frame.unit == "ROWS" else "RANGE"
    if start is None and end < 0 and unit == "RANGE":
        message = "a frame of all rows up to a time before the row is not known here"
        raise _refused(message, frame.span, "ROWS BETWEEN UNBOUNDED PRECEDING AND n PRECEDING, or a first time")
    if start is None and end != 0 and call.distinct:
        message = "DISTINCT over all rows before ends with the row itself"
        raise _refused(message, frame.span, "AND CURRENT ROW, or a frame that begins somewhere")
    return OverFrame(unit, None if start is None else -start, end)


#: More rows than a partition has: what UNBOUNDED means where all rows are there.
UNBOUNDED = 1 << 40
_OF_ALL = ("NTILE", "PERCENT_RANK", "CUME_DIST")
_EDGES = {"UNBOUNDED PRECEDING": -UNBOUNDED, "UNBOUNDED FOLLOWING": UNBOUNDED}


def whole_frame_of(call: e.Call) -> OverFrame:
    """Return the frame of a call over a partition of which all rows are there; RANGE goes by rows that are equal.

    Raises:
        SqlExtError: OVER-110 for a function that has no frame, OVER-111 for one that ends before it begins, OVER-112
            for RANGE by a distance, OVER-113 for ROWS without a number.
    """
    over = call.over
    assert over is not None
    frame = over.frame
    if frame is not None and call.function in (*UNFRAMED, *_OF_ALL):
        raise _no_frame(call, frame, "all rows of its partition")
    if frame is None:
        if call.function == "LEAD":
            return OverFrame("ROWS", 0, offset_of(call))
        if call.function == "LAG":
            return OverFrame("ROWS")
        # Without an order all rows are equal, so they are in each other's frames.
        return OverFrame("RANGE", UNBOUNDED, 0)
    bounds = [frame.start, *([frame.end] if frame.end is not None else [])]
    distance = next((b for b in bounds if b.offset is not None), None)
    if frame.unit != "ROWS" and distance is not None:
        message = "RANGE by a distance goes by a time; over the rows of a window it takes those that are equal"
        hint = "ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING, or ORDER BY the rowtime"
        raise SqlExtError("OVER-112", message, span=distance.span, hint=hint)
    first, last = (_EDGES.get(b.side) for b in (bounds[0], bounds[-1]))
    start = _place(frame, frame.start) if first is None else first
    end = 0 if frame.end is None else _place(frame, frame.end) if last is None else last
    if start > end or start == UNBOUNDED or end == -UNBOUNDED:
        raise _refused("a frame begins before it ends", frame.start.span, "BETWEEN the earlier bound AND the later one")
    return OverFrame("ROWS" if frame.unit == "ROWS" else "RANGE", -start, end)


def offset_of(call: e.Call) -> int:
    """Return by how many rows LAG goes back, or LEAD goes on."""
    given = call.args[1] if len(call.args) > 1 else None
    return int(given.value) if isinstance(given, e.Literal) else 1


def _place(frame: e.Frame, bound: e.FrameBound) -> int:
    """Return where a bound is, in rows or milliseconds behind the row."""
    if bound.side == "CURRENT ROW":
        return 0
    if bound.side not in _SIDES or bound.offset is None:
        what = " ".join(bound.span.text.upper().split())
        hint = "say how many rows, or how long: BETWEEN 2 PRECEDING AND 2 FOLLOWING"
        raise _refused(f"a stream has no last row, so no frame goes to {what}", bound.span, hint)
    length = _rows(bound.offset) if frame.unit == "ROWS" else _duration(bound.offset)
    return _SIDES[bound.side] * length


def _rows(offset: e.Expr) -> int:
    """Flink: "ROWS value must be a non-negative integral constant"."""
    literal = isinstance(offset, e.Literal) and offset.kind == "NUMBER" and offset.value.isdigit()
    if not isinstance(offset, e.Literal) or not literal:
        hint = "RANGE goes by time" if isinstance(offset, e.Interval) else None
        raise SqlExtError("OVER-113", "ROWS takes a number of rows, 0 or more", span=offset.span, hint=hint)
    return int(offset.value)


def _duration(offset: e.Expr) -> int:
    """Flink: "Data Type mismatch between ORDER BY and RANGE clause"."""
    millis = interval_millis(offset)
    if millis is None or millis < 0:
        message = "RANGE goes by the time of ORDER BY, so it takes an interval, 0 or longer"
        raise SqlExtError("OVER-112", message, span=offset.span, hint="RANGE INTERVAL '5' MINUTE PRECEDING")
    return millis


def _no_frame(call: e.Call, frame: e.Frame, looks: str) -> SqlExtError:
    message = f"{call.function} has no {frame.unit}: it looks at {looks}"
    return SqlExtError("OVER-110", message, span=frame.span, hint="leave it out, or give the others a window alone")


def _refused(message: str, span: Span, hint: str) -> SqlExtError:
    return SqlExtError("OVER-111", message, span=span, hint=hint)
