"""SQL identifiers and literals for Spark: the only place that builds them."""

from __future__ import annotations

import re

from sqlext.spark_keywords import SPARK_KEYWORDS
from sqlext.types import quote

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def identifier(name: str) -> str:
    """Return a name as Spark reads it: in backticks, inner ones doubled, unless it is plain and no keyword."""
    plain = _PLAIN.fullmatch(name) and name.upper() not in SPARK_KEYWORDS
    return name if plain else quote(name)


def named(text: str, name: str) -> str:
    """Return a select item: ``text AS name``, or the name alone where the text is that name."""
    shown = identifier(name)
    return shown if text in (shown, quote(name)) else f"{text} AS {shown}"


def string(value: str) -> str:
    """Return a string literal; the backslash is an escape character in Spark's."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("\n", "\\n").replace("\r", "\\r") + "'"


def is_plain_string(text: str) -> bool:
    """Whether a standard SQL string literal, as written, means the same to Spark."""
    return text.startswith("'") and "\\" not in text and "''" not in text[1:-1]


def binary(hex_digits: str) -> str:
    """Return a binary literal of hexadecimal digits."""
    return f"X'{hex_digits}'"
