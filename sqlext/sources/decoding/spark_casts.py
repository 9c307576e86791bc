"""Cast texts one by one, exactly as Spark's CAST under ANSI rules: for what Arrow's parsers do not take.

Each function returns the value as Arrow stores it, or raises ``ValueError`` where Spark's cast fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from sqlext.errors import SqlExtError
from sqlext.sources.decoding.malformed import BAD_ROW

#: What Spark's casts trim (UTF8String.trimAll), as far as ASCII has it.
_BLANK = "".join(map(chr, range(33))) + "\x7f"
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SPECIAL = {"inf": "inf", "infinity": "inf", "nan": "nan"}
#: By Spark's SparkDateTimeUtils: a year has 4 to 7 digits in a date, 4 to 6 in a timestamp.
_DATE = re.compile(r"([+-]?[0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIMESTAMP = re.compile(
    r"([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[ T](?:([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?)?)?:?)?(.*))?)?)?",
    re.DOTALL,
)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?(?::?([0-9]{2}))?")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICRO_DIGITS = 6
#: With Python's 28 digits ``quantize`` would refuse what a DECIMAL(38) holds.
_WIDEST = Context(prec=80)
#: The limit of Java's ZoneOffset.
_LARGEST_OFFSET = timedelta(hours=18)

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
    trimmed = text.strip(_BLANK)
    sign, name = ("-" if trimmed.startswith("-") else ""), trimmed.lstrip("+-").lower()
    if name in _SPECIAL and len(trimmed) - len(name) <= 1:
        return float(sign + _SPECIAL[name])
    # Java's Double.parseDouble takes the suffix of a type: 1.5d, 2f.
    bare = trimmed[:-1] if trimmed[-1:] in "dDfF" else trimmed
    if not _NUMBER.fullmatch(bare):
        raise ValueError(text)
    return float(bare)


def to_decimal(text: str, precision: int, scale: int) -> Decimal:
    """Return a DECIMAL, rounded half up."""
    trimmed = text.strip(_BLANK)
    if not _NUMBER.fullmatch(trimmed):
        raise ValueError(text)
    exact = Decimal(trimmed)
    if exact and exact.adjusted() >= precision - scale:  # ``quantize`` has a limit of its own
        raise OverflowError(text)
    value = exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _WIDEST)
    if abs(value) >= Decimal(10) ** (precision - scale):
        raise OverflowError(text)
    return value


def to_date(text: str) -> date:
    """Return a DATE; what stands behind the day is not looked at."""
    found = _DATE.fullmatch(text.strip(_BLANK))
    if found is None:
        raise ValueError(text)
    year, month, day = found.groups()
    return date(int(year), int(month or 1), int(day or 1))


def to_instant(text: str) -> int:
    """Return a TIMESTAMP in microseconds; a text without zone is UTC."""
    micros, zone = _timestamp(text)
    if not zone:
        return micros
    wall = _EPOCH + timedelta(microseconds=micros)
    offset = _offset(zone, wall)
    return micros - offset // timedelta(microseconds=1)


def to_wall_clock(text: str) -> int:
    """Return a TIMESTAMP_NTZ in microseconds; a zone behind it is checked and not looked at."""
    micros, zone = _timestamp(text)
    if zone:
        _offset(zone, _EPOCH + timedelta(microseconds=micros))
    return micros


def _timestamp(text: str) -> tuple[int, str]:
    found = _TIMESTAMP.fullmatch(text.strip(_BLANK))
    if found is None:
        raise ValueError(text)
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    if zone and second is None:
        raise ValueError(text)
    whole = datetime(
        int(year),
        int(month or 1),
        int(day or 1),
        int(hour or 0),
        int(minute or 0),
        int(second or 0),
        tzinfo=timezone.utc,
    )
    # Further digits are cut off, as Spark does, not rounded.
    micros = int((fraction or "")[:_MICRO_DIGITS].ljust(_MICRO_DIGITS, "0"))
    return (whole - _EPOCH) // timedelta(microseconds=1) + micros, (zone or "").strip()


def _offset(zone: str, wall: datetime) -> timedelta:
    if zone in ("Z", "UTC", "GMT", "UT"):
        return timedelta(0)
    found = _OFFSET.fullmatch(zone)
    if found is None:
        try:
            there = wall.replace(tzinfo=ZoneInfo(zone)).utcoffset()
        except Exception as error:
            raise ValueError(zone) from error
        return there or timedelta(0)
    sign, *parts = found.groups()
    hours, minutes, seconds = (int(p or 0) for p in parts)
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if offset > _LARGEST_OFFSET:
        raise ValueError(zone)
    return timezone(offset if sign == "+" else -offset).utcoffset(None)
