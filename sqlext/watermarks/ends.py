"""Compute when windows over an input end: what the clock must pass to close them without a row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the wall clock of a zone
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Ends:
    """The ends of tumbling, hopping or cumulating windows: every ``every`` ms from ``offset`` on.

    Attributes:
        every: ms between two ends.
        offset: ms since 1970 of one of them.
        zone: whose wall clock aligns them; None for UTC.
    """

    every: int
    offset: int = 0
    zone: str | None = None

    def until(self, time: int, largest: int) -> int | None:
        """Return the last end that is not after a time (ms)."""
        return self._there(self._floor(self._local(time)), time)

    def after(self, time: int, largest: int) -> int | None:
        """Return the first end after a time (ms)."""
        return self._instant(self._floor(self._local(time)) + self.every)

    def _floor(self, wall: int) -> int:
        # Python's % is never negative, so this also rounds down before 1970 and before the offset.
        return wall - (wall - self.offset) % self.every

    def _there(self, wall: int, time: int) -> int:
        """Return the instant of an end; where clocks are set back, two instants share a wall clock."""
        found = self._instant(wall)
        return found if found <= time else self._instant(wall - self.every)

    def _local(self, time: int) -> int:
        if self.zone is None:
            return time
        # Whole seconds first: a float of milliseconds would be rounded.
        instant = datetime.fromtimestamp(time // 1000, timezone.utc) + timedelta(milliseconds=time % 1000)
        return (instant.astimezone(ZoneInfo(self.zone)).replace(tzinfo=None) - _EPOCH) // _MS

    def _instant(self, wall: int) -> int:
        if self.zone is None:
            return wall
        # Where clocks are set back this is the first of the two instants (fold=0).
        local = (_EPOCH + wall * _MS).replace(tzinfo=ZoneInfo(self.zone))
        return (local.astimezone(timezone.utc).replace(tzinfo=None) - _EPOCH) // _MS


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The end of the newest session: its gap after the largest event time."""

    gap: int

    def until(self, time: int, largest: int) -> int | None:
        """Return that end if it is not after a time (ms)."""
        end = largest + self.gap
        return end if end <= time else None

    def after(self, time: int, largest: int) -> int | None:
        """Return that end if it is after a time (ms)."""
        end = largest + self.gap
        return end if end > time else None
