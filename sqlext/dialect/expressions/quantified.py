"""Parse comparisons with some or all values: ``x > ALL (SELECT ...)``, ``x = ANY (1, 2)``.

``= ANY`` is IN, ``<> ALL`` is NOT IN.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.dialect.ast.expressions import Expr, InQuery, ListComparison, QueryComparison, ScalarQuery
from sqlext.dialect.ast.queries import Alias, Query, Select, SubqueryRef
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions import operands, operations
from sqlext.dialect.keywords import at_query
from sqlext.dialect.queries import whole
from sqlext.errors import SqlExtError

_VALUES, _VALUE = "__values", "__value"
_SUMMARY = f"SELECT ROW(MIN({_VALUE}), MAX({_VALUE}), COUNT(*), COUNT({_VALUE})) FROM {_VALUES}"


def parse_quantified(cursor: Cursor, left: Expr, op: str) -> Expr | None:
    """Read what stands behind a comparison's operator; None if it is an ordinary operand.

    In Spark ``ANY (b)`` and ``SOME (b)`` are aggregates, so only a query makes them quantifiers there.
    """
    begin = cursor.index
    word = cursor.accept_any("ANY", "SOME", "ALL")
    if not word or not cursor.accept_symbol("("):
        cursor.index = begin
        return None
    every = word == "ALL"
    if at_query(cursor) or (cursor.at_symbol("(") and operands.parenthesised_query(cursor)):
        query = whole.parse_query(cursor)
        cursor.expect_symbol(")")
        return _with_query(cursor, left, op, every, query)
    if cursor.mode != "flink":
        cursor.index = begin
        return None
    items = operations.parse_expressions(cursor)
    cursor.expect_symbol(")")
    return ListComparison(cursor.span_from(left.span.start), left, op, every, items)


def _with_query(cursor: Cursor, left: Expr, op: str, every: bool, query: Query) -> Expr:
    span = cursor.span_from(left.span.start)
    if (op, every) in (("=", False), ("<>", True)):
        return InQuery(span, left, query, negated=every, quantified=True)
    if isinstance(query.body, Select) and len(query.body.items) > 1:
        message = f"a value is compared with one column, this query has {len(query.body.items)}"
        raise SqlExtError("NAME-007", message, span=query.span)
    summary = whole.parse_query_text(_SUMMARY, cursor.mode)
    assert isinstance(summary.body, Select)
    values = SubqueryRef(query.span, query, Alias(_VALUES, (_VALUE,)))
    whole_summary = replace(summary, span=query.span, body=replace(summary.body, from_=values))
    return QueryComparison(span, left, op, every, ScalarQuery(query.span, whole_summary))
