"""Parse STOP JOB, and the names of queries.

STOP JOB 'name' [WITH SAVEPOINT]
"""

from __future__ import annotations

from sqlext.dialect.ast.statements import Name, StopJob
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.keywords import unsupported
from sqlext.dialect.queries.relations import parse_name
from sqlext.dialect.tokens import TokenKind
from sqlext.source import Span


def parse_stop(cursor: Cursor) -> StopJob:
    """Read STOP JOB."""
    start = cursor.expect_words("STOP", "JOB").start
    token = cursor.expect_string("the job's name in quotes")
    savepoint = cursor.accept_words("WITH", "SAVEPOINT")
    if cursor.at_words("WITH", "DRAIN"):
        raise unsupported(cursor, "WITH DRAIN", "a bounded query drains by itself; STOP JOB keeps the job's place")
    return StopJob(cursor.span_from(start), token.value, cursor.source.span(token.start, token.end), savepoint)


def parse_query_name(cursor: Cursor) -> tuple[Name, Span]:
    """Read a query's name: identifiers with dots between them, or a string."""
    if cursor.token.kind is not TokenKind.STRING:
        return parse_name(cursor, "a query's name")
    token = cursor.expect_string("a query's name")
    return (token.value,), cursor.source.span(token.start, token.end)
