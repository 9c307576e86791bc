"""Parse durations, numbers of rows, and thresholds.

duration ::= INTERVAL 'n' unit | INTERVAL n unit | 'n' unit | n unit | n(ms|s|m|h|d|w)
"""

from __future__ import annotations

import re
from decimal import Decimal

from sqlext.dialect.cursor import Cursor
from sqlext.dialect.emit.reading import found, must_follow, refusal
from sqlext.dialect.tokens import TokenKind
from sqlext.errors import SqlExtError
from sqlext.source import Span

_MS = {"MILLISECOND": 1, "SECOND": 1_000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 604_800_000}
_SHORT = {"MS": "MILLISECOND", "S": "SECOND", "M": "MINUTE", "H": "HOUR", "D": "DAY", "W": "WEEK"}
_UNITS = {**{u: u for u in _MS}, **{f"{u}S": u for u in _MS}, **_SHORT}
_NO_LENGTH = frozenset(u + s for u in ("MONTH", "QUARTER", "YEAR", "DECADE") for s in ("", "S"))
_TOO_FINE = frozenset(u + s for u in ("MICROSECOND", "NANOSECOND") for s in ("", "S"))
_UNIT_WORDS = frozenset(_UNITS) | _NO_LENGTH | _TOO_FINE
_ROWS = ("ROW", "ROWS")

#: What a duration or count may be at most: the engine's times are longs.
_MOST = 2**63 - 1
#: A number that surely fits, and in a string a unit after it.
_VALUE = re.compile(r"\s*([+-]?)\s*(\d{1,19}(?:\.\d{0,9})?)\s*([A-Za-z]*)\s*")
_POSITIVE = re.compile(r"0*[1-9]\d*")
# The exponent is bounded: 1E999999999 is a short text, and a huge number to compute with.
_THRESHOLD = re.compile(r"\d{1,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?")


def at_count(cursor: Cursor) -> bool:
    """Whether a number comes next that is no duration: a number of rows, or one that lacks its unit."""
    ahead = _after_sign(cursor)
    return cursor.peek(ahead).kind is TokenKind.NUMBER and cursor.peek(ahead + 1).upper not in _UNIT_WORDS


def at_duration(cursor: Cursor) -> bool:
    """Whether a duration comes next, be it wrong."""
    if cursor.at_words("INTERVAL"):
        return True
    ahead = _after_sign(cursor)
    token = cursor.peek(ahead)
    return token.kind is TokenKind.STRING or (
        token.kind is TokenKind.NUMBER and cursor.peek(ahead + 1).upper in _UNIT_WORDS
    )


def _after_sign(cursor: Cursor) -> int:
    return 1 if cursor.at_symbol("-", "+") else 0


def _sign(cursor: Cursor) -> str:
    return cursor.advance().text if cursor.at_symbol("-", "+") else ""


def parse_count(cursor: Cursor, what: str) -> int:
    """Read ``n ROW | ROWS``; ``what`` is the phrase it belongs to, for messages."""
    start = cursor.token.start
    sign = _sign(cursor)
    number = cursor.token
    if number.kind is not TokenKind.NUMBER:
        raise must_follow(cursor, what, "a number of ROWS")
    cursor.advance()
    text = sign.removeprefix("+") + number.text
    span = cursor.span_from(start)
    if not cursor.accept_any(*_ROWS):
        hint = f"{text} ROWS are rows, {text}s are seconds"
        raise refusal(cursor, f"expected ROWS after {text}, found {found(cursor)}", (*_ROWS, *_UNITS), hint)
    if not _POSITIVE.fullmatch(text):
        raise SqlExtError("EMIT-005", f"{what} must be a whole number of at least 1, not {text}", span=span)
    # Python refuses to convert thousands of digits; 40 leaves room for leading zeros.
    if len(text) > 40 or int(text) > _MOST:
        raise SqlExtError("EMIT-005", f"{what} must be at most {_MOST}, not {text}", span=span)
    return int(text)


def parse_duration(cursor: Cursor, what: str, *, zero: bool = False) -> int:
    """Read a duration and return its milliseconds; ``zero``: it may be 0."""
    start = cursor.token.start
    cursor.accept_words("INTERVAL")
    sign = _sign(cursor)
    value = cursor.token
    if value.kind not in (TokenKind.NUMBER, TokenKind.STRING):
        raise must_follow(cursor, what, "a duration")
    match = _VALUE.fullmatch(value.value)
    if match is None or match[3].upper() not in ("", *_UNIT_WORDS):
        cursor.fail("EMIT-003", f"cannot read the duration {value.text} of {what}")
    cursor.advance()
    if match[3]:  # INTERVAL '5 seconds'
        unit = _unit(what, match[1] + match[2], match[3], cursor.source.span(value.start, value.end))
    else:
        word = cursor.token
        unit = _unit(what, match[1] + match[2], word.text, cursor.source.span(word.start, word.end))
        cursor.advance()
    # Decimal, because 0.1 SECOND is exactly 100 ms.
    exact = Decimal(match[1] + match[2]) * _MS[unit] * (-1 if sign == "-" else 1)
    return _whole(exact, what, cursor.span_from(start), zero)


def _unit(what: str, value: str, word: str, span: Span) -> str:
    """Return the unit that a word names."""
    upper = word.upper()
    if upper in _NO_LENGTH:
        message = f"{what}: months and years have no fixed length; use days or smaller"
    elif upper in _TOO_FINE:
        message = f"{what}: the smallest unit is the millisecond"
    elif word == "M":  # Timeplus's month, where m is its minute
        message = f"{what}: {value}M may be minutes or months; write {value}m"
    elif upper not in _UNITS:
        message = f"{what} needs a time unit (SECOND, MINUTE, HOUR, DAY, WEEK, MILLISECOND) after {value}"
    else:
        return _UNITS[upper]
    raise SqlExtError("EMIT-003", message, span=span)


def _whole(exact: Decimal, what: str, span: Span, zero: bool) -> int:
    """Return a duration's milliseconds if it is in range."""
    if exact < 0 and zero:
        raise SqlExtError("EMIT-004", f"{what} must not be negative", span=span)
    if exact <= 0 and not zero:
        raise SqlExtError("EMIT-004", f"{what} must be greater than zero", span=span)
    if exact > _MOST:
        raise SqlExtError("EMIT-003", f"{what}: {span.text} is too long", span=span)
    if exact != int(exact):
        raise SqlExtError("EMIT-003", f"{what}: {span.text} is not a whole number of milliseconds", span=span)
    return int(exact)


def parse_threshold(cursor: Cursor, after: str) -> Decimal:
    """Read a number with or without sign."""
    sign = _sign(cursor)
    number = cursor.token
    if number.kind is not TokenKind.NUMBER or not _THRESHOLD.fullmatch(number.text):
        raise must_follow(cursor, after, "a number")
    cursor.advance()
    return Decimal(sign + number.text)


def duration_text(ms: int) -> str:
    """Return the interval of so many milliseconds, in the largest unit up to days that fits."""
    # Each unit divides 0, which is shown as 0 SECOND.
    unit = next(
        u for u in ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND") if ms % _MS[u] == 0 and (ms or u == "SECOND")
    )
    return f"INTERVAL '{ms // _MS[unit]}' {unit}"
