"""The node of sessions whose rows are looked at one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sqlext.plan.nodes import AssignWindows
from sqlext.plan.stateful import Stateful


@dataclass(frozen=True, slots=True)
class SessionRows(AssignWindows, Stateful):
    """Sessions that others than an aggregate look at: an operator keeps the rows until their session ends."""

    function: ClassVar[str] = "window"

    @property
    def step(self) -> str:
        """The name of any window function."""
        # Fingerprints in checkpoints hold this name.
        return "AssignWindows"

    @property
    def event_time(self) -> bool:
        """The watermark ends sessions, but for those of processing time."""
        return not self.spec.processing

    @property
    def uses_clock(self) -> bool:
        """Of sessions of processing time."""
        return self.spec.processing

    @property
    def waits(self) -> bool:
        """Only with a maximum length: without one another query makes sessions of rows that are all there."""
        return self.spec.limit is not None

    @property
    def settles(self) -> bool:
        """Only with a maximum length, for the same reason."""
        return self.spec.limit is not None

    @property
    def lag(self) -> int:
        """A session that its maximum does not end waits for a row that touches it."""
        return self.input.lag + (self.spec.limit is not None)

    @property
    def what(self) -> str:
        """What it keeps."""
        return "rows of sessions"

    @property
    def bound(self) -> str:
        """The end of each session."""
        return "until the session ends"

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield the windows."""
        yield self.window_part()
