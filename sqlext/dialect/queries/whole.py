"""Parse whole queries: WITH, set operations, ORDER BY, LIMIT.

query ::= [WITH cte {, cte}] body [ORDER BY ..] [emit] [LIMIT n] [OFFSET n [ROWS]] [FETCH FIRST n ROWS ONLY]
body  ::= term {(UNION | EXCEPT | MINUS) [ALL | DISTINCT] term}
term  ::= primary {INTERSECT [ALL | DISTINCT] primary}
primary ::= select | VALUES rows | TABLE t | '(' query ')'
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.queries import (
    Cte,
    OrderItem,
    Query,
    QueryBody,
    Select,
    SetOperation,
    TableBody,
    TableRef,
    Values,
)
from sqlext.dialect.cursor import STRAIN, Cursor, balanced, check_height, enter, leave, too_deep
from sqlext.dialect.emit import clause
from sqlext.dialect.emit.nodes import EmitClause
from sqlext.dialect.expressions import operations
from sqlext.dialect.keywords import at_query, expect_new_name, unsupported
from sqlext.dialect.queries import relations, selects
from sqlext.dialect.tokens import did_you_mean_word, tokenize
from sqlext.errors import SqlExtError
from sqlext.source import SourceText, Span

_QUERY = "a query (SELECT, VALUES, WITH or TABLE)"


class _Part(NamedTuple):
    """An operand of a set operation, and its place with the parentheses around it."""

    body: QueryBody
    span: Span


def parse_query(cursor: Cursor) -> Query:
    """Read a query; parentheses around all of it leave no trace."""
    # Some ten frames of Python lie between a query and the one within it.
    enter(cursor, 3)
    start = cursor.token.start
    ctes = _ctes(cursor)
    body = _set_operations(cursor)
    order_by = parse_order_by(cursor)
    body = _trailing_emit(cursor, body)
    limit, offset = _limits(cursor)
    leave(cursor, 3)
    if isinstance(body, Query) and not (ctes or order_by or limit or offset):
        return body
    return Query(cursor.span_from(start), body, ctes, order_by, limit, offset)


def parse_query_text(text: str, mode: str = "spark", name: str = "<sql>") -> Query:
    """Read a text that is one query, for instance a stored view's, which keeps the names that it has."""
    return parse_query_at(SourceText.of(text, name).span(0, len(text)), mode, reserves=False)


def parse_query_at(span: Span, mode: str, *, reserves: bool = True) -> Query:
    """Read a whole source that is one query; ``span`` covers it."""
    source = span.source
    cursor = Cursor(source, tokenize(source, mode), mode)
    cursor.reserves = reserves
    try:
        result = parse_query(cursor)
    # As in `parse_expression_text`: the caller's own frames are not counted by MAX_DEPTH.
    except RecursionError:
        raise too_deep(span) from None
    if not cursor.at_end:
        raise after_query(cursor)
    if cursor.strained:
        check_height(result)
    return result


#: Words that were read as aliases, because BY is missing behind them.
_NEED_BY = ("GROUP", "ORDER", "PARTITION")


def after_query(cursor: Cursor, what: str = "the query") -> SqlExtError:
    """Return the error for what stands where a query or statement ends.

    A misspelled clause has been read as an alias: then the word before is at fault.
    """
    selects.refuse_spark_clauses(cursor)
    previous = cursor.tokens[cursor.index - 1]
    if previous.upper == "EMIT":
        return clause.no_clause(cursor.source, previous, cursor.token)
    if cursor.token.upper in _NEED_BY and cursor.peek().upper != "BY":
        previous = cursor.advance()
    if previous.upper in _NEED_BY:
        return cursor.unexpected("BY")
    if cursor.begins_statement:
        return cursor.unexpected(f"the end of {what}")
    # A name may look like a clause too, as `orders` does: what stands behind the word tells.
    if cursor.peek().text not in ("", ";") and (hint := selects.misspelled_clause(cursor.token.upper)):
        return cursor.unexpected(f"the end of {what}", hint=hint)
    if hint := selects.misspelled_clause(previous.upper):
        span = cursor.source.span(previous.start, previous.end)
        return SqlExtError("PARSE-002", f"`{previous.text}` begins no clause", span=span, hint=hint)
    return cursor.unexpected(f"the end of {what}")


def _ctes(cursor: Cursor) -> tuple[Cte, ...]:
    if not cursor.accept_words("WITH"):
        return ()
    # `WITH recursive AS (...)` is a CTE of that name.
    if cursor.at_words("RECURSIVE") and cursor.peek().upper != "AS":
        raise unsupported(cursor, "WITH RECURSIVE", "join a table with itself once for each step")
    ctes = [_cte(cursor)]
    while cursor.accept_symbol(","):
        ctes.append(_cte(cursor))
        if ctes[-1].name.lower() in [c.name.lower() for c in ctes[:-1]]:
            message = f"two queries of WITH have the name `{ctes[-1].name}`"
            raise SqlExtError("NAME-006", message, span=ctes[-1].span, hint="give each a name of its own")
    return tuple(ctes)


def _cte(cursor: Cursor) -> Cte:
    name = expect_new_name(cursor, "a common table expression's name")
    columns = relations.parse_names(cursor) if cursor.at_symbol("(") else ()
    cursor.expect_words("AS")
    cursor.expect_symbol("(")
    query = parse_query(cursor)
    cursor.expect_symbol(")")
    return Cte(cursor.span_from(name.start), name.value, query, columns)


def _set_operations(cursor: Cursor) -> QueryBody:
    return _operations(cursor, _intersections(cursor), ("UNION", "EXCEPT", "MINUS")).body


def _intersections(cursor: Cursor) -> _Part:
    return _operations(cursor, _primary(cursor), ("INTERSECT",))


def _operations(cursor: Cursor, left: _Part, words: tuple[str, ...]) -> _Part:
    """Read set operations of one precedence: left to right, runs of the same one as a flat tree."""
    runs = 0
    while operator := _operator(cursor, words):
        op, all_ = operator
        _refuse_emit_before(op, left.body)
        parts = [left]
        # UNION and UNION ALL are different operators: only a run of the same one may be regrouped.
        while operator == (op, all_):
            _skip_operator(cursor)
            parts.append(_intersections(cursor) if "UNION" in words else _primary(cursor))
            operator = _operator(cursor, words)
            if operator:
                _refuse_emit_before(operator[0], parts[-1].body)
        if op == "EXCEPT":  # not associative: a balanced tree would be another query
            for right in parts[1:]:
                left = _join(op, all_, left, right)
            runs += len(parts) - 1
        else:
            left = balanced(parts, partial(_join, op, all_))
            runs += 1
        cursor.strained = cursor.strained or runs > STRAIN
    return left


def _join(op: str, all_: bool, left: _Part, right: _Part) -> _Part:
    span = left.span.to(right.span)
    return _Part(SetOperation(span, op, all_, left.body, right.body), span)


def _operator(cursor: Cursor, words: tuple[str, ...]) -> tuple[str, bool] | None:
    if not cursor.at_any(*words):
        return None
    op = cursor.token.upper
    # Spark's MINUS is the standard's EXCEPT.
    return ("EXCEPT" if op == "MINUS" else op, cursor.peek().upper == "ALL")


def _skip_operator(cursor: Cursor) -> None:
    cursor.advance()
    cursor.accept_any("ALL", "DISTINCT")
    if cursor.at_words("BY", "NAME"):
        raise unsupported(cursor, "BY NAME", "list the columns in the same order in both queries")


def _primary(cursor: Cursor) -> _Part:
    start = cursor.token.start
    body: QueryBody
    if cursor.at_symbol("("):
        cursor.advance()
        body = parse_query(cursor)
        cursor.expect_symbol(")")
    elif cursor.at_words("SELECT"):
        body = selects.parse_select(cursor)
    elif cursor.at_words("VALUES") and at_query(cursor):
        body = _values(cursor)
    elif cursor.at_words("TABLE"):
        cursor.advance()
        parts, name_span = relations.parse_name(cursor)
        body = TableBody(cursor.span_from(start), TableRef(name_span, parts, name_span))
    else:
        raise cursor.unexpected(_QUERY, hint=did_you_mean_word(cursor.token.upper, "SELECT", "VALUES", "WITH", "TABLE"))
    return _Part(body, cursor.span_from(start))


def _values(cursor: Cursor) -> Values:
    start = cursor.expect_words("VALUES").start
    rows = [_row(cursor)]
    while cursor.accept_symbol(","):
        rows.append(_row(cursor))
    return Values(cursor.span_from(start), tuple(rows))


def _row(cursor: Cursor) -> tuple[Expr, ...]:
    """Read ``(a, b)``, ``ROW(a, b)`` or a lone value."""
    expr = operations.parse_expression(cursor)
    return operations.row_items(expr)


def _trailing_emit(cursor: Cursor, body: QueryBody) -> QueryBody:
    """Give an EMIT that follows ORDER BY to its SELECT; refuse it where it would be a guess."""
    if not cursor.at_any("EMIT"):
        _refuse_emit_of_last_branch(body)
        return body
    emit = clause.parse_emit(cursor)
    if isinstance(body, Select):
        return replace(body, emit=emit)
    raise _ambiguous_emit(emit, body)


def _refuse_emit_before(op: str, branch: QueryBody) -> None:
    if isinstance(branch, Select) and branch.emit is not None:
        message = f"EMIT before {op}: put the SELECT that carries EMIT in parentheses"
        raise SqlExtError("EMIT-025", message, span=branch.emit.span)


def _refuse_emit_of_last_branch(body: QueryBody) -> None:
    """Refuse what reads as if it were the EMIT of the whole set operation."""
    last = body
    # The last branch takes any EMIT at the end, but it would read as that of the whole.
    while isinstance(last, SetOperation):
        last = last.right
    if last is not body and isinstance(last, Select) and last.emit is not None:
        raise _ambiguous_emit(last.emit, body)


def _ambiguous_emit(emit: EmitClause, body: QueryBody) -> SqlExtError:
    what = body.op if isinstance(body, SetOperation) else "this query"
    message = f"EMIT after {what} is ambiguous: put it inside the parenthesised branch it belongs to"
    return SqlExtError("EMIT-025", message, span=emit.span)


def parse_order_by(cursor: Cursor) -> tuple[OrderItem, ...]:
    """Read ``ORDER BY x [ASC | DESC] [NULLS FIRST | LAST], ...`` if it comes next."""
    if not cursor.accept_words("ORDER", "BY"):
        return ()
    items = [parse_order_item(cursor)]
    while cursor.accept_symbol(","):
        items.append(parse_order_item(cursor))
    return tuple(items)


def parse_order_item(cursor: Cursor) -> OrderItem:
    """Read ``x [ASC | DESC] [NULLS FIRST | LAST]``."""
    start = cursor.token.start
    expr = operations.parse_expression(cursor)
    descending = cursor.accept_any("ASC", "DESC") == "DESC"
    nulls = None
    if cursor.accept_words("NULLS"):
        nulls = cursor.accept_any("FIRST", "LAST")
        if not nulls:
            raise cursor.unexpected("FIRST or LAST")
    return OrderItem(cursor.span_from(start), expr, descending, nulls)


def _limits(cursor: Cursor) -> tuple[Expr | None, Expr | None]:
    """Read ``LIMIT n | ALL | start, n``, ``OFFSET n [ROWS]`` and ``FETCH FIRST n ROWS ONLY``, in any order."""
    limit: Expr | None = None
    offset: Expr | None = None
    while True:
        if limit is None and cursor.accept_words("LIMIT"):
            if cursor.accept_words("ALL"):
                continue
            limit = operations.parse_expression(cursor)
            if offset is None and cursor.accept_symbol(","):
                offset, limit = limit, operations.parse_expression(cursor)
        elif offset is None and cursor.at_words("OFFSET"):
            cursor.advance()
            offset = operations.parse_expression(cursor)
            cursor.accept_any("ROW", "ROWS")
        elif limit is None and cursor.at_words("FETCH") and cursor.peek().upper in ("FIRST", "NEXT"):
            cursor.index += 2
            limit = operations.parse_expression(cursor)
            cursor.accept_any("ROW", "ROWS")
            cursor.expect_words("ONLY")
        else:
            return limit, offset
