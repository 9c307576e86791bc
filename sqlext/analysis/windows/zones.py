"""Say how the wall clock of a zone goes: it moves windows of processing time, and one type of rowtimes to the other."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

_FIXED = re.compile(r"GMT([+-])(\d\d):(\d\d)")
#: The clock is now, so only shifts from here on count. Rules of zones are not known much further.
_YEARS = range(2024, 2075)
#: The year of the first rowtimes.
_SINCE = 1970


def shift_of(zone: str, step: int) -> int | None:
    """Return by how many ms windows of a zone's wall clock begin before those of UTC.

    Args:
        zone: as ``settings.parse_zone`` gives it.
        step: ms from the start of a window to that of the next.

    Returns:
        Less than ``step``. None where it is not always the same, as for days of a zone with summer time.
    """
    shifts = {offset % step for offset in _offsets(zone)}
    return shifts.pop() if len(shifts) == 1 else None


def range_of(zone: str) -> tuple[int, int]:
    """Return by how many ms a zone's clock is ahead of UTC at least and at most, at any time from 1970 on."""
    offsets = _offsets(zone, _SINCE)
    return min(offsets), max(offsets)


@lru_cache(maxsize=64)
def _offsets(zone: str, since: int = _YEARS.start) -> frozenset[int]:
    """Return how many ms a zone's clock is ahead of UTC from a year on, each value once."""
    fixed = _FIXED.fullmatch(zone)
    if fixed is not None:
        sign, hours, minutes = fixed.groups()
        return frozenset({(1 if sign == "+" else -1) * (int(hours) * 60 + int(minutes)) * 60_000})
    at, days = ZoneInfo(zone), [(y, m, d) for y in range(since, _YEARS.stop) for m in range(1, 13) for d in (1, 15)]
    shown = (datetime(*day, tzinfo=timezone.utc).astimezone(at).utcoffset() for day in days)
    return frozenset(int(offset.total_seconds() * 1000) for offset in shown if offset is not None)
