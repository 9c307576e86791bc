"""How an input ends, and how its time moves in a query without end: from its options, hints and SET."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlext.watermarks.inputs import Alignment


class InputEnd(Enum):
    """What becomes of open windows when the rows that are there have been read."""

    #: The input has ended: a row moves the watermark to the end of time, and every window comes out.
    FINISH = "finish"
    #: The query stops and goes on another time; windows stay open.
    CATCH_UP = "catch-up"
    #: The query goes on: a time keeper watches its inputs.
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Timing:
    """The declared part of ``watermarks.inputs.Input``; durations in milliseconds.

    Attributes:
        idle: ``scan.watermark.idle-timeout``, or ``table.exec.source.idle-timeout``; None: it is never idle.
        closes: ``sqlext.idle.close-windows``.
        alignment: ``scan.watermark.alignment.*``.
        interval: ``pipeline.auto-watermark-interval`` where the strategy is ``on-periodic``; 0: each micro-batch.
        bounded: whether it has an end.
    """

    idle: int | None = None
    closes: bool = False
    alignment: Alignment | None = None
    interval: int = 0
    bounded: bool = False

    def __str__(self) -> str:
        """Return what EXPLAIN says of it; empty where there is nothing to say."""
        parts = []
        if self.idle is not None:
            closing = ", then the clock closes windows" if self.closes else ""
            parts.append(f"idle after {self.idle} ms{closing}")
        if self.alignment is not None:
            parts.append(f"aligned in '{self.alignment.group}' within {self.alignment.drift} ms")
        if self.interval:
            parts.append(f"at most every {self.interval} ms")
        return ", ".join(parts)
