"""Say when a zone's wall clock shows a time, as the SQL that cuts windows does (``rewrite.expressions.windows``)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock has no zone
_MS = timedelta(milliseconds=1)
_HOUR = 3_600_000
# No time that a clock leaves out or shows twice is longer (ms).
_AROUND = 48 * _HOUR
_FIXED = re.compile(r"GMT([+-])(\d\d):(\d\d)")


class WallClock:
    """The wall clock of a zone; milliseconds since 1970, of the wall and of UTC.

    Args:
        zone: a name of a region, or ``GMT+01:00``.
    """

    def __init__(self, zone: str) -> None:
        self._zone = _zone(zone)

    def shown(self, instant: int) -> int:
        """Return what the clock shows at an instant."""
        at = (_EPOCH + instant * _MS).replace(tzinfo=timezone.utc).astimezone(self._zone)
        return (at.replace(tzinfo=None) - _EPOCH) // _MS

    def moves(self, instant: int) -> int:
        """Return by how much the clock is put on or back around an instant; hardly ever by anything."""
        shifts = [self.shown(t) - t for t in (instant - _AROUND, instant, instant + _AROUND)]
        return max(shifts) - min(shifts)

    def first(self, wall: int) -> int:
        """Return when the clock shows a time, for the first time; where it leaves it out, the same time later."""
        local = (_EPOCH + wall * _MS).replace(tzinfo=self._zone)
        return (local.astimezone(timezone.utc).replace(tzinfo=None) - _EPOCH) // _MS

    def last(self, wall: int) -> int:
        """Return when it shows a time for the last time, which is an hour later where it shows it twice."""
        first = self.first(wall)
        return first + _HOUR if self.shown(first + _HOUR) == wall else first


def _zone(name: str) -> tzinfo:
    fixed = _FIXED.fullmatch(name)
    if fixed is None:
        return ZoneInfo(name)
    sign, hours, minutes = fixed.groups()
    shift = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-shift if sign == "-" else shift)
