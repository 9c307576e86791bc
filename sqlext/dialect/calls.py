"""Find what a text of SQL calls, wherever it stands in it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sqlext.dialect.tokens import Token, TokenKind, tokenize
from sqlext.source import SourceText


def calls(source: SourceText, mode: str, start: int = 0, end: int | None = None) -> Iterator[tuple[str, Token]]:
    """Yield the names before parentheses, in lower case and without a database, each with its token."""
    tokens = tokenize(source, mode, start, len(source.text) if end is None else end)
    # A hint stands for no token of Spark's.
    for token, following in pairwise(t for t in tokens if t.kind is not TokenKind.HINT):
        if following.text == "(" and token.kind in (TokenKind.WORD, TokenKind.QUOTED):
            yield token.text.strip("`").lower(), token
