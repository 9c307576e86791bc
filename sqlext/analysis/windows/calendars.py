"""Bind the lengths of calendar windows: TUMBLE, HOP and CUMULATE whose size is a number of months.

Flink refuses intervals of months there, so the rules are ours. They follow those of windows of a fixed length.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.analysis.types.literals import interval_millis, interval_months
from sqlext.dialect.ast.expressions import Expr, Node
from sqlext.errors import SqlExtError
from sqlext.plan.windows.lengths import SHORTEST_MONTH, Months, WindowKind, WindowSpec

_DAY = 86_400_000
_LONGEST = 31 * _DAY


def calendar_windows(kind: WindowKind, arguments: Mapping[str, Node], wall_clock: str | None) -> WindowSpec | None:
    """Return the windows of a call whose size is a number of months, None for one of fixed lengths.

    Args:
        kind: TUMBLE, HOP or CUMULATE.
        arguments: ``SIZE``, ``SLIDE`` or ``STEP``, ``OFFSET``, as they are there.
        wall_clock: of ``WindowSpec``.

    Raises:
        SqlExtError: WINDOW-005 for lengths that do not fit together.
    """
    size = _months(arguments.get("SIZE"))
    if size is None:
        _refuse_half(kind, arguments)
        return None
    if size <= 0:
        raise _wrong(arguments["SIZE"], f"SIZE of {kind.value} must be longer than zero", "write INTERVAL '1' MONTH")
    months, offset = _offset(kind, arguments.get("OFFSET"), size)
    if kind is WindowKind.TUMBLE:
        slide, step = size, 0
    else:
        slide, step = _slide(kind, arguments, size)
    of = Months(size, slide, months % (slide if kind is WindowKind.HOP else size))
    return WindowSpec(kind, size * _LONGEST, step or slide * SHORTEST_MONTH, offset, wall_clock, months=of)


def _refuse_half(kind: WindowKind, arguments: Mapping[str, Node]) -> None:
    """Refuse a slide or a step of months where the size has a fixed length."""
    size = arguments["SIZE"]
    fixed = isinstance(size, Expr) and interval_millis(size) is not None
    for name in ("SLIDE", "STEP"):
        if fixed and _months(arguments.get(name)) is not None:
            message = f"{name} of {kind.value} is a number of months, so SIZE must be one too"
            raise _wrong(size, message, "write INTERVAL '1' MONTH")


def _slide(kind: WindowKind, arguments: Mapping[str, Node], size: int) -> tuple[int, int]:
    """Return the slide or the step, in months or else in milliseconds."""
    name = "SLIDE" if kind is WindowKind.HOP else "STEP"
    given = arguments[name]
    months = _months(given)
    if months is not None and months <= 0:
        raise _wrong(given, f"{name} of {kind.value} must be longer than zero", "write INTERVAL '1' MONTH")
    if months is not None:
        multiple = size % months == 0 or (kind is WindowKind.HOP and months > size)
        if not multiple:
            message = f"SIZE of {kind.value} must be a multiple of {name} ({size} months, {months} months)"
            raise _wrong(given, message, f"{name} comes before SIZE")
        return months, 0
    millis = interval_millis(given) if isinstance(given, Expr) else None
    if kind is WindowKind.CUMULATE and millis is not None and millis > 0 and _DAY % millis == 0:
        return 0, millis
    part = ", or a length of which a day is a multiple" if kind is WindowKind.CUMULATE else ""
    raise _wrong(given, f"SIZE is a number of months, so {name} must be one too{part}", "write INTERVAL '1' MONTH")


def _offset(kind: WindowKind, given: Node | None, size: int) -> tuple[int, int]:
    """Return the offset in months and in milliseconds: one of both is 0."""
    if given is None:
        return 0, 0
    months = _months(given)
    if months is not None:
        if abs(months) >= size:
            raise _wrong(given, f"the offset of {kind.value} must be shorter than its SIZE", "write INTERVAL '1' MONTH")
        return months, 0
    millis = interval_millis(given) if isinstance(given, Expr) else None
    if millis is None or abs(millis) >= SHORTEST_MONTH:
        message = f"the offset of {kind.value} must be an interval of months, or one shorter than 28 days"
        raise _wrong(given, message, "write INTERVAL '4' DAY")
    return 0, millis


def _months(given: Node | None) -> int | None:
    return interval_months(given) if isinstance(given, Expr) else None


def _wrong(at: Node, message: str, hint: str) -> SqlExtError:
    return SqlExtError("WINDOW-005", message, span=at.span, hint=hint)
