"""Read UPDATE, DELETE and MERGE a second time, once they have one of the forms: what they say about columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlext.dialect.ast.expressions import ColumnRef, Expr
from sqlext.dialect.ast.queries import Relation, SubqueryRef, TableRef
from sqlext.dialect.ast.row_changes import AllColumns, Assigned, Inserted, RowChange, WhenClause
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions.operations import parse_expression
from sqlext.dialect.queries.relations import parse_alias, parse_name
from sqlext.dialect.queries.whole import parse_query
from sqlext.errors import SqlExtError

T = TypeVar("T")


def parse_row_change(cursor: Cursor, verb: str) -> RowChange | None:
    """Read a change of rows behind its first word; None for what says it in another way, at run time for instance."""
    if verb not in _READERS:
        return None
    try:
        return _READERS[verb](cursor)
    except SqlExtError:
        # It has one of Spark's forms. What this reader cannot take apart stays Spark's to check.
        return None


def _update(cursor: Cursor) -> RowChange:
    target, alias = _named(cursor)
    cursor.expect_words("SET")
    assigned = _assignments(cursor)
    where = _after(cursor, "WHERE")
    clause = WhenClause(True, False, None, assigned)
    return RowChange(target.parts, target.name_span, alias, None, where, (clause,))


def _delete(cursor: Cursor) -> RowChange:
    cursor.expect_words("FROM")
    target, alias = _named(cursor)
    return RowChange(target.parts, target.name_span, alias, None, _after(cursor, "WHERE"), ())


def _merge(cursor: Cursor) -> RowChange:
    evolves = cursor.accept_words("WITH", "SCHEMA", "EVOLUTION")
    cursor.expect_words("INTO")
    target, alias = _named(cursor)
    cursor.expect_words("USING")
    source = _source(cursor)
    on = _after(cursor, "ON")
    clauses: list[WhenClause] = []
    while cursor.accept_words("WHEN"):
        clauses.append(_when(cursor))
    return RowChange(target.parts, target.name_span, alias, source, on, tuple(clauses), evolves)


def _named(cursor: Cursor) -> tuple[TableRef, str | None]:
    start = cursor.token.start
    parts, span = parse_name(cursor)
    alias = parse_alias(cursor)
    return TableRef(cursor.span_from(start), parts, span, alias), alias.name if alias else None


def _source(cursor: Cursor) -> Relation:
    start = cursor.token.start
    if not cursor.accept_symbol("("):
        return _named(cursor)[0]
    query = parse_query(cursor)
    cursor.expect_symbol(")")
    return SubqueryRef(cursor.span_from(start), query, parse_alias(cursor))


def _when(cursor: Cursor) -> WhenClause:
    """Read what follows WHEN: the rows of both sides, of the source alone, or of the target alone."""
    matched = not cursor.accept_words("NOT")
    cursor.expect_words("MATCHED")
    by_source = cursor.accept_words("BY", "SOURCE")
    if not by_source:
        cursor.accept_words("BY", "TARGET")
    condition = _after(cursor, "AND")
    cursor.expect_words("THEN")
    return WhenClause(matched or by_source, not by_source, condition, _action(cursor))


def _action(cursor: Cursor) -> tuple[Assigned | Inserted | AllColumns, ...]:
    if cursor.accept_words("DELETE"):
        return ()
    updates = cursor.accept_words("UPDATE", "SET")
    if not updates:
        cursor.expect_words("INSERT")
    start = cursor.token.start
    if cursor.accept_symbol("*"):
        return (AllColumns(cursor.span_from(start)),)
    if updates:
        return _assignments(cursor)
    columns = _listed(cursor, _column)
    cursor.expect_words("VALUES")
    values = _listed(cursor, parse_expression)
    return (Inserted(cursor.span_from(start), columns, values),)


def _assignments(cursor: Cursor) -> tuple[Assigned, ...]:
    found: list[Assigned] = []
    while not found or cursor.accept_symbol(","):
        start = cursor.token.start
        column = _column(cursor)
        cursor.expect_symbol("=")
        value = parse_expression(cursor)
        found.append(Assigned(cursor.span_from(start), column, value))
    return tuple(found)


def _listed(cursor: Cursor, read: Callable[[Cursor], T]) -> tuple[T, ...]:
    cursor.expect_symbol("(")
    found = [read(cursor)]
    while cursor.accept_symbol(","):
        found.append(read(cursor))
    cursor.expect_symbol(")")
    return tuple(found)


def _column(cursor: Cursor) -> ColumnRef:
    parts, span = parse_name(cursor, "a column's name")
    return ColumnRef(span, parts)


def _after(cursor: Cursor, word: str) -> Expr | None:
    return parse_expression(cursor) if cursor.accept_words(word) else None


_READERS = {"UPDATE": _update, "DELETE": _delete, "MERGE": _merge}
