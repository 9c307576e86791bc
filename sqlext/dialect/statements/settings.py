"""Parse SET and RESET: ours with quoted keys or known prefixes, Spark's otherwise.

SET ['key' [= 'value']]      RESET ['key']
"""

from __future__ import annotations

from sqlext.dialect.ast.statements import ResetOption, SetOption
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.tokens import TokenKind, unquote, words

#: The first parts of our keys and of Flink's; a key of Spark or Hadoop begins otherwise.
_PREFIXES = frozenset(
    words(
        "sqlext table execution pipeline parallelism sql-client state restart-strategy rest jobmanager taskmanager "
        "cluster high-availability client heartbeat metrics rpc pekko akka web historyserver blob jobstore "
        "resourcemanager slotmanager scheduler job-event yarn kubernetes env traces"
    )
)


def parse_set(cursor: Cursor) -> SetOption | None:
    """Read SET; None if it is Spark's (``SET spark.x = 1``, ``SET -v``, ``SET TIME ZONE ..``)."""
    start = cursor.expect_words("SET").start
    if cursor.at_statement_end:
        return SetOption(cursor.span_from(start))
    first = cursor.token
    if first.kind is not TokenKind.STRING:
        return _unquoted_set(cursor, start)
    key, key_span = first.value, cursor.source.span(first.start, first.end)
    cursor.advance()
    if not cursor.accept_symbol("="):
        return SetOption(cursor.span_from(start), key, key_span=key_span)
    if cursor.token.kind is TokenKind.NUMBER or cursor.token.upper:
        raise cursor.unexpected("a value", hint=f"write the value in quotes: '{cursor.token.text}'")
    value = cursor.expect_string("a value")
    value_span = cursor.source.span(value.start, value.end)
    return SetOption(cursor.span_from(start), key, value.value, key_span, value_span)


def parse_reset(cursor: Cursor) -> ResetOption | None:
    """Read RESET; None if it is Spark's."""
    start = cursor.expect_words("RESET").start
    if cursor.at_statement_end:
        return ResetOption(cursor.span_from(start))
    if cursor.token.kind is TokenKind.STRING:
        token = cursor.advance()
        return ResetOption(cursor.span_from(start), token.value, cursor.source.span(token.start, token.end))
    if not _is_ours(cursor):
        return None
    first = cursor.token.start
    key = _rest(cursor)
    return ResetOption(cursor.span_from(start), key, cursor.span_from(first))


def _is_ours(cursor: Cursor) -> bool:
    """Whether a key that stands here without quotes is one of ours or of Flink's."""
    start, ahead = cursor.token.start, 0
    # A part may have hyphens: `restart-strategy`.
    while cursor.peek(ahead + 1).text == "-" and cursor.peek(ahead + 2).upper:
        ahead += 2
    first = cursor.source.span(start, cursor.peek(ahead).end).text.lower()
    following = cursor.peek(ahead + 1).text
    return first in _PREFIXES and (following == "." or ("-" in first and following in ("=", "", ";")))


def _unquoted_set(cursor: Cursor, start: int) -> SetOption | None:
    """Read ``SET table.exec.state.ttl = 1 d``: what follows the equals sign is the value, as in Spark."""
    if not _is_ours(cursor):
        return None
    first = cursor.token.start
    key, equals, value = _rest(cursor).partition("=")
    key_span = cursor.source.span(first, first + len(key.rstrip()))
    value = value.strip()
    if value[:1] in ("'", '"') and value[-1:] == value[:1] and len(value) > 1:
        value = unquote(value, cursor.mode)
    return SetOption(cursor.span_from(start), key.strip(), value if equals else None, key_span)


def _rest(cursor: Cursor) -> str:
    """Move to the end of the statement and return the text passed."""
    start = cursor.token.start
    while not cursor.at_statement_end:
        cursor.advance()
    return cursor.span_from(start).text
