"""Compute when windows over an input end: what the clock must pass to close them without a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the wall clock of a zone
_MS = timedelta(milliseconds=1)
_MINUTE = 60_000
#: December 9999: no later time can be told.
_LAST_MONTH = (9999 - 1970) * 12 + 11


class AlignedEnds(ABC):
    """Ends that a wall clock shows: ``zone`` is whose, None is UTC."""

    __slots__ = ()
    zone: str | None

    def until(self, time: int, largest: int) -> int | None:
        """Return the last end that is not after a time (ms)."""
        wall = self._floor(self._local(time))
        found = self._instant(wall)
        # Where clocks are set back, two instants share a wall clock.
        return found if found <= time else self._instant(self._floor(wall - 1))

    def after(self, time: int, largest: int) -> int | None:
        """Return the first end after a time (ms)."""
        return self._instant(self._following(self._floor(self._local(time))))

    @abstractmethod
    def _floor(self, wall: int) -> int:
        """Return the last end that is not after a wall clock (ms)."""

    @abstractmethod
    def _following(self, end: int) -> int:
        """Return the end behind an end, both as wall clocks (ms)."""

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
class Ends(AlignedEnds):
    """The ends of tumbling, hopping or cumulating windows: every ``every`` ms from ``offset`` on.

    Attributes:
        every: ms between two ends.
        offset: ms since 1970 of one of them.
        zone: whose wall clock aligns them; None for UTC.
    """

    every: int
    offset: int = 0
    zone: str | None = None

    def _floor(self, wall: int) -> int:
        # Python's % is never negative, so this also rounds down before 1970 and before the offset.
        return wall - (wall - self.offset) % self.every

    def _following(self, end: int) -> int:
        return end + self.every


@dataclass(frozen=True, slots=True)
class MonthEnds(AlignedEnds):
    """The ends of calendar windows: every ``every`` months.

    Attributes:
        every: months between two ends.
        first: the number of a month, counted from January 1970, with whose begin a window ends.
        offset: ms from the first midnight of a month to the end.
        zone: whose wall clock aligns them; None for UTC.
    """

    every: int
    first: int = 0
    offset: int = 0
    zone: str | None = None

    def _floor(self, wall: int) -> int:
        month = month_of(_EPOCH + (wall - self.offset) * _MS)
        return self._begin(month - (month - self.first) % self.every)

    def _following(self, end: int) -> int:
        return self._begin(month_of(_EPOCH + (end - self.offset) * _MS) + self.every)

    def _begin(self, month: int) -> int:
        return (begin_of(month) - _EPOCH) // _MS + self.offset


def month_of(time: datetime) -> int:
    """Return the number of a month, counted from January 1970."""
    return (time.year - _EPOCH.year) * 12 + time.month - 1


def begin_of(month: int) -> datetime:
    """Return the first midnight of a month that is counted from January 1970; of the last that there is at most."""
    month = min(month, _LAST_MONTH)
    return datetime(_EPOCH.year + month // 12, month % 12 + 1, 1)  # noqa: DTZ001 - the wall clock of a zone


@dataclass(frozen=True, slots=True)
class RowEnds:
    """Ends of windows of which each row has its own offset: they may lie anywhere.

    Attributes:
        longest: ms from a row to the last end of its windows, at most.
    """

    longest: int

    def until(self, time: int, largest: int) -> int | None:
        """Return the last whole minute that is not after a time (ms); behind all windows with rows, their last end."""
        # A finer step would cost a micro-batch each time that a clock is looked at.
        return min(time - time % _MINUTE, largest + self.longest)

    def after(self, time: int, largest: int) -> int | None:
        """Return None: no end is known before its row is."""
        return None


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


#: When the windows over an input end.
WindowEnds = AlignedEnds | RowEnds | SessionEnd
