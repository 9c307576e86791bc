"""Parse ``WITH ('key' = 'value', ...)``, comments and IF EXISTS of statements."""

from __future__ import annotations

from sqlext.dialect.ast.statements import Option
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.queries.relations import parse_name
from sqlext.dialect.tokens import TokenKind

__all__ = ["parse_comment", "parse_if_exists", "parse_keys", "parse_name", "parse_options"]


def parse_options(cursor: Cursor) -> tuple[Option, ...]:
    """Read ``('key' = 'value', ...)``."""
    cursor.expect_symbol("(")
    options: list[Option] = []
    while not cursor.at_symbol(")"):
        options.append(_option(cursor))
        if not cursor.accept_symbol(","):
            break
    cursor.expect_symbol(")")
    return tuple(options)


def _option(cursor: Cursor) -> Option:
    if cursor.token.kind in (TokenKind.WORD, TokenKind.QUOTED):
        raise cursor.unexpected("an option's key", hint="write keys and values in quotes: 'connector' = 'kafka'")
    key = cursor.expect_string("an option's key")
    cursor.expect_symbol("=")
    if cursor.token.kind in (TokenKind.WORD, TokenKind.NUMBER):
        raise cursor.unexpected("an option's value", hint=f"write the value in quotes: '{cursor.token.text}'")
    value = cursor.expect_string("an option's value")
    source = cursor.source
    return Option(key.value, value.value, source.span(key.start, key.end), source.span(value.start, value.end))


def parse_keys(cursor: Cursor) -> tuple[str, ...]:
    """Read ``('key', ...)``."""
    cursor.expect_symbol("(")
    keys = [cursor.expect_string("an option's key").value]
    while cursor.accept_symbol(","):
        keys.append(cursor.expect_string("an option's key").value)
    cursor.expect_symbol(")")
    return tuple(keys)


def parse_comment(cursor: Cursor) -> str | None:
    """Read ``COMMENT 'text'`` if it comes next."""
    return cursor.expect_string("a comment").value if cursor.accept_words("COMMENT") else None


def parse_if_exists(cursor: Cursor) -> bool:
    """Read ``IF EXISTS`` if it comes next."""
    return cursor.accept_words("IF", "EXISTS")
