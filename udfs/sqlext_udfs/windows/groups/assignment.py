"""Assign rows to windows, on whole columns (rule M7, 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlext_udfs.windows.panes.rows import ElementRows, Ints, Mask
from sqlext_udfs.windows.policy import Cumulate, Global, Hop, Policy, Session, Tumble
from sqlext_udfs.windows.triggers.moment import MAX, MIN


@dataclass(frozen=True, slots=True)
class Assignments:
    """Pairs of an element and one of its windows, in the order of elements.

    Attributes:
        element: the element's position.
        key: the number of its key.
        start, end: the window (ms, end exclusive); without window MIN and MAX.
    """

    element: Ints
    key: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.element)

    def only(self, chosen: Ints | Mask) -> Assignments:
        """Return the assignments at some positions, or where a mask is true."""
        return Assignments(self.element[chosen], self.key[chosen], self.start[chosen], self.end[chosen])


def assign(policy: Policy, rows: ElementRows, now: int) -> Assignments:
    """Return the windows of each element, those of one element by start and end.

    Args:
        policy: which windows there are.
        rows: the elements.
        now: the batch clock (ms), for windows of processing time.

    Raises:
        ValueError: if the policy needs an event time or a session gap that the rows have not.
    """
    element = np.arange(len(rows), dtype=np.int64)
    window = policy.window
    if not len(rows):
        return Assignments(element, element, element, element)
    # Windows that SQL gave come first: the policy's own do not count then.
    if rows.start is not None and rows.end is not None:
        return Assignments(element, rows.key, rows.start, rows.end)
    if isinstance(window, Global):
        return Assignments(element, rows.key, np.full_like(rows.key, MIN), np.full_like(rows.key, MAX))
    time = np.full_like(rows.key, now) if policy.processing_time else rows.rowtime
    if time is None:
        raise ValueError("rows of an event-time window need their rowtime")
    if isinstance(window, Session):
        return _session(window, rows, time, element, by_clock=policy.processing_time)
    chosen, start, end = fixed_windows(window, time, element)
    return Assignments(chosen, rows.key[chosen], start, end)


def _session(window: Session, rows: ElementRows, time: Ints, element: Ints, *, by_clock: bool) -> Assignments:
    gap = rows.gap if window.gap is None else np.full_like(time, window.gap)
    if gap is None:
        raise ValueError("rows of a session with a gap per row need their gap")
    if len(gap) and gap.min() <= 0:
        raise ValueError("a session gap must be greater than zero")
    # Combined rows span from their least to their largest time; the gap is that behind the largest.
    combined = not by_clock and rows.least is not None and rows.greatest is not None
    start, last = (rows.least, rows.greatest) if combined else (time, time)
    assert start is not None
    assert last is not None
    return Assignments(element, rows.key, start, _plus(last, gap))


def fixed_windows(window: Tumble | Hop | Cumulate, time: Ints, element: Ints) -> tuple[Ints, Ints, Ints]:
    """Return of each pair of a time and one of its windows the time's element, and the window's start and end."""
    if isinstance(window, Tumble):
        start = time - _since(time, window.size, window.offset)
        return element, start, _plus(start, window.size)
    if isinstance(window, Hop):
        newest = time - _since(time, window.slide, window.offset)
        # Oldest first. The row may lie in a gap behind its newest window.
        back = np.arange(-(-window.size // window.slide) - 1, -1, -1, dtype=np.int64) * window.slide
        starts = newest[:, None] - back[None, :]
        inside = time[:, None] - starts < window.size
        row, column = np.nonzero(inside)
        start = starts[row, column]
        return element[row], start, _plus(start, window.size)
    start = time - _since(time, window.size, window.offset)
    ends = start[:, None] + np.arange(window.step, window.size + 1, window.step, dtype=np.int64)[None, :]
    row, column = np.nonzero(ends > time[:, None])
    return element[row], start[row], ends[row, column]


def _since(time: Ints, period: int, offset: int) -> Ints:
    """Return how long before each time the last of ``offset + k * period`` was."""
    return (time % period - offset % period) % period


def _plus(time: Ints, ms: Ints | int) -> Ints:
    # Saturates at MAX. Both branches of ``where`` are computed, so the sum is bounded too and cannot wrap around.
    return np.where(time > MAX - ms, MAX, time + np.minimum(ms, MAX - np.maximum(time, 0)))
