"""Describe the windows that a window function gives rows: their kind and their lengths."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from sqlext.watermarks.ends import begin_of, month_of

#: A February in ms.
SHORTEST_MONTH = 28 * 86_400_000


class WindowKind(Enum):
    """Which windows."""

    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"
    SESSION = "SESSION"
    SLIDE = "SLIDE"


@dataclass(frozen=True, slots=True)
class Months:
    """The lengths of calendar windows: of those that are so many months long.

    Attributes:
        size: months from start to end.
        slide: months between two starts; the step of CUMULATE, 0 where that is a part of a day (``WindowSpec.slide``).
        offset: which months begin windows, counted from January 1970.
    """

    size: int
    slide: int
    offset: int = 0

    def __str__(self) -> str:
        """Return the lengths as EXPLAIN prints them."""
        offset = [f"offset {months_text(self.offset)}"] if self.offset else []
        return ", ".join([months_text(self.size), *offset])


def months_text(months: int) -> str:
    """Return a number of months in words."""
    return f"{months} month{'' if months == 1 else 's'}"


#: Windows of which a row may have several at once.
OVERLAPPING = (WindowKind.HOP, WindowKind.CUMULATE)


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """A window function with its arguments.

    Attributes:
        size: milliseconds; the gap of SESSION; of calendar windows that of the longest.
        slide: milliseconds; the step of CUMULATE; equals size for TUMBLE; 0 for SESSION and SLIDE.
        offset: milliseconds since 1970 that windows are aligned to.
        wall_clock: the zone whose wall clock aligns the windows (a TIMESTAMP_LTZ rowtime), None for UTC.
        session_keys: physical columns that partition SESSION.
        processing: whether they are windows of processing time.
        gap: the physical column of each row's gap in milliseconds, in place of ``size`` (``ComputeGap``).
        months: the lengths of calendar windows, None for windows of a fixed length.
        limit: the maximum length of SESSION in milliseconds, None without one.
        row_offset: the physical column of each row's offset in ms (``ComputeOffset``), in place of ``offset``.
    """

    kind: WindowKind
    size: int
    slide: int
    offset: int = 0
    wall_clock: str | None = None
    session_keys: tuple[str, ...] = ()
    processing: bool = False
    gap: str | None = None
    months: Months | None = None
    limit: int | None = None
    row_offset: str | None = None

    @property
    def has_gaps(self) -> bool:
        """Whether some rows belong to no window (slide > size)."""
        # Spark's window() refuses such a slide (TimeWindow), so these windows are computed.
        if self.kind is not WindowKind.HOP:
            return False
        return self.slide > self.size if self.months is None else self.months.slide > self.months.size

    @property
    def aligned(self) -> bool:
        """Whether a zone's wall clock cuts them, or a calendar: they are not all of one length.

        A session begins with its first row, a window of SLIDE ends with its last one. Windows of processing time have
        the zone's shift in their offset.
        """
        if self.months is not None:
            return True
        of_rows = self.kind in (WindowKind.SESSION, WindowKind.SLIDE)
        return self.wall_clock is not None and not of_rows and not self.processing

    @property
    def lengths(self) -> tuple[str, str]:
        """Return size and slide in words."""
        if self.months is None:
            return f"{self.size} ms", f"{self.slide} ms"
        slide = months_text(self.months.slide) if self.months.slide else f"{self.slide} ms"
        return str(self.months), slide

    def moved(self, bound: datetime, sizes: int) -> datetime:
        """Return the wall clock that is so many sizes behind a start or an end: 1 is the end, -1 the start."""
        if self.months is None:
            return bound + sizes * timedelta(milliseconds=self.size)
        offset = timedelta(milliseconds=self.offset)
        return begin_of(month_of(bound - offset) + sizes * self.months.size) + offset

    def __str__(self) -> str:
        """Return it as EXPLAIN prints it."""
        size, slide = self.lengths
        parts = [size if self.gap is None else "a gap of each row"]
        if self.kind in (WindowKind.HOP, WindowKind.CUMULATE):
            parts.insert(0, f"every {slide}")
        if self.limit is not None:
            parts.append(f"at most {self.limit} ms")
        if self.offset:
            parts.append(f"offset {self.offset} ms")
        if self.row_offset is not None:
            parts.append("an offset of each row")
        if self.wall_clock:
            parts.append(f"wall clock of {self.wall_clock}")
        if self.processing:
            parts.append("processing time")
        return f"{self.kind.value}({', '.join(parts)})"
