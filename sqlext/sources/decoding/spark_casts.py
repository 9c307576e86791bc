"""Cast texts one by one, exactly as Spark's CAST under ANSI rules: for what Arrow's parsers do not take.

Each function returns the value as Arrow stores it, or raises ``ValueError`` where Spark's cast fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from sqlext.errors import SqlExtError
from sqlext.sources.decoding.malformed import BAD_ROW

#: What Spark's casts trim (UTF8String.trimAll), as far as ASCII has it.
_BLANK = "".join(map(chr, range(33))) + "\x7f"
#: What Java's own parsers of numbers trim (String.trim).
_JAVA_BLANK = "".join(map(chr, range(33)))
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: BigDecimal takes the digits of any script.
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_SPECIAL = {"inf": "inf", "infinity": "inf", "nan": "nan"}
#: By Spark's SparkDateTimeUtils: a year has 4 to 7 digits in a date, 4 to 6 in a timestamp.
_DATE = re.compile(r"([+-]?[0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIMESTAMP = re.compile(
    r"([+-]?[0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?(.*))?)?)?)?)?",
    re.DOTALL,
)
#: Of a day that is not said: ``10:00``, ``T10``, ``10:00:00.5 +02:00``.
_TIME_OF_DAY = re.compile(
    r"(?:T([0-9]{1,2})|([0-9]{1,2})(?=:))(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?(.*))?)?", re.DOTALL
)
#: ``+2``, ``+2:5``, ``+02:30:15``, or the digits alone: ``+0230``.
_OFFSET = re.compile(
    r"(?:UTC|GMT|UT)?([+-])(?:([0-9]{1,2})(?::([0-9]{1,2}))?|([0-9]{1,2}):([0-9]{2}):([0-9]{2})|([0-9]{2})([0-9]{2})([0-9]{2})?)"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097
_DAY_SECONDS, _SECOND = 86_400, 1_000_000
_MICRO_DIGITS = 6
#: With Python's 28 digits ``quantize`` would refuse what a DECIMAL(38) holds.
_WIDEST = Context(prec=80)
#: The limit of Java's ZoneOffset.
_LARGEST_OFFSET = timedelta(hours=18)
_LARGEST_OF_SIXTY = 59

Parse = Callable[[str], Any]


def parser_of(of: pa.DataType) -> Parse:
    """Return what parses texts to a type."""
    if pa.types.is_integer(of):
        return _integers(of)
    if pa.types.is_floating(of):
        return to_float
    if pa.types.is_decimal128(of):
        return lambda text: to_decimal(text, of.precision, of.scale)
    if pa.types.is_date32(of):
        return to_date
    if pa.types.is_timestamp(of):
        return to_instant if of.tz else to_wall_clock
    raise TypeError(of)


def cast_texts(texts: pa.Array, of: pa.DataType, name: str) -> pa.Array:
    """Return a column of texts as another type, each different text parsed once.

    Raises:
        SqlExtError: RUN-066 naming the text that cannot be cast, as the JVM path does.
    """
    encoded = texts.dictionary_encode()
    parse = parser_of(of)
    values = []
    for text in encoded.dictionary.to_pylist():
        try:
            values.append(parse(text))
        except (ValueError, OverflowError) as error:
            message = f"[CAST_INVALID_INPUT] The value '{text}' of column `{name}` cannot be cast to {of}"
            raise SqlExtError(BAD_ROW, message) from error
    return pc.take(pa.array(values, of), encoded.indices)


def _integers(of: pa.DataType) -> Parse:
    limit = 1 << of.bit_width - 1

    def parse(text: str) -> int:
        trimmed = text.strip(_BLANK)
        if not _INTEGER.fullmatch(trimmed):
            raise ValueError(text)
        value = int(trimmed)
        if not -limit <= value < limit:
            raise ValueError(text)
        return value

    return parse


def to_float(text: str) -> float:
    """Return a DOUBLE or FLOAT: Java's grammar, and names of what is no number."""
    trimmed = text.strip(_JAVA_BLANK)
    sign, name = ("-" if trimmed.startswith("-") else ""), trimmed.lstrip("+-").lower()
    # Java knows `+NaN` and `-NaN`; Spark knows `nan` in any letters, but without a sign.
    if name in _SPECIAL and (
        trimmed.lower() == name or trimmed[1:] == "NaN" or (name != "nan" and len(trimmed) == len(name) + 1)
    ):
        return float(sign + _SPECIAL[name])
    # Java's Double.parseDouble takes the suffix of a type: 1.5d, 2f.
    bare = trimmed[:-1] if trimmed[-1:] in "dDfF" else trimmed
    if not _NUMBER.fullmatch(bare):
        raise ValueError(text)
    return float(bare)


def to_decimal(text: str, precision: int, scale: int) -> Decimal:
    """Return a DECIMAL, rounded half up."""
    trimmed = text.strip(_JAVA_BLANK)
    if not _DECIMAL.fullmatch(trimmed):
        raise ValueError(text)
    exact = Decimal(trimmed)
    if exact and exact.adjusted() >= precision - scale:  # ``quantize`` has a limit of its own
        raise OverflowError(text)
    value = exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _WIDEST)
    if value.copy_abs() >= Decimal(10) ** (precision - scale):  # ``abs`` would round to 28 digits
        raise OverflowError(text)
    return value


def to_date(text: str) -> int:
    """Return a DATE in days since 1970; what stands behind the day is not looked at."""
    found = _DATE.fullmatch(text.strip(_BLANK))
    if found is None:
        raise ValueError(text)
    year, month, day = found.groups()
    return _days(int(year), int(month or 1), int(day or 1))


def _days(year: int, month: int, day: int) -> int:
    """Return the days from 1970 on; Python's dates end with the years 1 and 9999, those of Java do not."""
    cycles, of_cycle = divmod(year, _CYCLE_YEARS)
    # Days repeat every 400 years: a year of the same place in them is one that Python has.
    return date(_CYCLE_YEARS + of_cycle, month, day).toordinal() - _EPOCH_DAY + (cycles - 1) * _CYCLE_DAYS


def to_instant(text: str) -> int:
    """Return a TIMESTAMP in microseconds; a text without zone is UTC, and one without a date is of today there."""
    of_day = _TIME_OF_DAY.fullmatch(text.strip(_BLANK))
    micros, zone = _today_at(of_day) if of_day else _timestamp(text)
    return micros - _offset(zone, micros) // timedelta(microseconds=1) if zone else micros


def to_wall_clock(text: str, *, zoned: bool = True) -> int:
    """Return a TIMESTAMP_NTZ in microseconds; a zone behind it is checked and not looked at, where one may stand."""
    micros, zone = _timestamp(text)
    if zone:
        if not zoned:
            raise ValueError(text)
        _offset(zone, micros)
    return micros


def _today_at(of_day: re.Match[str]) -> tuple[int, str]:
    hour, bare_hour, minute, second, fraction, zone = of_day.groups()
    place = (zone or "").strip(_JAVA_BLANK)
    now = datetime.now(timezone.utc) - _EPOCH
    now += _offset(place, now // timedelta(microseconds=1)) if place else timedelta(0)
    return now.days * _DAY_SECONDS * _SECOND + _micros_of(hour or bare_hour, minute, second, fraction), place


def _micros_of(hour: str | None, minute: str | None, second: str | None, fraction: str | None) -> int:
    of_day = time(int(hour or 0), int(minute or 0), int(second or 0))
    seconds = of_day.hour * 3600 + of_day.minute * 60 + of_day.second
    # Further digits are cut off, as Spark does, not rounded.
    return seconds * _SECOND + int((fraction or "")[:_MICRO_DIGITS].ljust(_MICRO_DIGITS, "0"))


def _timestamp(text: str) -> tuple[int, str]:
    found = _TIMESTAMP.fullmatch(text.strip(_BLANK))
    if found is None:
        raise ValueError(text)
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    days = _days(int(year), int(month or 1), int(day or 1))
    micros = _micros_of(hour, minute, second, fraction)
    return days * _DAY_SECONDS * _SECOND + micros, (zone or "").strip(_JAVA_BLANK)


def _offset(zone: str, micros: int) -> timedelta:
    if zone in ("Z", "UTC", "GMT", "UT"):
        return timedelta(0)
    found = _OFFSET.fullmatch(zone)
    if found is None:
        try:
            there = _python_time(micros).replace(tzinfo=ZoneInfo(zone)).utcoffset()
        except Exception as error:
            raise ValueError(zone) from error
        return there or timedelta(0)
    sign, *parts = found.groups()
    hours, minutes, seconds = (int(p or 0) for p in [*(p for p in parts if p), "0", "0"][:3])
    if max(minutes, seconds) > _LARGEST_OF_SIXTY:
        raise ValueError(zone)
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if offset > _LARGEST_OFFSET:
        raise ValueError(zone)
    return timezone(offset if sign == "+" else -offset).utcoffset(None)


def _python_time(micros: int) -> datetime:
    """Return a wall clock; of years that Python has not, one at which a zone has the same offset."""
    cycle = _CYCLE_DAYS * _DAY_SECONDS * _SECOND
    first, last = (datetime(year, 1, 1, tzinfo=timezone.utc) - _EPOCH for year in (2, 9999))
    if micros > last // timedelta(microseconds=1):
        micros = micros % cycle + (9999 - 1970) // _CYCLE_YEARS * cycle - cycle
    return _EPOCH + max(timedelta(microseconds=micros), first)
