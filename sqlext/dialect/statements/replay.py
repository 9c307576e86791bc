"""Parse REPLAY.

REPLAY letters [WHERE condition] [SET column = value [, ...]]
"""

from __future__ import annotations

from sqlext.dialect.ast.expressions import Star
from sqlext.dialect.ast.queries import Query, Select, SelectItem, TableRef
from sqlext.dialect.ast.statements import Replay, ReplaySet
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions.operations import parse_expression
from sqlext.dialect.queries.relations import parse_name


def parse_replay(cursor: Cursor) -> Replay:
    """Read it; SET may also stand before WHERE, as in an UPDATE."""
    start = cursor.expect_words("REPLAY").start
    name, name_span = parse_name(cursor)
    changes = _changes(cursor)
    where = parse_expression(cursor) if cursor.accept_words("WHERE") else None
    changes = changes or _changes(cursor)
    if not cursor.at_statement_end:
        missing = [word for word, found in (("WHERE", where), ("SET", changes)) if not found]
        raise cursor.unexpected(" or ".join([*missing, "the end of the statement"]))
    span = cursor.span_from(start)
    select = Select(
        span, (SelectItem(name_span, Star(name_span)),), from_=TableRef(name_span, name, name_span), where=where
    )
    return Replay(span, name, name_span, Query(span, select), where, changes)


def _changes(cursor: Cursor) -> tuple[ReplaySet, ...]:
    if not cursor.accept_words("SET"):
        return ()
    changes = [_change(cursor)]
    while cursor.accept_symbol(","):
        changes.append(_change(cursor))
    return tuple(changes)


def _change(cursor: Cursor) -> ReplaySet:
    token = cursor.expect_identifier("a column's name")
    span = cursor.source.span(token.start, token.end)
    cursor.expect_symbol("=")
    return ReplaySet(token.value, span, parse_expression(cursor))
