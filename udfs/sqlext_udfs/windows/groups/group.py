"""Hold one key and window while a step works on it."""

from __future__ import annotations

from typing import Any

#: The on-time pane was written or suppressed (M9).
DONE = 1
#: The watermark's passing of the window's end was taken note of.
END_SEEN = 2
#: Closed by ONCE or TIMEOUT: remembered until it expires, takes no rows.
CLOSED = 4
#: A pane was written under these bounds.
WRITTEN = 8
#: The first row came after the window's end: there is no on-time pane.
BEGAN_LATE = 16


class WindowGroup:
    """The state of one key and window.

    Attributes:
        key: the number of the key.
        start, end: the window (ms, end exclusive); MIN and MAX without window.
        flags: the bits above.
        bits, slots: the trigger's state.
        index, spec: the next pane's index and non-speculative index.
        rows: how many came since the last pane.
        earliest, latest: event times (ms) of those rows that were not behind the watermark when they came.
        held: segments of the contents, in order of arrival.
        marks: what the evictor looks at, by segment.
        current: the segment that takes further rows, if there is one.
        last_pane, last_length: the last pane of this step, and how many segments were held then.
        origin: the row of the state that it was read from, or -1.
        gone: it has expired or was merged into another.
    """

    # There may be very many groups in a step: without slots each would have a dict.
    __slots__ = (
        "bits",
        "current",
        "earliest",
        "end",
        "flags",
        "gone",
        "held",
        "index",
        "key",
        "last_length",
        "last_pane",
        "latest",
        "marks",
        "origin",
        "rows",
        "slots",
        "spec",
        "start",
    )

    def __init__(self, key: int, start: int, end: int, slots: list[Any]) -> None:
        self.key, self.start, self.end = key, start, end
        self.bits, self.slots = 0, slots
        self.flags = self.index = self.spec = self.rows = 0
        self.earliest: int | None = None
        self.latest: int | None = None
        self.held: list[int] = []
        self.marks: dict[int, float | None] = {}
        self.current: int | None = None
        self.last_pane, self.last_length = -1, 0
        self.origin = -1
        self.gone = False

    @property
    def closed(self) -> bool:
        """Whether it takes no more rows."""
        return bool(self.flags & CLOSED)

    def empty(self) -> None:
        """Throw the contents away."""
        self.held, self.marks, self.current = [], {}, None
        self.last_pane, self.last_length, self.rows = -1, 0, 0
        self.earliest = self.latest = None

    def saw(self, least: int, greatest: int) -> None:
        """Take note of event times, for PANE TIMESTAMP."""
        self.earliest = least if self.earliest is None else min(self.earliest, least)
        self.latest = greatest if self.latest is None else max(self.latest, greatest)
