"""Parse function calls: arguments, and the phrases that follow them.

call ::= name '(' [DISTINCT | ALL] [argument {, argument}] [ORDER BY ..] [phrases] ')'
         {WITHIN GROUP (ORDER BY ..) | FILTER (WHERE ..) | IGNORE NULLS | RESPECT NULLS | OVER ..}
"""

from __future__ import annotations

from sqlext.dialect.ast.expressions import Call, Expr, Keyword, NamedArgument, Node, OverSpec, ScalarQuery
from sqlext.dialect.ast.queries import Descriptor, OrderItem, SelectItem
from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.expressions import operations
from sqlext.dialect.keywords import at_query, unsupported
from sqlext.dialect.queries import relations, whole
from sqlext.dialect.queries.over import parse_over
from sqlext.dialect.tokens import TokenKind


def parse_call(cursor: Cursor, name: str, start: int) -> Expr:
    """Read a call whose name has been read; the cursor is at its parenthesis."""
    cursor.expect_symbol("(")
    enter(cursor)
    distinct = cursor.accept_words("DISTINCT")
    # ALL may be a column: COUNT(all).
    if not distinct and cursor.at_words("ALL") and cursor.peek().text not in (",", ")", "."):
        cursor.advance()
    args = () if cursor.at_symbol(")") else parse_arguments(cursor)
    order_by = whole.parse_order_by(cursor)
    clauses = null_treatment(cursor)
    leave(cursor)
    return finish_call(cursor, name, start, args, distinct, clauses, order_by)


def finish_call(
    cursor: Cursor,
    name: str,
    start: int,
    args: tuple[Node, ...],
    distinct: bool = False,
    clauses: tuple[str, ...] = (),
    order_by: tuple[OrderItem, ...] = (),
) -> Call:
    """Read the closing parenthesis and what follows it."""
    cursor.expect_symbol(")")
    filter_: Expr | None = None
    over: OverSpec | None = None
    # In any order: IGNORE NULLS stands before FILTER in Calcite, behind it in Spark.
    # These words are aliases too, `COUNT(*) filter`: the token behind them tells.
    while word := cursor.token.upper:
        if word == "WITHIN" and cursor.accept_words("WITHIN", "GROUP"):
            cursor.expect_symbol("(")
            order_by = whole.parse_order_by(cursor)
            cursor.expect_symbol(")")
        elif word == "FILTER" and cursor.peek().text == "(":
            filter_ = _filter(cursor)
        elif word in ("IGNORE", "RESPECT") and cursor.peek().upper == "NULLS":
            clauses += null_treatment(cursor)
        elif word == "OVER":
            over = parse_over(cursor)
        else:
            break
    span = cursor.span_from(start)
    return Call(span, name, args, distinct, False, clauses, order_by, filter_, over)


def null_treatment(cursor: Cursor) -> tuple[str, ...]:
    """Read ``IGNORE NULLS`` or ``RESPECT NULLS`` if one comes next."""
    for word in ("IGNORE", "RESPECT"):
        if cursor.accept_words(word, "NULLS"):
            return (f"{word} NULLS",)
    return ()


def parse_arguments(cursor: Cursor) -> tuple[Node, ...]:
    """Read ``argument {, argument}``."""
    args = [parse_argument(cursor)]
    while cursor.accept_symbol(","):
        args.append(parse_argument(cursor))
    return tuple(args)


def parse_argument(cursor: Cursor) -> Node:
    """Read an expression, ``name => argument``, ``TABLE t``, ``DESCRIPTOR(..)``, a lambda or a query."""
    token, following = cursor.token, cursor.peek()
    if following.text == "=>" and token.kind in (TokenKind.WORD, TokenKind.QUOTED):
        cursor.index += 2
        value = _value(cursor)
        return NamedArgument(cursor.span_from(token.start), token.value, value)
    return _value(cursor)


def _value(cursor: Cursor) -> Node:
    token, following = cursor.token, cursor.peek()
    if token.upper == "DESCRIPTOR" and following.text == "(":
        return _descriptor(cursor)
    if token.upper == "TABLE" and (following.text == "(" or following.kind in (TokenKind.WORD, TokenKind.QUOTED)):
        return relations.parse_table_argument(cursor)
    if token.upper == "MODEL" and following.kind in (TokenKind.WORD, TokenKind.QUOTED):
        raise unsupported(cursor, "a MODEL", "register a Python function that asks the model, and call that")
    if at_query(cursor):
        # Calcite's ARRAY(SELECT ..) and MULTISET(SELECT ..): the query has no parentheses of its own.
        query = whole.parse_query(cursor)
        return ScalarQuery(query.span, query)
    expr = operations.parse_expression(cursor)
    if isinstance(expr, ScalarQuery) and cursor.at_any("PARTITION", "ORDER") and cursor.peek().upper == "BY":
        return relations.query_argument(cursor, expr)
    if cursor.accept_words("AS"):  # Spark's struct(a AS x)
        alias = cursor.expect_identifier("an alias").value
        return SelectItem(cursor.span_from(token.start), expr, alias)
    return expr


def _descriptor(cursor: Cursor) -> Descriptor:
    start = cursor.advance().start
    cursor.expect_symbol("(")
    columns = operations.parse_expressions(cursor)
    cursor.expect_symbol(")")
    return Descriptor(cursor.span_from(start), columns)


def _filter(cursor: Cursor) -> Expr:
    cursor.index += 2
    cursor.expect_words("WHERE")
    enter(cursor)
    condition = operations.parse_expression(cursor)
    leave(cursor)
    cursor.expect_symbol(")")
    return condition


def keyword(cursor: Cursor) -> Keyword:
    """Read a word as an argument of its own."""
    token = cursor.advance()
    return Keyword(cursor.span_from(token.start), token.upper)
