"""Render ``FLOOR(x TO unit)`` and ``CEIL(x TO unit)`` (Flink docs: Temporal Functions)."""

from __future__ import annotations

from sqlext.analysis.functions.rendering import is_fixed_zone
from sqlext.types import LogicalType

_DATE_UNITS = frozenset({"MILLENNIUM", "CENTURY", "DECADE", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY"})
_STEPS = {
    "MILLENNIUM": "INTERVAL '1000' YEAR",
    "CENTURY": "INTERVAL '100' YEAR",
    "DECADE": "INTERVAL '10' YEAR",
    "QUARTER": "INTERVAL '3' MONTH",
    "WEEK": "INTERVAL '7' DAY",
    "MILLISECOND": "INTERVAL '0.001' SECOND",
    "MICROSECOND": "INTERVAL '0.000001' SECOND",
}
#: What lies below a unit of the clock.
_REMAINDERS = {
    "HOUR": "make_dt_interval(0, 0, minute({0}), extract(SECOND FROM {0}))",
    "MINUTE": "make_dt_interval(0, 0, 0, extract(SECOND FROM {0}))",
    "SECOND": "make_dt_interval(0, 0, 0, extract(SECOND FROM {0}) % 1)",
    "MILLISECOND": "make_dt_interval(0, 0, 0, extract(SECOND FROM {0}) % 0.001)",
}


def floor(text: str, unit: str, type_: LogicalType | None, zone: str) -> str:
    """Return a time cut to a unit; weeks begin on Sunday."""
    root = type_.root if type_ else "TIMESTAMP"
    if root == "DATE":
        return _date(text, unit)
    if root == "TIME":
        return f"time_trunc('{unit}', {text})"
    if root == "TIMESTAMP_LTZ":
        return _instant(text, unit)
    if unit in _DATE_UNITS:
        return f"CAST({_date(f'CAST({text} AS DATE)', unit)} AS TIMESTAMP_NTZ)"
    # Spark's date_trunc reads an NTZ in the session's zone. Where that has summer time, the rest is subtracted instead.
    if is_fixed_zone(zone) or unit not in _REMAINDERS:
        return f"CAST(date_trunc('{unit}', {text}) AS TIMESTAMP_NTZ)"
    return f"({text} - {_REMAINDERS[unit].format(text)})"


def ceil(text: str, unit: str, type_: LogicalType | None, zone: str) -> str:
    """Return the first whole unit at or after a time: one unit after the floor of the instant just before."""
    root = type_.root if type_ else "TIMESTAMP"
    step = _STEPS.get(unit, f"INTERVAL '1' {unit}")
    if root == "DATE":
        longer = unit in _DATE_UNITS and unit != "DAY"
        return f"({floor(f'date_sub({text}, 1)', unit, type_, zone)} + {step})" if longer else text
    if root == "TIME":
        return _time_ceil(text, unit, step)
    if unit in _DATE_UNITS and unit != "DAY":
        # Flink looks at the date alone: noon of January 1 is its own ceiling, cut to midnight.
        day = f"date_sub(CAST({text} AS DATE), 1)"
        return f"CAST({_date(day, unit)} + {step} AS {'TIMESTAMP' if root == 'TIMESTAMP_LTZ' else 'TIMESTAMP_NTZ'})"
    # A time that is a whole unit already must stay, so the instant just before it is rounded.
    before = f"({text} - INTERVAL '0.000001' SECOND)"
    return f"({floor(before, unit, type_, zone)} + {step})"


def _time_ceil(text: str, unit: str, step: str) -> str:
    """Return the first whole unit at or after a time of day; the one after the last of the day is midnight."""
    whole = f"time_trunc('{unit}', {text})"
    # The text behind the day is the time.
    later = f"substring(CAST(make_timestamp_ntz(DATE '1970-01-01', {whole}) + {step} AS STRING), 12)"
    return f"CASE WHEN {whole} = {text} THEN {text} ELSE CAST({later} AS TIME(0)) END"


def _date(text: str, unit: str) -> str:
    if unit == "WEEK":
        return f"date_sub(next_day({text}, 'SUNDAY'), 7)"
    if unit in ("YEAR", "QUARTER", "MONTH"):
        return f"trunc({text}, '{unit}')"
    years = {"DECADE": 10, "CENTURY": 100, "MILLENNIUM": 1000}.get(unit)
    if years is None:
        return text
    # Centuries and millennia begin with the year 1, decades with 0.
    shift = 0 if unit == "DECADE" else 1
    return f"make_date(CAST(floor((year({text}) - {shift}) / {years}) AS INT) * {years} + {shift}, 1, 1)"


def _instant(text: str, unit: str) -> str:
    if unit == "WEEK":
        return f"CAST({_date(f'CAST({text} AS DATE)', unit)} AS TIMESTAMP)"
    if unit in ("DECADE", "CENTURY", "MILLENNIUM"):
        return f"CAST({_date(f'CAST({text} AS DATE)', unit)} AS TIMESTAMP)"
    return f"date_trunc('{unit}', {text})"
