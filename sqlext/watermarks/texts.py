"""Write times and durations as people read them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from sqlext.watermarks.inputs import END_OF_TIME

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LAST = datetime(9999, 12, 31, 23, 59, 59, 999000)  # noqa: DTZ001 - a wall clock
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))


def wall(ms: int, zone: str) -> datetime:
    """Return what the clocks of a zone show at an instant (ms since 1970 UTC); at most what a datetime can hold."""
    try:
        return (_EPOCH + timedelta(milliseconds=ms)).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    except OverflowError:
        return _LAST


def moment(ms: int | None, zone: str) -> str:
    """Return an instant as date and time in a zone, with milliseconds where it has some."""
    if ms is None:
        return "none"
    if ms >= END_OF_TIME:
        return "the end of time"
    return wall(ms, zone).isoformat(" ", "milliseconds" if ms % 1000 else "seconds")


def duration(ms: int) -> str:
    """Return a duration in the largest unit that gives a whole number."""
    return next((f"{ms // size} {unit}" for size, unit in _UNITS if ms and ms % size == 0), f"{ms} ms")
