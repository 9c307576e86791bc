"""Render DATE_FORMAT with the pattern letters of Java that Spark refuses: week-based years and weeks.

Weeks are those of the US locale, which Flink's formatter uses: they begin on Sunday, and the week with
January 1 is the first. A week belongs to the year of its Saturday.
"""

from __future__ import annotations

import re

from sqlext import quoting

#: A quoted text, a run of one letter, or anything else.
_PIECE = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+")

#: Fields of a fixed width, and a fraction right behind them.
_WITH_FRACTION = re.compile("([yMdHms]+)(S+)")

_SATURDAY = "date_add({0}, 7 - dayofweek({0}))"
_WEEK_FIELDS = {
    "Y": f"year({_SATURDAY})",
    "w": f"(dayofyear({_SATURDAY}) - 1) DIV 7 + 1",
    "W": "(day({0}) + dayofweek(trunc({0}, 'MONTH')) - 2) DIV 7 + 1",
    "e": "dayofweek({0})",
}


def to_read(text: str, pattern: str, literal: str | None) -> tuple[str, str]:
    """Return a text and the pattern to read it by; Spark reads a fraction only behind a point.

    Args:
        text: SQL.
        pattern: SQL.
        literal: the pattern, None if it is no literal.
    """
    match = _WITH_FRACTION.fullmatch(literal or "")
    if match is None:
        return text, pattern
    # The whole text must be there: what is shorter stays as it is, and does not fit.
    pointed = f"regexp_replace({text}, '^([0-9]{{{len(match[1])}}})([0-9]{{{len(match[2])}}})$', '$1.$2')"
    return pointed, quoting.string(f"{match[1]}.{match[2]}")


def date_format(text: str, pattern: str) -> str | None:
    """Return a formatted time for a literal pattern, None if Spark's own date_format takes the pattern."""
    pieces = [match.group() for match in _PIECE.finditer(pattern)]
    if not any(p[0] in "YwWeu" for p in pieces):
        return None
    return f"concat({', '.join(_chunks(text, pieces))})"


def _chunks(text: str, pieces: list[str]) -> list[str]:
    chunks: list[str] = []
    plain = ""
    for piece in pieces:
        field = _WEEK_FIELDS.get(piece[0])
        if field is None:
            # Spark refuses u as week-based (DateTimeFormatterHelper); it is the year, as y is from the year 1 on.
            plain += piece.replace("u", "y") if piece[0] == "u" else piece
            continue
        if plain:
            chunks.append(f"date_format({text}, {quoting.string(plain)})")
            plain = ""
        chunks.append(_week_field(field.format(f"CAST({text} AS DATE)"), piece))
    if plain:
        chunks.append(f"date_format({text}, {quoting.string(plain)})")
    return chunks


def _week_field(number: str, piece: str) -> str:
    width = len(piece)
    if piece == "YY":
        return f"lpad(CAST(({number}) % 100 AS STRING), 2, '0')"
    return f"CAST({number} AS STRING)" if width == 1 else f"lpad(CAST({number} AS STRING), {width}, '0')"
