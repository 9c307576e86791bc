"""Say in our words, and at its place, what Spark's expressions meet in the rows that they compute."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlext.errors import SqlExtError
from sqlext.source import Span

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+)(?:\.[A-Z0-9_]+)*\] ([^\n]*)")
#: What Spark's context quotes of the SQL that it got: a line, and carets below the expression.
_CONTEXT = re.compile(r"^== SQL[^\n]*==\n([^\n]*)\n( *)(\^+)", re.MULTILINE)
_NAME = re.compile(r"`(\w+)`")
#: How a function of the user's says that it refuses a row.
_RAISED = "USER_RAISED_EXCEPTION"


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a condition of Spark is called here.

    Attributes:
        said: finds in Spark's message what ours names.
        message: what is told of it; its braces take what was found.
    """

    code: str
    said: re.Pattern[str]
    message: str
    hint: str


_NOTHING = re.compile("")
_BY_ZERO = _Meaning("RUN-040", _NOTHING, "division by zero", "x / NULLIF(y, 0) gives NULL there")
_TOO_LARGE = _Meaning(
    "RUN-041", _NOTHING, "a number is too large for its type", "CAST to a larger type before; TRY_CAST gives NULL"
)
_NO_ELEMENT = re.compile(r"^(The index -?\d+ is out of bounds\. The array has \d+ elements)")
_INDEX = _Meaning("RUN-048", _NO_ELEMENT, "{}", "TRY_ELEMENT_AT(a, n) gives NULL there; it counts from 1")
_TIME = _Meaning("RUN-046", re.compile(r"^Text ('.*') could not be"), "{} is no time of that form", "TRY_TO_TIMESTAMP")
_MEANINGS = {
    "DIVIDE_BY_ZERO": _BY_ZERO,
    "REMAINDER_BY_ZERO": _BY_ZERO,
    "INTERVAL_DIVIDED_BY_ZERO": _BY_ZERO,
    "ARITHMETIC_OVERFLOW": _TOO_LARGE,
    "BINARY_ARITHMETIC_OVERFLOW": _TOO_LARGE,
    "NUMERIC_VALUE_OUT_OF_RANGE": _TOO_LARGE,
    "CAST_OVERFLOW": _Meaning(
        "RUN-041", re.compile(r'value (.*) of the type .* to "(.*?)"'), "{} does not fit into {}", _TOO_LARGE.hint
    ),
    "CAST_INVALID_INPUT": _Meaning(
        "RUN-046",
        re.compile(r'value (.*) of the type .* to "(.*?)"'),
        "{} cannot be cast to {}",
        "TRY_CAST gives NULL there",
    ),
    "CANNOT_PARSE_TIMESTAMP": _TIME,
    "INVALID_ARRAY_INDEX": _INDEX,
    "INVALID_ARRAY_INDEX_IN_ELEMENT_AT": _INDEX,
    _RAISED: _Meaning("RUN-049", re.compile("(.*)"), "{}", "the statement's RAISE_ERROR or ASSERT_TRUE says so"),
}


def met_in_a_row(text: str, span: Span | None) -> SqlExtError | None:
    """Return what a failure's text says that an expression has met, None if it says nothing of one.

    Args:
        text: all that Spark says.
        span: the statement; the error stands at the expression where it is there as Spark quotes it.
    """
    for condition, said in _CONDITION.findall(text):
        meaning = _MEANINGS.get(condition)
        found = meaning.said.search(said.split(" SQLSTATE")[0].strip()) if meaning is not None else None
        if meaning is not None and found is not None:
            message = meaning.message.format(*found.groups())
            return SqlExtError(meaning.code, message, span=quoted(text, span), hint=meaning.hint)
    return None


def quoted(text: str, span: Span | None) -> Span | None:
    """Return the part of a statement that Spark quotes, where it stands there once; otherwise the statement."""
    context = _CONTEXT.search(text)
    if context is None or span is None:
        return span
    line, blanks, carets = context.groups()
    part = line[len(blanks) : len(blanks) + len(carets)]
    if span.text.count(part) != 1:
        return span
    start = span.start + span.text.index(part)
    return span.source.span(start, start + len(part))


def named(text: str, span: Span | None) -> Span | None:
    """Return the first name that Spark has in backticks and a statement has once; otherwise as ``quoted``."""
    at = quoted(text, span)
    if span is None or at is not span:
        return at
    for name in _NAME.findall(text.partition("\n")[0]):
        places = list(re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", span.text, re.IGNORECASE))
        if len(places) == 1:
            return span.source.span(span.start + places[0].start(), span.start + places[0].end())
    return span
