"""Draw values that are numbers, times, choices and patterns: what Datafaker's own arguments describe."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import TypeAlias

from sqlext.connectors.faker.lengths import MOST, longest
from sqlext.extras import package

Value: TypeAlias = "str | int | float | bool | Decimal | dt.datetime"


@dataclass(frozen=True, slots=True)
class Draw:
    """What a value is made of.

    Attributes:
        random: gives the same numbers whenever the same rows are made.
        now: the time of the row.
    """

    random: Random
    now: dt.datetime


Maker: TypeAlias = "Callable[[Draw], Value]"
Build: TypeAlias = "Callable[[Sequence[str]], Maker]"
"""Makes the maker of a call of its arguments; raises ValueError for others than it takes."""

_UNITS: Mapping[str, dt.timedelta] = {
    "NANOSECONDS": dt.timedelta(0),
    "MICROSECONDS": dt.timedelta(microseconds=1),
    "MILLISECONDS": dt.timedelta(milliseconds=1),
    "SECONDS": dt.timedelta(seconds=1),
    "MINUTES": dt.timedelta(minutes=1),
    "HOURS": dt.timedelta(hours=1),
    "DAYS": dt.timedelta(days=1),
}
_MILLISECOND = _UNITS["MILLISECONDS"]
_DAYS_OF_A_YEAR = 365
#: Texts without a character that means something in a regular expression.
_CHOICE = re.compile(r"\(((?:[^\\|()\[\]{}.*+?^$]*\|)*[^\\|()\[\]{}.*+?^$]*)\)(?:\{1\})?")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"


def _between(arguments: Sequence[str]) -> Maker:
    """Take the least and, exclusive, the largest whole number."""
    low, high = map(int, _exactly(arguments, 2))
    return lambda draw: draw.random.randrange(low, high) if low < high else low


def _double(arguments: Sequence[str]) -> Maker:
    """Take the most digits behind the point, the least and the largest number."""
    digits, low, high = _exactly(arguments, 3)
    scale, least, most = Decimal(1).scaleb(-int(digits)), float(low), float(high)
    return lambda draw: Decimal(repr(draw.random.uniform(least, most))).quantize(scale)


def _digit(low: int) -> Build:
    def build(arguments: Sequence[str]) -> Maker:
        _exactly(arguments, 0)
        return lambda draw: draw.random.randint(low, 9)

    return build


def _digits(arguments: Sequence[str]) -> Maker:
    """Take how many."""
    (count,) = map(_count, _exactly(arguments, 1))
    return lambda draw: "".join(draw.random.choices(_DIGITS, k=count))


def _long(low: int, high: int) -> Build:
    def build(arguments: Sequence[str]) -> Maker:
        _exactly(arguments, 0)
        return lambda draw: draw.random.randint(low, high)

    return build


def _options(arguments: Sequence[str]) -> Maker:
    """Take the values to choose from."""
    if not arguments:
        raise ValueError("it takes the values to choose from: 'a','b'")
    return lambda draw: draw.random.choice(arguments)


def _bool(arguments: Sequence[str]) -> Maker:
    _exactly(arguments, 0)
    return lambda draw: draw.random.random() < 0.5


def _replaced(kinds: Mapping[str, str]) -> Build:
    """Take a pattern, in which these characters stand for any one of others."""

    def build(arguments: Sequence[str]) -> Maker:
        pattern = arguments[0] if arguments else ""
        upper = len(arguments) == 2 and arguments[1].lower() == "true"
        if not 1 <= len(arguments) <= 2:
            raise ValueError("it takes a pattern: 'user-##'")
        if upper:
            return lambda draw: "".join(draw.random.choice(kinds[c]).upper() if c in kinds else c for c in pattern)
        return lambda draw: "".join(draw.random.choice(kinds[c]) if c in kinds else c for c in pattern)

    return build


def _regexify(arguments: Sequence[str]) -> Maker:
    """Take a regular expression."""
    (pattern,) = _exactly(arguments, 1)
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"'{pattern}' is no regular expression: {error}") from error
    if longest(pattern) > MOST:
        raise ValueError(f"'{pattern}' makes texts of more than {MOST:,} characters")
    # Most patterns are a choice of texts, as '(red|green){1}'.
    choice = _CHOICE.fullmatch(pattern)
    if choice is not None:
        texts = choice[1].split("|")
        return lambda draw: draw.random.choice(texts)

    def make(draw: Draw) -> Value:
        return str(package("rstr", "faker", "#{regexify}").Rstr(draw.random).xeger(pattern))

    return make


def _uuid(arguments: Sequence[str]) -> Maker:
    _exactly(arguments, 0)
    return lambda draw: str(uuid.UUID(int=draw.random.getrandbits(128), version=4))


def _ipv4(arguments: Sequence[str]) -> Maker:
    _exactly(arguments, 0)
    return lambda draw: ".".join(str(draw.random.randint(2, 254)) for _ in range(4))


def _public_ipv4(arguments: Sequence[str]) -> Maker:
    _exactly(arguments, 0)
    # 11 to 99 have no block that is not public.
    return lambda draw: f"{draw.random.randint(11, 99)}." + ".".join(str(draw.random.randint(0, 255)) for _ in range(3))


def _coordinate(limit: int) -> Build:
    def build(arguments: Sequence[str]) -> Maker:
        _exactly(arguments, 0)
        return lambda draw: round(draw.random.uniform(-limit, limit), 8)

    return build


def _price(arguments: Sequence[str]) -> Maker:
    """Take nothing, or the least and the largest price."""
    low, high = map(float, _exactly(arguments or ("0", "100"), 2))
    return lambda draw: Decimal(repr(draw.random.uniform(low, high))).quantize(Decimal("0.01"))


def _words(arguments: Sequence[str]) -> Maker:
    """Take how many words, 3 by default."""
    count = _count(arguments[0]) if arguments else 3
    return lambda draw: " ".join(_word(draw.random) for _ in range(count))


def _characters(arguments: Sequence[str]) -> Maker:
    """Take how many letters, 255 by default."""
    count = _count(arguments[0]) if arguments else 255
    return lambda draw: "".join(draw.random.choices(_LETTERS, k=count))


def _count(text: str) -> int:
    if int(text) > MOST:
        raise ValueError(f"it makes at most {MOST:,} of them, not {int(text):,}")
    return int(text)


def _word(random: Random) -> str:
    return "".join(random.choices(_LETTERS, k=random.randint(3, 9)))


def _moment(sign: int) -> Build:
    """Take the most, optionally the least distance, and their unit: a time before or behind now."""

    def build(arguments: Sequence[str]) -> Maker:
        if not 2 <= len(arguments) <= 3 or arguments[-1].upper() not in _UNITS:
            raise ValueError(f"it takes distances and a unit: '15','SECONDS'; units are {', '.join(_UNITS)}")
        unit = _UNITS[arguments[-1].upper()]
        most, least = int(arguments[0]) * unit, (int(arguments[1]) if len(arguments) == 3 else 0) * unit
        if most < least:
            raise ValueError(f"{arguments[0]}, the most, is less than {arguments[1]}, the least")
        span = (most - least) // _MILLISECOND
        return lambda draw: draw.now + sign * (least + draw.random.randint(0, span) * _MILLISECOND)

    return build


def _birthday(arguments: Sequence[str]) -> Maker:
    """Take nothing, or the least and the largest age in years."""
    low, high = map(int, _exactly(arguments or ("18", "65"), 2))
    days = low * _DAYS_OF_A_YEAR, max(high, low + 1) * _DAYS_OF_A_YEAR
    return lambda draw: draw.now - dt.timedelta(days=draw.random.uniform(*days))


def _exactly(arguments: Sequence[str], count: int) -> Sequence[str]:
    if len(arguments) != count:
        raise ValueError(f"it takes {count} arguments, not {len(arguments)}")
    return arguments


#: Datafaker's name -> what makes its values.
DRAWN: Mapping[str, Build] = {
    "number.numberBetween": _between,
    "number.randomDouble": _double,
    "number.randomDigit": _digit(0),
    "number.randomDigitNotZero": _digit(1),
    "number.digit": _digit(0),
    "number.digits": _digits,
    "number.positive": _long(1, 2**31 - 1),
    "number.negative": _long(-(2**31), -1),
    "number.randomNumber": _long(0, 2**31 - 1),
    "options.option": _options,
    "bool.bool": _bool,
    "regexify": _regexify,
    "numerify": _replaced({"#": _DIGITS}),
    "letterify": _replaced({"?": _LETTERS}),
    "bothify": _replaced({"#": _DIGITS, "?": _LETTERS}),
    "internet.uuid": _uuid,
    "internet.ipV4Address": _ipv4,
    "internet.publicIpV4Address": _public_ipv4,
    "internet.port": _long(1, 65535),
    "address.latitude": _coordinate(90),
    "address.longitude": _coordinate(180),
    "commerce.price": _price,
    "lorem.words": _words,
    "lorem.characters": _characters,
    "date.past": _moment(-1),
    "date.future": _moment(1),
    "date.birthday": _birthday,
    "timeAndDate.past": _moment(-1),
    "timeAndDate.future": _moment(1),
    "timeAndDate.birthday": _birthday,
}
