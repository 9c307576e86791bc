"""Parse the clauses of MATCH_RECOGNIZE.

body    ::= [PARTITION BY x, ..] [ORDER BY ..] [MEASURES [FINAL | RUNNING] x AS name, ..]
            [ONE ROW PER MATCH | ALL ROWS PER MATCH [SHOW EMPTY MATCHES | OMIT EMPTY MATCHES | WITH UNMATCHED ROWS]]
            [AFTER MATCH SKIP (PAST LAST ROW | TO NEXT ROW | TO [FIRST | LAST] v)]
            PATTERN '(' choice ')' [WITHIN interval] [SUBSET s = (v, ..), ..] [DEFINE v AS condition, ..]

The order is that of SQL:2016 and Flink. The pattern itself: ``patterns.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.matching import AfterMatch, Measure, RowsPerMatch, Subset, VariableDefinition
from sqlext.dialect.ast.queries import MatchRecognize, Relation
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions import operations
from sqlext.dialect.keywords import expect_new_name
from sqlext.dialect.queries import whole
from sqlext.dialect.queries.patterns import parse_pattern
from sqlext.dialect.tokens import TokenKind, did_you_mean_word
from sqlext.errors import SqlExtError

_ORDER = "PARTITION BY, ORDER BY, MEASURES, ONE ROW PER MATCH, AFTER MATCH SKIP, PATTERN, WITHIN, SUBSET, DEFINE"
_CLAUSES = ("PARTITION", "ORDER", "MEASURES", "ONE", "ALL", "AFTER", "PATTERN", "WITHIN", "SUBSET", "DEFINE")
_Item = TypeVar("_Item")


def parse_match_recognize(cursor: Cursor, relation: Relation) -> MatchRecognize:
    """Read ``MATCH_RECOGNIZE ( ... )`` behind the relation whose rows it looks at.

    Raises:
        SqlExtError: MATCH-001 for a clause that is missing or out of order, MATCH-002 and MATCH-003 for a pattern that
            says nothing, PARSE-002 for other text.
    """
    cursor.expect_words("MATCH_RECOGNIZE")
    cursor.expect_symbol("(")
    partition_by = _partition_by(cursor)
    order_by = whole.parse_order_by(cursor)
    measures = _list(cursor, _measure) if cursor.accept_words("MEASURES") else ()
    rows = _rows_per_match(cursor)
    after = _after_match(cursor)
    _expect_pattern(cursor)
    pattern = parse_pattern(cursor)
    # Flink's alone: SQL:2016 has no WITHIN.
    within = operations.parse_expression(cursor) if cursor.accept_words("WITHIN") else None
    subsets = _list(cursor, _subset) if cursor.accept_words("SUBSET") else ()
    definitions = _list(cursor, _definition) if cursor.accept_words("DEFINE") else ()
    _expect_end(cursor)
    span = cursor.span_from(relation.span.start)
    return MatchRecognize(
        span, relation, pattern, partition_by, order_by, measures, rows, after, within, subsets, definitions
    )


def _list(cursor: Cursor, parse: Callable[[Cursor], _Item]) -> tuple[_Item, ...]:
    items = [parse(cursor)]
    while cursor.accept_symbol(","):
        items.append(parse(cursor))
    return tuple(items)


def _partition_by(cursor: Cursor) -> tuple[Expr, ...]:
    if not cursor.accept_words("PARTITION"):
        return ()
    cursor.expect_words("BY")
    return operations.parse_expressions(cursor)


def _measure(cursor: Cursor) -> Measure:
    start = cursor.token.start
    semantics = ""
    # FINAL may be a column or a function: `final AS f`, `final(x) AS f`.
    if cursor.at_any("FINAL", "RUNNING") and cursor.peek().kind is not TokenKind.SYMBOL and cursor.peek().upper != "AS":
        semantics = cursor.advance().upper
    expr = operations.parse_expression(cursor)
    cursor.expect_words("AS")
    name = expect_new_name(cursor, "a measure's name").value
    return Measure(cursor.span_from(start), expr, name, semantics)


def _rows_per_match(cursor: Cursor) -> RowsPerMatch | None:
    start = cursor.token.start
    word = cursor.accept_any("ONE", "ALL")
    if not word:
        return None
    cursor.expect_words("ROW" if word == "ONE" else "ROWS", "PER", "MATCH")
    option = cursor.accept_any("SHOW", "OMIT", "WITH") if word == "ALL" else ""
    if option == "WITH":
        cursor.expect_words("UNMATCHED", "ROWS")
        option = "UNMATCHED"
    elif option:
        cursor.expect_words("EMPTY", "MATCHES")
    return RowsPerMatch(cursor.span_from(start), word == "ALL", option)


def _after_match(cursor: Cursor) -> AfterMatch | None:
    start = cursor.token.start
    if not cursor.accept_words("AFTER"):
        return None
    cursor.expect_words("MATCH", "SKIP")
    if cursor.accept_words("PAST"):
        cursor.expect_words("LAST", "ROW")
        return AfterMatch(cursor.span_from(start), "PAST LAST ROW")
    cursor.expect_words("TO")
    if cursor.accept_words("NEXT", "ROW"):
        return AfterMatch(cursor.span_from(start), "NEXT ROW")
    # FIRST and LAST are variables too, if no name follows.
    named = cursor.peek().kind is TokenKind.QUOTED or (cursor.peek().upper not in ("", "PATTERN"))
    to = (cursor.accept_any("FIRST", "LAST") if named else "") or "LAST"
    token = cursor.expect_identifier("NEXT ROW, FIRST, LAST or a pattern variable")
    return AfterMatch(cursor.span_from(start), to, token.value, cursor.source.span(token.start, token.end))


def _subset(cursor: Cursor) -> Subset:
    start = cursor.token.start
    name = cursor.expect_identifier("a name for several variables").value
    cursor.expect_symbol("=")
    cursor.expect_symbol("(")
    members = _list(cursor, lambda c: c.expect_identifier("a pattern variable").value)
    cursor.expect_symbol(")")
    return Subset(cursor.span_from(start), name, members)


def _definition(cursor: Cursor) -> VariableDefinition:
    start = cursor.token.start
    name = cursor.expect_identifier("a pattern variable").value
    cursor.expect_words("AS")
    condition = operations.parse_expression(cursor)
    return VariableDefinition(cursor.span_from(start), name, condition)


def _expect_pattern(cursor: Cursor) -> None:
    if cursor.accept_words("PATTERN"):
        return
    token = cursor.token
    if token.upper in _CLAUSES:
        raise _misplaced(cursor)
    span = cursor.source.span(token.start, token.end)
    hint = did_you_mean_word(token.upper, *_CLAUSES) or f"the clauses are {_ORDER}, in this order"
    raise SqlExtError("MATCH-001", "MATCH_RECOGNIZE needs a PATTERN (...) here", span=span, hint=hint)


def _expect_end(cursor: Cursor) -> None:
    if cursor.token.upper in _CLAUSES:
        raise _misplaced(cursor)
    cursor.expect_symbol(")")


def _misplaced(cursor: Cursor) -> SqlExtError:
    token = cursor.token
    span = cursor.source.span(token.start, token.end)
    hint = f"the clauses are {_ORDER}, in this order, each once"
    return SqlExtError("MATCH-001", f"{token.upper} cannot stand here", span=span, hint=hint)
