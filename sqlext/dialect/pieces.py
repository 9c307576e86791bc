"""Split a text into coloured pieces for highlighting and completion: every character, however unfinished."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Literal, NamedTuple

from sqlext.dialect.keywords import KEYWORDS
from sqlext.dialect.tokens import Token, TokenKind, tokenize
from sqlext.errors import SqlExtError
from sqlext.source import SourceText

PieceKind = Literal["keyword", "function", "name", "quoted", "string", "number", "symbol", "comment", "space"]


class ColouredPiece(NamedTuple):
    """Some characters of a text; ``open`` where a string, a quoted name or a comment has no end."""

    start: int
    text: str
    kind: PieceKind
    open: bool = False

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.start + len(self.text)

    @property
    def upper(self) -> str:
        """A word in upper case, the text of anything else."""
        return self.text.upper() if self.kind in ("keyword", "function", "name") else self.text


_KINDS: dict[TokenKind, PieceKind] = {
    TokenKind.QUOTED: "quoted",
    TokenKind.STRING: "string",
    TokenKind.NUMBER: "number",
    TokenKind.SYMBOL: "symbol",
    TokenKind.HINT: "comment",
}
_OPENERS: dict[str, PieceKind] = {"`": "quoted", "'": "string", '"': "string"}


def pieces(text: str, mode: str = "spark") -> Iterator[ColouredPiece]:
    """Yield the pieces of a text in order; together they are the text."""
    tokens, rest = _tokens(text, mode)
    at = 0
    for token, following in zip_longest(tokens, tokens[1:]):
        yield from _between(text, at, token.start)
        yield ColouredPiece(token.start, text[token.start : token.end], _kind(token, following))
        at = token.end
    yield from _between(text, at, rest)
    if rest < len(text):
        yield ColouredPiece(rest, text[rest:], _OPENERS.get(text[rest], "comment"), open=True)


def _tokens(text: str, mode: str) -> tuple[list[Token], int]:
    """Return the tokens of a text, up to what is never closed, and where that begins."""
    source = SourceText.of(text)
    try:
        return tokenize(source, mode)[:-1], len(text)
    except SqlExtError as error:
        start = error.span.start if error.span is not None else 0
    try:
        # An unfinished text is the usual case in an editor: what stands before the open string keeps its colours.
        return tokenize(source, mode, 0, start)[:-1], start
    except SqlExtError:
        return [], start


def _kind(token: Token, following: Token | None) -> PieceKind:
    if token.kind is not TokenKind.WORD:
        return _KINDS[token.kind]
    if token.upper in KEYWORDS:
        return "keyword"
    called = following is not None and following.text == "("
    return "function" if called else "name"


def _between(text: str, start: int, end: int) -> Iterator[ColouredPiece]:
    if start < end:
        # Tokens leave out blanks and comments alone, so what is not blank is a comment.
        gap = text[start:end]
        yield ColouredPiece(start, gap, "comment" if gap.strip() else "space")
