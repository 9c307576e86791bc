"""Say which names a statement defines, by its words: one that cannot be parsed has no tree to ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlext.dialect.pieces import ColouredPiece, pieces
from sqlext.dialect.tokens import words
from sqlext.source import Span

_KINDS = frozenset(words("TABLE VIEW DATABASE SCHEMA CATALOG FUNCTION"))
_IF_EXISTS = frozenset(words("IF NOT EXISTS"))
_NAMES = ("name", "quoted", "function", "keyword")


def defined_names(span: Span) -> frozenset[str]:
    """Return the names that a CREATE or a RENAME gives, in lower case; none of another statement."""
    spoken = [p for p in pieces(span.text) if p.kind not in ("space", "comment")]
    return frozenset(_defined(spoken))


def _defined(spoken: Sequence[ColouredPiece]) -> Iterator[str]:
    first = spoken[0].upper if spoken else ""
    if first == "CREATE":
        kind = next((i for i, p in enumerate(spoken) if p.upper in _KINDS), len(spoken))
        at = kind + 1
        while at < len(spoken) and spoken[at].upper in _IF_EXISTS:
            at += 1
        yield from _last_part(spoken, at)
    elif first == "ALTER":
        for i, piece in enumerate(spoken[:-1]):
            if piece.upper == "RENAME" and spoken[i + 1].upper == "TO":
                yield from _last_part(spoken, i + 2)


def _last_part(spoken: Sequence[ColouredPiece], at: int) -> Iterator[str]:
    """Yield the last part of the name that begins there."""
    while at + 2 < len(spoken) and spoken[at + 1].text == ".":
        at += 2
    if at < len(spoken) and spoken[at].kind in _NAMES:
        yield spoken[at].text.strip("`").lower()
