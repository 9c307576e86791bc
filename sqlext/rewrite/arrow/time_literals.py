"""Convert SQL literals of dates and times to Arrow values."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa

from sqlext_udfs.expressions.columns import Literal
from sqlext_udfs.expressions.functions import INSTANT, WALL_CLOCK

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?)?(Z?)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_DATE = pa.date32()


def time_literal(text: str, of: pa.DataType, zone: str) -> Literal | None:
    """Return ``TIMESTAMP '...'``, ``TIMESTAMP_NTZ '...'`` or ``DATE '...'``; None for what Spark may read otherwise.

    Args:
        text: between the quotes.
        of: an instant, a wall clock or a date.
        zone: the session's, in which an instant is meant that names none.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    day, clock, fraction, utc = found.groups()
    if (of != INSTANT and utc) or (of == _DATE and clock):
        return None
    try:
        time = datetime.strptime(f"{day} {clock or '00:00:00'}Z", "%Y-%m-%d %H:%M:%S%z")
        if of == INSTANT and not utc and zone != "UTC":
            # Of a clock that is put back the first of two instants; one that is left out is put on, as Java does.
            time = time.replace(tzinfo=ZoneInfo(zone)).astimezone(timezone.utc)
    except (ValueError, OverflowError, ZoneInfoNotFoundError):  # no such day, after year 9999, a zone of Java alone
        return None
    time += timedelta(microseconds=int((fraction or "").ljust(6, "0")))
    micros = (time - _EPOCH) // timedelta(microseconds=1)
    return Literal(of, value=(time - _EPOCH).days if of == _DATE else micros)


#: Units of intervals that are as long everywhere -> microseconds.
_UNITS = {"DAY": 86_400_000_000, "HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,6})?", re.ASCII)


def interval_micros(text: str, unit: str) -> int | None:
    """Return ``INTERVAL '...' unit`` in microseconds; None for one that is not as long everywhere, or of several units.

    Args:
        text: between the quotes.
        unit: as SQL writes it, also as a plural.
    """
    # Months and years are missing in `_UNITS`. Of the units here, Spark takes a fraction of seconds alone.
    micros = _UNITS.get(unit.upper().removesuffix("S"))
    if micros is None or _NUMBER.fullmatch(text) is None or ("." in text and micros != _UNITS["SECOND"]):
        return None
    return int(Decimal(text) * micros)


#: sqlglot's names of types -> what a literal of them is.
LITERALS = {"TIMESTAMPTZ": INSTANT, "TIMESTAMPLTZ": INSTANT, "TIMESTAMPNTZ": WALL_CLOCK, "DATE": _DATE}
