"""Write milliseconds as Spark's interval text."""

from __future__ import annotations

_UNITS = (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1000))


def duration(millis: int) -> str:
    """Return ``10 minutes`` for 600000: the largest unit that holds it exactly."""
    for name, size in _UNITS:
        if millis and millis % size == 0:
            count = millis // size
            return f"{count} {name}" + ("s" if abs(count) != 1 else "")
    return f"{millis} milliseconds"


def seconds_interval(millis: int) -> str:
    """Return ``INTERVAL '5' SECOND`` for 5000, ``INTERVAL '0.001' SECOND`` for 1."""
    text = f"{millis // 1000}" if millis % 1000 == 0 else f"{millis / 1000:.3f}"
    return f"INTERVAL '{text}' SECOND"
