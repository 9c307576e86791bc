"""Define what input rows are tested by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlext.plan.nodes import WindowKind, WindowSpec


@dataclass(frozen=True)
class Equal:
    """A column must have a value.

    Attributes:
        column: its place.
        value: what it must be, a scalar of Arrow.
    """

    column: int
    value: Any


@dataclass(frozen=True)
class Within:
    """An event time must lie in a window: a wall clock, that of ``zone`` for an instant.

    Attributes:
        column: its place.
        spec: the windows.
        bounds: ``start``, ``end`` or ``time`` (the end less 1 ms) of the window, as far as they are known.
    """

    column: int
    spec: WindowSpec
    bounds: Mapping[str, Any]


@dataclass(frozen=True)
class Reaching:
    """A window of an event time must have its own time in another window, which is of windows.

    Attributes:
        column: the place of the event time.
        spec: the windows of that time.
        above: the other window, as ``Within`` has it.
    """

    column: int
    spec: WindowSpec
    above: Within


@dataclass(frozen=True)
class MayReach:
    """An event time may be in windows of windows that have their time in another window.

    Attributes:
        column: its place.
        above: the other window, as ``Within`` has it.
        longest: how long before its start the time may lie, in ms; None: as long as it likes.
    """

    column: int
    above: Within
    longest: int | None


@dataclass(frozen=True)
class Near:
    """An event time must be near another one.

    Attributes:
        column: its place.
        time: the other one, a scalar of Arrow.
        before, after: how far it may lie before and behind that, in ms; None: as far as it likes.
    """

    column: int
    time: Any
    before: int | None
    after: int | None


@dataclass(frozen=True)
class IsTrue:
    """A condition must hold.

    Attributes:
        column: the place of its value.
    """

    column: int


Range = Within | Reaching | MayReach
"""Where a time lies."""
Test = Equal | Range | Near | IsTrue
_DAY = 86_400_000


def longest_of(spec: WindowSpec) -> int | None:
    """Return how long windows are at most, in ms; None for sessions without a maximum."""
    if spec.kind is WindowKind.SESSION:
        return None if spec.limit is None or spec.gap is not None else spec.limit + spec.size
    return spec.size if spec.months is None else spec.size + _DAY  # one of which clocks are put back is longer


def reaching_before(spec: WindowSpec, above: Range) -> MayReach:
    """Return where the times of windows lie that have their own time in a range."""
    if isinstance(above, Within):
        return MayReach(0, above, longest_of(spec))
    longest = above.longest if isinstance(above, MayReach) else longest_of(above.spec)
    own = longest_of(spec)
    return MayReach(0, above.above, None if longest is None or own is None else longest + own)


def range_of(spec: WindowSpec, bounds: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the first event time of a window, and the first one behind it; None where it is not known.

    Args:
        bounds: of the window, as ``Within`` has them, but each a ``datetime``, or None.
    """
    start, end, time = bounds.get("start"), bounds.get("end"), bounds.get("time")
    if end is None and time is not None:
        end = time + timedelta(milliseconds=1)
    if spec.kind in (WindowKind.TUMBLE, WindowKind.HOP, WindowKind.SLIDE):
        if start is None and end is not None:
            start = spec.moved(end, -1)
        elif end is None and start is not None:
            end = spec.moved(start, 1)
    return start, end
