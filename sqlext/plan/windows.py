"""Specifications of windows, in milliseconds: ``[start, end)``; ``window_time`` is ``end - 1 ms``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class WindowKind(Enum):
    """Which windows."""

    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"
    SESSION = "SESSION"


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """A window function with its arguments.

    Attributes:
        size: milliseconds; the gap of SESSION.
        slide: milliseconds; the step of CUMULATE; equals size for TUMBLE; 0 for SESSION.
        offset: milliseconds since 1970 that windows are aligned to.
        wall_clock: the zone whose wall clock aligns the windows (a TIMESTAMP_LTZ rowtime), None for UTC.
        session_keys: physical columns that partition SESSION.
        processing: whether they are windows of processing time.
        gap: the physical column of each row's gap in milliseconds, in place of ``size`` (``nodes.ComputeGap``).
    """

    kind: WindowKind
    size: int
    slide: int
    offset: int = 0
    wall_clock: str | None = None
    session_keys: tuple[str, ...] = ()
    processing: bool = False
    gap: str | None = None

    @property
    def has_gaps(self) -> bool:
        """Whether some rows belong to no window (slide > size)."""
        return self.kind is WindowKind.HOP and self.slide > self.size

    def __str__(self) -> str:
        """Return it as EXPLAIN prints it."""
        parts = [f"{self.size} ms" if self.gap is None else "a gap of each row"]
        if self.kind in (WindowKind.HOP, WindowKind.CUMULATE):
            parts.insert(0, f"every {self.slide} ms")
        if self.offset:
            parts.append(f"offset {self.offset} ms")
        if self.wall_clock:
            parts.append(f"wall clock of {self.wall_clock}")
        if self.processing:
            parts.append("processing time")
        return f"{self.kind.value}({', '.join(parts)})"
