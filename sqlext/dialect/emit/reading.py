"""Expect words, symbols and names of an EMIT clause, with its own messages (EMIT-002)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlext.dialect.cursor import Cursor
from sqlext.dialect.tokens import TokenKind, did_you_mean_word
from sqlext.errors import SqlExtError

_ENDS = ("LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS")


def at_clause_end(cursor: Cursor) -> bool:
    """Whether what comes next can only follow the clause."""
    token, following = cursor.token, cursor.peek().upper
    if token.kind is TokenKind.SYMBOL:
        return token.text in (")", ";", ",")
    if token.upper == "FETCH":
        return following in ("FIRST", "NEXT")
    # ON CONFLICT belongs to the INSERT around the query.
    if token.upper == "ON":
        return following == "CONFLICT"
    # ALIGNED TO has read its own OFFSET.
    return token.kind is TokenKind.END or token.upper == "OFFSET" or token.upper in _ENDS


def found(cursor: Cursor) -> str:
    """Return the token in front, as messages name it."""
    closing = cursor.token.kind is TokenKind.SYMBOL and cursor.token.text != ";"
    return "the end of the clause" if at_clause_end(cursor) and not closing else f"`{cursor.token.text}`"


def refusal(cursor: Cursor, message: str, among: Iterable[str] = (), hint: str | None = None) -> SqlExtError:
    """Return EMIT-002 at the token in front.

    Args:
        among: words it may be a misspelling of.
        hint: what is said if it is none.
    """
    token = cursor.token
    hint = did_you_mean_word(token.upper, *among) or hint
    return SqlExtError("EMIT-002", message, span=cursor.source.span(token.start, token.end), hint=hint)


def must_follow(cursor: Cursor, word: str, what: str, among: Iterable[str] = ()) -> SqlExtError:
    """Return EMIT-002: ``word`` must be followed by ``what``."""
    return refusal(cursor, f"{word} must be followed by {what}, found {found(cursor)}", among)


def expect_any(cursor: Cursor, after: str, *choices: str) -> str:
    """Move past one of these words and return it; EMIT-002 otherwise."""
    word = cursor.accept_any(*choices)
    if not word:
        raise refusal(cursor, f"expected {' or '.join(choices)} after {after}, found {found(cursor)}", choices)
    return word


def expect_words(cursor: Cursor, after: str, *phrase: str) -> None:
    """Move past these words, all of them; EMIT-002 otherwise."""
    for word in phrase:
        after = f"{after} {expect_any(cursor, after, word)}"


def expect_symbol(cursor: Cursor, symbol: str, after: str) -> None:
    """Move past this symbol; EMIT-002 otherwise."""
    if not cursor.accept_symbol(symbol):
        raise refusal(cursor, f"expected {symbol} after {after}, found {found(cursor)}")


def expect_close(cursor: Cursor) -> None:
    """Move past a closing parenthesis; EMIT-002 otherwise."""
    if not cursor.accept_symbol(")"):
        raise refusal(cursor, f"expected ), found {found(cursor)}")


def expect_name(cursor: Cursor, after: str) -> str:
    """Move past a name and return it; EMIT-002 otherwise."""
    if cursor.token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        raise must_follow(cursor, after, "a name")
    return cursor.advance().value
