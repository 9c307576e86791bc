"""Parse the relations of FROM, with their hints: ``/*+ OPTIONS('k' = 'v'), STATE_TTL('t' = '1d') */``.

from     ::= joined {, joined}
joined   ::= primary {[NATURAL] [INNER | LEFT .. | RIGHT .. | FULL .. | CROSS] JOIN primary [ON x | USING (..)]}
primary  ::= (name | '(' query ')' | '(' joined ')' | [LATERAL] function | UNNEST (..) | VALUES ..) suffixes
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from sqlext.dialect.ast.expressions import Expr, NamedArgument, Node, ScalarQuery
from sqlext.dialect.ast.queries import (
    Alias,
    AsOf,
    Hint,
    Join,
    MatchRecognize,
    OrderItem,
    ParenRelation,
    Relation,
    SubqueryRef,
    TableArgument,
    TableFunction,
    TableRef,
    Unnest,
)
from sqlext.dialect.cursor import STRAIN, Cursor, enter, leave
from sqlext.dialect.expressions import calls, operands, operations
from sqlext.dialect.keywords import at_alias, at_query, expect_new_name, unsupported
from sqlext.dialect.queries import whole
from sqlext.dialect.queries.matching import parse_match_recognize
from sqlext.dialect.tokens import TokenKind
from sqlext.source import Span

_Aliased = TypeVar("_Aliased", SubqueryRef, TableFunction, Unnest, ParenRelation)


def parse_from(cursor: Cursor) -> Relation:
    """Read what follows FROM."""
    left = _joined(cursor)
    length = 0
    while cursor.accept_symbol(","):
        # A comma binds looser than JOIN: ON sees the tables since the last comma.
        right = _joined(cursor)
        left = Join(left.span.to(right.span), left, right, "CROSS", comma=True)
        length += 1
    cursor.strained = cursor.strained or length > STRAIN
    return left


def parse_name(cursor: Cursor, what: str = "a table's name") -> tuple[tuple[str, ...], Span]:
    """Read ``a.b.c``; return the unquoted parts and the place."""
    first = cursor.expect_identifier(what)
    parts = [first.value]
    while cursor.accept_symbol("."):
        parts.append(cursor.expect_identifier("a name after the dot").value)
    return tuple(parts), cursor.span_from(first.start)


def parse_names(cursor: Cursor) -> tuple[str, ...]:
    """Read ``(a, b, ...)``."""
    return tuple(name for name, _ in parse_placed_names(cursor))


def parse_placed_names(cursor: Cursor) -> tuple[tuple[str, Span], ...]:
    """Read ``(a, b, ...)``; return each name with its place."""
    cursor.expect_symbol("(")
    names: list[tuple[str, Span]] = []
    while not names or cursor.accept_symbol(","):
        token = cursor.expect_identifier("a column's name")
        names.append((token.value, cursor.span_from(token.start)))
    cursor.expect_symbol(")")
    return tuple(names)


def parse_alias(cursor: Cursor) -> Alias | None:
    """Read ``[AS] name [(c, ...)]`` if one comes next."""
    if not cursor.accept_words("AS") and not at_alias(cursor, relation=True):
        return None
    name = expect_new_name(cursor, "an alias").value
    return Alias(name, parse_names(cursor) if cursor.at_symbol("(") else ())


def _joined(cursor: Cursor) -> Relation:
    left = _primary(cursor)
    length = 0
    while kind := _join_kind(cursor):
        natural, kind = kind.startswith("NATURAL "), kind.removeprefix("NATURAL ")
        is_as_of, kind = kind.endswith(" ASOF"), kind.removesuffix(" ASOF")
        right = _primary(cursor)
        as_of = _as_of(cursor) if is_as_of else None
        condition: Expr | None = None
        using: tuple[str, ...] = ()
        # Spark takes one, and reads it as an inner join.
        if kind == "CROSS" and cursor.mode == "flink" and cursor.at_any("ON", "USING"):
            raise cursor.unexpected("no condition after CROSS JOIN", hint="write JOIN, or leave the condition out")
        if cursor.accept_words("ON"):
            condition = operations.parse_expression(cursor)
        elif cursor.accept_words("USING"):
            using = parse_names(cursor)
        left = Join(cursor.span_from(left.span.start), left, right, kind, natural, condition, using, as_of=as_of)
        length += 1
    cursor.strained = cursor.strained or length > STRAIN
    return left


def _join_kind(cursor: Cursor) -> str:
    """Read the words up to JOIN; return the kind, with NATURAL in front and ASOF behind, or an empty string."""
    start = cursor.index
    natural = "NATURAL " if cursor.accept_words("NATURAL") else ""
    # Spark writes LEFT ASOF JOIN, DuckDB writes ASOF LEFT JOIN.
    as_of = cursor.accept_words("ASOF")
    side = cursor.accept_any("INNER", "CROSS", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")
    if side in ("LEFT", "RIGHT", "FULL"):
        cursor.accept_words("OUTER")
    if side == "LEFT" and (half := cursor.accept_any("SEMI", "ANTI")):
        side = f"LEFT {half}"
    elif side in ("SEMI", "ANTI"):
        side = f"LEFT {side}"
    as_of = cursor.accept_words("ASOF") or as_of
    if cursor.accept_words("JOIN"):
        return natural + (side or "INNER") + (" ASOF" if as_of else "")
    if cursor.index > start:
        raise cursor.unexpected("JOIN")
    return ""


def _as_of(cursor: Cursor) -> AsOf:
    """Read ``MATCH_CONDITION (a.t >= b.t) [TOLERANCE INTERVAL ...]``."""
    start = cursor.token.start
    if not cursor.accept_words("MATCH_CONDITION"):
        raise cursor.unexpected(
            "MATCH_CONDITION", hint="ASOF JOIN t MATCH_CONDITION (left.time >= t.time) ON left.key = t.key"
        )
    cursor.expect_symbol("(")
    condition = operations.parse_expression(cursor)
    cursor.expect_symbol(")")
    tolerance = operations.parse_expression(cursor) if cursor.accept_words("TOLERANCE") else None
    return AsOf(cursor.span_from(start), condition, tolerance)


def _primary(cursor: Cursor) -> Relation:
    relation = _unaliased(cursor)
    if cursor.at_words("MATCH_RECOGNIZE"):
        relation = _match_recognize(cursor, relation)
    return relation


def _unaliased(cursor: Cursor) -> Relation:
    token, following = cursor.token, cursor.peek()
    word = token.upper
    if token.kind is TokenKind.SYMBOL and token.text == "(":
        return _parenthesised(cursor)
    if word == "LATERAL":
        return _lateral(cursor)
    if word == "UNNEST" and following.text == "(":
        return _unnest(cursor)
    if word == "TABLE" and following.text == "(":
        return _aliased(cursor, _table_of_function(cursor), token.start)
    if word == "VALUES" and at_query(cursor):
        query = whole.parse_query(cursor)
        return _aliased(cursor, SubqueryRef(query.span, query), token.start)
    if word == "SELECT":
        raise cursor.unexpected("a table", hint="put the sub-query in parentheses")
    return _named(cursor)


def _aliased(cursor: Cursor, relation: _Aliased, start: int) -> _Aliased:
    alias = parse_alias(cursor)
    return replace(relation, alias=alias, span=cursor.span_from(start))


def _parenthesised(cursor: Cursor) -> Relation:
    start = cursor.token.start
    if operands.parenthesised_query(cursor):
        cursor.advance()
        query = whole.parse_query(cursor)
        cursor.expect_symbol(")")
        return _aliased(cursor, SubqueryRef(cursor.span_from(start), query), start)
    cursor.advance()
    enter(cursor, 2)
    relation = parse_from(cursor)
    leave(cursor, 2)
    cursor.expect_symbol(")")
    return _aliased(cursor, ParenRelation(cursor.span_from(start), relation), start)


def _lateral(cursor: Cursor) -> Relation:
    """Read ``LATERAL (query)``, ``LATERAL TABLE(f(..))``, ``LATERAL f(..)`` or ``LATERAL UNNEST(..)``."""
    start = cursor.advance().start
    if cursor.at_words("VIEW"):
        raise unsupported(cursor, "Spark's LATERAL VIEW", "write CROSS JOIN UNNEST(x) AS t (a)")
    if cursor.at_symbol("("):
        cursor.advance()
        query = whole.parse_query(cursor)
        cursor.expect_symbol(")")
        return _aliased(cursor, SubqueryRef(cursor.span_from(start), query, lateral=True), start)
    if cursor.at_words("UNNEST"):
        return replace(_unnest(cursor), span=cursor.span_from(start))
    function = _table_of_function(cursor) if cursor.at_words("TABLE") else _function(cursor, cursor.token.start)
    return _aliased(cursor, replace(function, lateral=True), start)


def _table_of_function(cursor: Cursor) -> TableFunction:
    """Read ``TABLE(f(...))``."""
    start = cursor.advance().start
    cursor.expect_symbol("(")
    function = _function(cursor, start)
    cursor.expect_symbol(")")
    return replace(function, span=cursor.span_from(start))


def _function(cursor: Cursor, start: int) -> TableFunction:
    parts, _ = parse_name(cursor, "a table function's name")
    cursor.expect_symbol("(")
    enter(cursor)
    args: tuple[Node, ...] = () if cursor.at_symbol(")") else calls.parse_arguments(cursor)
    leave(cursor)
    cursor.expect_symbol(")")
    return TableFunction(cursor.span_from(start), ".".join(parts), tuple(map(_query_as_table, args)))


def _query_as_table(arg: Node) -> Node:
    """A query among the arguments of a table function is a table."""
    if isinstance(arg, NamedArgument):
        return replace(arg, value=_query_as_table(arg.value))
    return TableArgument(arg.span, SubqueryRef(arg.span, arg.query)) if isinstance(arg, ScalarQuery) else arg


def _unnest(cursor: Cursor) -> Unnest:
    start = cursor.advance().start
    cursor.expect_symbol("(")
    operands_ = operations.parse_expressions(cursor)
    cursor.expect_symbol(")")
    ordinality = cursor.accept_words("WITH", "ORDINALITY")
    return _aliased(cursor, Unnest(cursor.span_from(start), operands_, ordinality), start)


def _named(cursor: Cursor) -> Relation:
    """Read a table with its suffixes, or a table function without TABLE()."""
    start = cursor.token.start
    stream, closing = _stream(cursor)
    before = cursor.index
    parts, name_span = parse_name(cursor, "a table")
    if cursor.at_symbol("("):
        if stream:
            raise unsupported(cursor, "STREAM of a table function")
        cursor.index = before
        return _aliased(cursor, _function(cursor, start), start)
    if closing:
        cursor.expect_symbol(")")
    # Calcite wants hints directly behind the name; people also write them behind the others.
    hints = parse_hints(cursor)
    system_time, version = _time_travel(cursor)
    hints += parse_hints(cursor)
    if cursor.at_words("MATCH_RECOGNIZE"):
        alias = None
    else:
        alias = parse_alias(cursor)
        hints += parse_hints(cursor)
    span = cursor.span_from(start)
    return TableRef(span, parts, name_span, alias, hints, system_time, version, stream)


def _stream(cursor: Cursor) -> tuple[bool, bool]:
    """Read Spark's ``STREAM`` or ``STREAM(``: a word unless a table follows."""
    if not cursor.at_words("STREAM"):
        return False, False
    following = cursor.peek()
    if following.kind is TokenKind.SYMBOL and following.text == "(":
        cursor.index += 2
        return True, True
    index = cursor.index
    cursor.index += 1
    # FROM stream s is Spark's STREAM of s; before a clause or alone, `stream` is a name.
    if cursor.token.kind in (TokenKind.WORD, TokenKind.QUOTED) and at_alias(cursor, relation=True):
        return True, False
    cursor.index = index
    return False, False


def _time_travel(cursor: Cursor) -> tuple[Expr | None, Expr | None]:
    """Read ``FOR SYSTEM_TIME AS OF x``, ``[FOR] VERSION AS OF x`` or ``[FOR] TIMESTAMP AS OF x``."""
    if cursor.accept_words("FOR", "SYSTEM_TIME"):
        cursor.expect_words("AS", "OF")
        return operations.parse_expression(cursor), None
    # AS must follow: VERSION and TIMESTAMP are aliases otherwise.
    at = 1 if cursor.at_words("FOR") else 0
    if cursor.peek(at).upper in ("VERSION", "TIMESTAMP", "SYSTEM_VERSION") and cursor.peek(at + 1).upper == "AS":
        cursor.index += at + 1
        cursor.expect_words("AS", "OF")
        return None, operations.parse_expression(cursor)
    return None, None


def _match_recognize(cursor: Cursor, relation: Relation) -> MatchRecognize:
    match = parse_match_recognize(cursor, relation)
    alias = parse_alias(cursor)
    return replace(match, alias=alias, span=cursor.span_from(relation.span.start))


def parse_table_argument(cursor: Cursor) -> TableArgument:
    """Read ``TABLE t | TABLE (query) | TABLE f(..)`` with PARTITION BY and ORDER BY."""
    start = cursor.expect_words("TABLE").start
    relation: Relation
    if cursor.at_symbol("("):
        relation = _subquery(cursor)
    else:
        relation_start = cursor.token.start
        parts, name_span = parse_name(cursor)
        if cursor.at_symbol("("):
            # Back to the first part: over the parts and the dots between them.
            cursor.index -= 2 * len(parts) - 1
            relation = _function(cursor, relation_start)
        else:
            hints = parse_hints(cursor)
            relation = TableRef(cursor.span_from(relation_start), parts, name_span, hints=hints)
    # PARTITION is an alias elsewhere; a table argument has PARTITION BY at this place.
    alias = parse_alias(cursor) if not cursor.at_any("PARTITION", "ORDER") else None
    if alias is not None and isinstance(relation, (TableRef, SubqueryRef, TableFunction)):
        relation = replace(relation, alias=alias, span=cursor.span_from(relation.span.start))
    return _argument(cursor, relation, start)


def _subquery(cursor: Cursor) -> SubqueryRef:
    start = cursor.expect_symbol("(").start
    query = whole.parse_query(cursor)
    cursor.expect_symbol(")")
    return SubqueryRef(cursor.span_from(start), query)


def query_argument(cursor: Cursor, query: ScalarQuery) -> TableArgument:
    """Read the PARTITION BY and ORDER BY that make a query an argument of a table function."""
    return _argument(cursor, SubqueryRef(query.span, query.query), query.span.start)


def _argument(cursor: Cursor, relation: Relation, start: int) -> TableArgument:
    partition_by: tuple[Expr, ...] = ()
    if cursor.accept_words("PARTITION"):
        cursor.expect_words("BY")
        # Several keys need parentheses: a comma begins the function's next argument.
        partition_by = operations.row_items(operations.parse_expression(cursor))
    order_by = _argument_order(cursor) if cursor.accept_words("ORDER", "BY") else ()
    return TableArgument(cursor.span_from(start), relation, partition_by, order_by)


def _argument_order(cursor: Cursor) -> tuple[OrderItem, ...]:
    if not cursor.accept_symbol("("):
        return (whole.parse_order_item(cursor),)
    items = [whole.parse_order_item(cursor)]
    while cursor.accept_symbol(","):
        items.append(whole.parse_order_item(cursor))
    cursor.expect_symbol(")")
    return tuple(items)


def parse_hints(cursor: Cursor) -> tuple[Hint, ...]:
    """Read the hint comments that come next."""
    hints: list[Hint] = []
    while cursor.token.kind is TokenKind.HINT:
        token = cursor.advance()
        # The lexer gives a hint as one token; a cursor over the same text keeps the places true.
        inner = Cursor.over(cursor.source.span(token.start + 3, token.end - 2), cursor.mode)
        while not inner.at_end:
            hints.append(_hint(inner))
            # The comma between hints is optional, as in SqlBaseParser.g4.
            inner.accept_symbol(",")
    return tuple(hints)


def _hint(cursor: Cursor) -> Hint:
    name = cursor.expect_identifier("a hint's name")
    options: list[tuple[tuple[str, str], Span]] = []
    arguments: list[tuple[str, Span]] = []
    if cursor.accept_symbol("("):
        while not cursor.at_symbol(")"):
            start = cursor.token.start
            key = _operand(cursor)
            if cursor.accept_symbol("="):
                options.append(((key, _operand(cursor)), cursor.span_from(start)))
            else:
                arguments.append((key, cursor.span_from(start)))
            if not cursor.accept_symbol(","):
                break
        cursor.expect_symbol(")")
    return Hint(
        name.value.upper(),
        tuple(pair for pair, _ in options),
        tuple(text for text, _ in arguments),
        cursor.span_from(name.start),
        tuple(place for _, place in options),
        tuple(place for _, place in arguments),
    )


def _operand(cursor: Cursor) -> str:
    """Read a string, a number, or a name with dots and dashes (``scan.mode``); return it unquoted."""
    first = cursor.token
    if first.kind in (TokenKind.SYMBOL, TokenKind.END):
        raise cursor.unexpected("a hint's argument")
    parts = [cursor.advance().value]
    while cursor.at_symbol(".", "-", ":"):
        parts += [cursor.advance().text, cursor.expect_identifier().value]
    return "".join(parts)
