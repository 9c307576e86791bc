"""Parse DEPLOY.

DEPLOY [WITH ('key' = 'value', ...)] { INSERT ... | statement set | CREATE MATERIALIZED VIEW ... }
"""

from __future__ import annotations

from collections.abc import Callable

from sqlext.dialect.ast.statements import CreateView, Deploy, Insert, Statement, StatementSet
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.statements.clauses import parse_options

_WANTED = "INSERT, a statement set or CREATE MATERIALIZED VIEW"


def parse_deploy(cursor: Cursor, parse_inner: Callable[[Cursor], Statement]) -> Deploy:
    """Read it.

    Args:
        parse_inner: reads the statement whose queries are deployed.
    """
    start = cursor.expect_words("DEPLOY").start
    options = parse_options(cursor) if cursor.accept_words("WITH") else ()
    if not cursor.at_any("INSERT", "EXECUTE", "STATEMENT", "BEGIN", "CREATE"):
        raise cursor.unexpected(_WANTED)
    inner = cursor.index
    statement = parse_inner(cursor)
    if not isinstance(statement, (Insert, StatementSet)) and not _keeps_rows(statement):
        cursor.index = inner
        raise cursor.unexpected(_WANTED)
    return Deploy(cursor.span_from(start), statement, options)


def _keeps_rows(statement: Statement) -> bool:
    return isinstance(statement, CreateView) and statement.materialized
