"""Define what goes into the window engine in a step, and what it decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

if TYPE_CHECKING:
    from sqlext_udfs.windows.groups.state import WindowState

Ints: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]

# Beam's timings of a pane, as numbers while a step goes on.
EARLY, ON_TIME, LATE = range(3)
#: ``PANE_TIMING()`` of the numbers above.
TIMINGS = ("EARLY", "ON_TIME", "LATE")


@dataclass(frozen=True, slots=True)
class ElementRows:
    """The elements of one micro-batch and bucket, in order of arrival (rule M5). All arrays are equally long.

    An element is a row, or several rows of one key, and one window where windows are fixed, if
    ``batch_insensitive(policy)`` allows that.

    Attributes:
        key: the caller's number for the key; the same in all steps.
        rowtime: event time (ms) of the element's first row. None only without window or with processing time.
        count: how many rows an element stands for; None: one.
        least, greatest: the smallest and largest event time in it; None: ``rowtime``.
        values: numeric columns that triggers and evictors name by number; NaN for NULL.
        gap: the session gap (ms, positive) of each element, where the policy leaves it to the rows.
        start, end: the one window of each element (ms, end exclusive), where SQL gave it; then the policy's windows do
            not count.
    """

    key: Ints
    rowtime: Ints | None = None
    count: Ints | None = None
    least: Ints | None = None
    greatest: Ints | None = None
    values: tuple[Floats, ...] = ()
    gap: Ints | None = None
    start: Ints | None = None
    end: Ints | None = None

    def __len__(self) -> int:
        return len(self.key)

    @classmethod
    def none(cls) -> ElementRows:
        """Return no rows: only the clock moves."""
        return cls(np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Panes:
    """Panes and retractions in the order in which they are to be written; one entry of each list is one of them.

    Attributes:
        key, start, end: the group; start and end (ms, exclusive) are MIN and MAX without window.
        retract: nothing comes; the last row written for this window is to be taken back (-D, rule M13).
        base: the position of an earlier pane of this step whose segments come before ``segments``; -1: none.
        segments: the segments of the contents in order of arrival, after those of ``base``.
        index, non_speculative_index, timing, is_first, is_last: what PANE_...() give; timing is a number.
        timestamp: ``PANE_TIMESTAMP()`` (ms); None without window.
        written_before: a pane of this window was written before, in this step or an earlier one.
    """

    key: list[int]
    start: list[int]
    end: list[int]
    retract: list[bool]
    base: list[int]
    segments: list[tuple[int, ...]]
    index: list[int]
    non_speculative_index: list[int]
    timing: list[int]
    is_first: list[bool]
    is_last: list[bool]
    timestamp: list[int | None]
    written_before: list[bool]

    @classmethod
    def empty(cls) -> Panes:
        """Return no panes."""
        return cls(*([] for _ in range(13)))

    def __len__(self) -> int:
        return len(self.key)

    def contents(self, pane: int) -> tuple[int, ...]:
        """Return all segments of a pane."""
        parts: list[tuple[int, ...]] = []
        while pane >= 0:
            parts.append(self.segments[pane])
            pane = self.base[pane]
        # The chain of bases goes back in time; contents stand in the order of arrival.
        return tuple(segment for part in reversed(parts) for segment in part)

    def table(self) -> pa.Table:
        """Return the panes as a table; ``segments`` is a list column, ``timing`` the words."""
        int64 = pa.int64()
        return pa.table(
            {
                "key": pa.array(self.key, int64),
                "start": pa.array(self.start, int64),
                "end": pa.array(self.end, int64),
                "retract": pa.array(self.retract, pa.bool_()),
                "base": pa.array(self.base, int64),
                "segments": pa.array(self.segments, pa.list_(int64)),
                "index": pa.array(self.index, int64),
                "non_speculative_index": pa.array(self.non_speculative_index, int64),
                "timing": pa.array([TIMINGS[t] for t in self.timing], pa.string()),
                "is_first": pa.array(self.is_first, pa.bool_()),
                "is_last": pa.array(self.is_last, pa.bool_()),
                "timestamp": pa.array(self.timestamp, int64),
                "written_before": pa.array(self.written_before, pa.bool_()),
            }
        )


@dataclass(frozen=True, slots=True)
class PaneDecisions:
    """What a step does.

    Segments are what a caller aggregates: sets of rows that stay together. Their numbers grow with arrival and are
    never used again. After the step the stored contents of all segments in ``freed`` can go. For each entry of ``kept``
    the segments in ``kept_from`` are to be stored, as one segment of that number. Rows that are kept each by itself
    have one segment there.

    Attributes:
        state: after the step; the same object if nothing changed.
        elements, segments: parallel; an element is in a segment (in one for each of its windows).
        panes: what is to be written.
        freed: stored segments that belonged to a group that the step touched.
        kept, kept_from: what touched groups hold afterwards, and of what.
        ended: (key, start, end) of windows that had been written and give no more panes.
        late: elements that were too late for all their windows; ``late_windows``: for each such window.
        closed: elements that came to groups closed by ONCE or TIMEOUT only; ``closed_windows``: for each group.
        leftover: rows that FINAL PANE NEVER threw away.
    """

    state: WindowState
    elements: Ints
    segments: Ints
    panes: Panes
    freed: list[int]
    kept: list[int]
    kept_from: list[tuple[int, ...]]
    ended: list[tuple[int, int, int]]
    late: Ints
    late_windows: Ints
    closed: Ints
    closed_windows: Ints
    leftover: int
