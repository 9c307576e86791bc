"""Parse literals: numbers, strings, ``DATE '..'``, intervals."""

from __future__ import annotations

import re
from dataclasses import replace

from sqlext.dialect.ast.expressions import ColumnRef, Expr, Interval, Literal
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.tokens import Token, TokenKind, did_you_mean_word, unescaped, words, wrong_escape
from sqlext.errors import SqlExtError, did_you_mean

#: Words that make a typed literal of the string after them, and its kind.
TYPED = {
    "DATE": "DATE",
    "TIME": "TIME",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_NTZ": "TIMESTAMP",
    "TIMESTAMP_LTZ": "TIMESTAMP_LTZ",
    "X": "BINARY",
}

#: The character sets that Flink knows by one word, and what Python calls them.
_CHARACTER_SETS = {
    "UTF8": "utf-8",
    "UTF16": "utf-16-le",
    "LATIN1": "latin-1",
    "BIG5": "big5",
    "GB2312": "gb2312",
    "GBK": "gbk",
}

SINGULAR_UNITS = words(
    "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND NANOSECOND DECADE CENTURY MILLENNIUM"
)
#: Every spelling of a unit, and its upper-case singular.
UNITS = {
    **{u: u for u in SINGULAR_UNITS},
    **{f"{u}S": u for u in SINGULAR_UNITS},
    "CENTURIES": "CENTURY",
    "MILLENNIA": "MILLENNIUM",
}

#: Units of the difference of two times: words that are no names in Flink, so none of them is an alias.
DIFFERENCES = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")

#: A number's type suffix in Spark: 5L, 1.5D, 2BD.
_SUFFIX = re.compile(r"(?:L|S|Y|D|F|BD)", re.IGNORECASE)
# Pairs alone: before an odd digit Spark puts a zero, and Calcite refuses it.
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
#: What UESCAPE cannot name.
_NO_ESCAPES = frozenset("0123456789abcdefABCDEF+\"'")
_PHRASE = re.compile(r"\s*([+-]?[\d.:]+)\s*([A-Za-z]+)\s*")


def parse_literal(cursor: Cursor) -> Expr:
    """Read a number or a string; strings side by side are one, as in the standard."""
    token = cursor.advance()
    if token.kind is TokenKind.NUMBER:
        _suffix(cursor, token)
        span = cursor.span_from(token.start)
        return Literal(span, "NUMBER", span.text)
    if cursor.mode == "flink" and token.text.startswith('"'):
        raise SqlExtError(
            "PARSE-011",
            f"{token.text} is neither a string nor a name in Flink SQL",
            span=cursor.span_from(token.start),
            hint=f"write '{token.value}' for a string, `{token.value}` for a name",
        )
    value = _text(cursor, token)
    # Each keeps its own quotes and escapes, so the values are joined, not the texts.
    while cursor.token.kind is TokenKind.STRING:
        value += _text(cursor, cursor.advance())
    return Literal(cursor.span_from(token.start), "STRING", value)


def _text(cursor: Cursor, token: Token) -> str:
    """Return the value of a string; behind ``U&'...'`` UESCAPE may name another escape than the backslash."""
    if token.text[:2].upper() != "U&":
        return token.value
    escape = "\\"
    if cursor.at_words("UESCAPE") and cursor.peek().kind is TokenKind.STRING:
        cursor.advance()
        named = cursor.expect_string()
        escape = named.value
        if len(escape) != 1 or escape.isspace() or escape in _NO_ESCAPES:
            span = cursor.source.span(named.start, named.end)
            raise SqlExtError("PARSE-008", f"{named.text} is no escape character", span=span, hint="write UESCAPE '!'")
    inner = token.text[3:-1]
    wrong = wrong_escape(inner, escape)
    if wrong is not None:
        at = token.start + 3 + wrong
        hint = f"write {escape}00e4 or {escape}+01f600, and {escape}{escape} for the character itself"
        message = "an escape of U&'...' has four hexadecimal digits, or + and six"
        raise SqlExtError("PARSE-008", message, span=cursor.source.span(at, min(at + 5, token.end - 1)), hint=hint)
    return unescaped(inner.replace("''", "'"), escape)


def _suffix(cursor: Cursor, number: Token) -> None:
    suffix = cursor.token
    # With a blank between them the word is an alias: SELECT 5 d.
    if cursor.mode == "spark" and suffix.start == number.end and _SUFFIX.fullmatch(suffix.upper):
        cursor.advance()


def parse_typed_literal(cursor: Cursor) -> Expr:
    """Read ``DATE '2024-01-01'`` and the like; the text between the quotes is not checked here."""
    word = cursor.advance()
    value = cursor.expect_string().value
    span = cursor.span_from(word.start)
    if word.upper == "X" and not _HEX.fullmatch(value):
        raise SqlExtError("PARSE-008", f"{span.text} is not a binary literal", span=span, hint="write X'1F2E'")
    return Literal(span, TYPED[word.upper], value)


def at_character_set(cursor: Cursor) -> bool:
    """Whether a text with its character set comes next: ``_UTF8'text'``, without a blank between the two."""
    token, text = cursor.token, cursor.peek()
    return token.text.startswith("_") and text.kind is TokenKind.STRING and text.start == token.end


def parse_text_of_character_set(cursor: Cursor) -> Expr:
    """Read ``_UTF8'text'``: the text itself, if that character set has all its characters.

    Raises:
        SqlExtError: PARSE-008 for a character set that Flink does not know, or a character that it does not have.
    """
    word = cursor.advance()
    span = cursor.source.span(word.start, word.end)
    codec = _CHARACTER_SETS.get(word.upper[1:])
    if codec is None:
        hint = did_you_mean(word.upper[1:], list(_CHARACTER_SETS)) or "leave the prefix out"
        raise SqlExtError("PARSE-008", f"there is no character set `{word.text[1:]}`", span=span, hint=hint)
    text = parse_literal(cursor)
    assert isinstance(text, Literal)
    try:
        text.value.encode(codec)
    except UnicodeEncodeError as error:
        missing = text.value[error.start]
        raise SqlExtError("PARSE-008", f"`{word.text[1:]}` has no character `{missing}`", span=text.span) from None
    return replace(text, span=cursor.span_from(word.start))


def parse_unit(cursor: Cursor) -> str:
    """Read a time unit, with or without S; a precision after it has no meaning here."""
    unit = UNITS.get(cursor.token.upper)
    if unit is None:
        hint = did_you_mean_word(cursor.token.upper, *SINGULAR_UNITS)
        raise cursor.unexpected("a time unit (YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, ...)", hint=hint)
    cursor.advance()
    if cursor.accept_symbol("("):
        while not cursor.at_symbol(")"):
            if cursor.token.kind is not TokenKind.NUMBER:
                raise cursor.unexpected("a precision")
            cursor.advance()
            cursor.accept_symbol(",")
        cursor.advance()
    return unit


def interval_units(cursor: Cursor) -> tuple[str, str | None]:
    """Read ``DAY`` or ``DAY TO SECOND``."""
    return parse_unit(cursor), parse_unit(cursor) if cursor.accept_words("TO") else None


def parse_interval(cursor: Cursor) -> Expr:
    """Read ``INTERVAL [+|-] '1:30' MINUTE TO SECOND``, ``INTERVAL 5 MINUTES`` or a column called interval."""
    word = cursor.advance()
    sign = ""
    # `interval - a` subtracts from a column called interval: only a string or a unit makes it a sign.
    if cursor.at_symbol("-", "+") and (cursor.peek().kind is TokenKind.STRING or cursor.peek(2).upper in UNITS):
        sign = "-" if cursor.advance().text == "-" else ""
    token = cursor.token
    if token.kind not in (TokenKind.STRING, TokenKind.NUMBER):
        return ColumnRef(cursor.span_from(word.start), (word.value,))
    cursor.advance()
    if token.kind is TokenKind.STRING and cursor.token.upper not in UNITS:
        return _phrase(cursor, word, token, sign)
    unit, to_unit = interval_units(cursor)
    # Spark's INTERVAL 1 DAY 2 HOURS: without this the message would be of a stray number.
    if cursor.token.kind in (TokenKind.NUMBER, TokenKind.STRING) and cursor.peek().upper in UNITS:
        raise _compound(cursor, word)
    return Interval(cursor.span_from(word.start), _signed(sign, token.value.strip()), unit, to_unit)


def _signed(sign: str, value: str) -> str:
    # INTERVAL -'-5': two signs cancel out.
    return value[1:] if sign and value.startswith("-") else sign + value


def _phrase(cursor: Cursor, word: Token, token: Token, sign: str) -> Expr:
    """Read Spark's ``INTERVAL '5 minutes'``."""
    match = _PHRASE.fullmatch(token.value)
    unit = UNITS.get(match.group(2).upper()) if match else None
    if match is None or unit is None:
        if len(token.value.split()) > 2:
            raise _compound(cursor, word)
        raise cursor.unexpected("a time unit after the interval's value")
    return Interval(cursor.span_from(word.start), _signed(sign, match.group(1)), unit)


def _compound(cursor: Cursor, word: Token) -> SqlExtError:
    return SqlExtError(
        "PARSE-004",
        "an interval of several units is not part of this dialect",
        span=cursor.source.span(word.start, cursor.token.end),
        hint="write one unit (INTERVAL '26' HOUR), a range (INTERVAL '1 02' DAY TO HOUR), or add two intervals",
    )
