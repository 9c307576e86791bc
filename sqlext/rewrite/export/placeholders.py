"""Put placeholders in a query for DataFrames without a view, as ``spark.sql(text, **frames)`` takes them."""

from __future__ import annotations

from collections.abc import Collection

from sqlext.dialect.tokens import TokenKind, tokenize
from sqlext.source import SourceText


def with_placeholders(sql: str, names: Collection[str]) -> str:
    """Return a query with each name that stands for a relation as ``{name}``, and all other braces doubled."""
    pieces, end = [], 0
    for token in tokenize(SourceText.of(sql)):
        if token.kind is TokenKind.WORD and token.text in names:
            pieces += [_escaped(sql[end : token.start]), f"{{{token.text}}}"]
            end = token.end
    return "".join([*pieces, _escaped(sql[end:])])


def _escaped(text: str) -> str:
    # spark.sql with arguments formats its text (SQLStringFormatter), to which a brace begins a name.
    return text.replace("{", "{{").replace("}", "}}")
