"""Convert the frames of OVER to rows or milliseconds."""

from __future__ import annotations

from sqlext.analysis.types.literals import interval_millis
from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError
from sqlext_udfs.over.specification import OverFrame

#: Functions whose frame is theirs: all rows up to this one (Calcite: ``allowsFraming``).
UNFRAMED = ("ROW_NUMBER", "RANK", "DENSE_RANK", "LAG")


def frame_of(call: e.Call) -> OverFrame:
    """Return the frame of a call whose window has no name. By default it is RANGE UNBOUNDED PRECEDING.

    Raises:
        SqlExtError: OVER-110 for a function that has no frame, OVER-111 for one that does not end with the row,
            OVER-112 for RANGE without an interval, OVER-113 for ROWS without a number, WINDOW-002 for months.
    """
    over = call.over
    assert over is not None
    frame = over.frame
    if frame is None:
        # RANGE takes rows of one time together, and ROW_NUMBER must tell them apart.
        return OverFrame("ROWS" if call.function == "ROW_NUMBER" else "RANGE")
    if call.function in UNFRAMED:
        message = f"{call.function} has no {frame.unit}: it looks at all rows up to this one"
        raise SqlExtError("OVER-110", message, span=frame.span, hint="leave it out, or give the others a window alone")
    end = frame.end
    if end is not None and end.side != "CURRENT ROW":
        raise _not_here(end)
    return OverFrame("ROWS" if frame.unit == "ROWS" else "RANGE", _preceding(frame))


def _preceding(frame: e.Frame) -> int | None:
    start = frame.start
    if start.side == "UNBOUNDED PRECEDING":
        return None
    if start.side == "CURRENT ROW":
        return 0
    if start.side != "PRECEDING" or start.offset is None:
        raise _not_here(start)
    return _rows(start.offset) if frame.unit == "ROWS" else _duration(start.offset)


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


def _not_here(bound: e.FrameBound) -> SqlExtError:
    """Flink: "OVER RANGE FOLLOWING windows are not supported yet"."""
    return SqlExtError(
        "OVER-111",
        f"a frame over a stream goes up to the row itself, not to {' '.join(bound.span.text.upper().split())}",
        span=bound.span,
        hint="BETWEEN ... PRECEDING AND CURRENT ROW: rows that follow have not come yet",
    )
