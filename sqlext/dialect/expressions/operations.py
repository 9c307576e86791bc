"""Parse operators by precedence climbing, over the operands of ``operands``.

From loose to tight: OR; AND; NOT; IS; comparisons; IN, LIKE, BETWEEN; ``|``; ``^``; ``&``; shifts;
``+ -``; ``* / % DIV``; signs. Spark and Flink (Calcite) differ in two places: ``||`` binds like ``+`` in Spark
and like ``*`` in Flink, and IN, LIKE and BETWEEN bind looser than comparisons in Spark, tighter in Flink.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlext.dialect.ast.expressions import (
    Between,
    Binary,
    Expr,
    InList,
    InQuery,
    IsTest,
    Like,
    Paren,
    RowValue,
    Unary,
)
from sqlext.dialect.cursor import STRAIN, Cursor, balanced, check_height, enter, leave, too_deep
from sqlext.dialect.expressions import operands, quantified
from sqlext.dialect.keywords import at_query
from sqlext.dialect.queries import whole
from sqlext.dialect.tokens import TokenKind, tokenize
from sqlext.source import SourceText

OR, AND, NOT, IS, COMPARISON, PREDICATE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, ADD, MULTIPLY, SIGN = range(1, 14)


class _Infix(NamedTuple):
    level: int
    parse: Callable[[Cursor, Expr, int], Expr]


def parse_expression(cursor: Cursor, level: int = 0) -> Expr:
    """Read an expression whose operators all bind at least as tightly as ``level``."""
    enter(cursor)
    left = _prefix(cursor)
    infixes = _INFIXES[cursor.mode]
    length = 0
    while True:
        infix = infixes.get(_operator(cursor))
        if infix is None or infix.level < level:
            break
        length += 1
        continued = infix.parse(cursor, left, infix.level)
        if continued is left:  # NOT that begins something else
            break
        left = continued
    # The parser does not recurse here, but each operator makes the left-deep tree one higher.
    if length > STRAIN:
        cursor.strained = True
    leave(cursor)
    return left


def parse_expressions(cursor: Cursor) -> tuple[Expr, ...]:
    """Read ``expr {, expr}``."""
    items = [parse_expression(cursor)]
    while cursor.accept_symbol(","):
        items.append(parse_expression(cursor))
    return tuple(items)


def row_items(expr: Expr) -> tuple[Expr, ...]:
    """Return the values of a row: of ``(a, b)``, ``(ROW(a, b))``, ``(a)`` and of a lone ``a``."""
    if isinstance(expr, Paren) and isinstance(expr.operand, RowValue):
        expr = expr.operand
    if isinstance(expr, RowValue):
        return expr.items
    return (expr.operand,) if isinstance(expr, Paren) else (expr,)


def parse_expression_text(text: str, mode: str = "spark", name: str = "<sql>") -> Expr:
    """Read a text that is one expression, for instance a stored computed column."""
    source = SourceText.of(text, name)
    cursor = Cursor(source, tokenize(source, mode), mode)
    try:
        result = parse_expression(cursor)
    # MAX_DEPTH counts from an empty stack; a caller deep in frames of its own runs out earlier.
    except RecursionError:
        raise too_deep(source.span(0, len(text))) from None
    if not cursor.at_end:
        raise cursor.unexpected("the end of the expression")
    if cursor.strained:
        check_height(result)
    return result


def _prefix(cursor: Cursor) -> Expr:
    token = cursor.token
    if token.kind is TokenKind.SYMBOL and token.text in ("-", "+", "~", "!"):
        require_flinks(cursor, token.text)
        cursor.advance()
        # Spark's ! binds like NOT, not like a sign (booleanExpression of SqlBaseParser.g4).
        op, level = ("NOT", NOT) if token.text == "!" else (token.text, SIGN)
    elif token.upper == "NOT":
        cursor.advance()
        op, level = "NOT", NOT
    else:
        return operands.parse_operand(cursor)
    operand = parse_expression(cursor, level)
    return Unary(cursor.span_from(token.start), op, operand)


def _binary(op: str, tokens: int = 1) -> Callable[[Cursor, Expr, int], Expr]:
    """Return the parser of what follows a left operand, for a left-associative operator."""

    def parse(cursor: Cursor, left: Expr, level: int) -> Expr:
        cursor.index += tokens
        right = parse_expression(cursor, level + 1)
        return Binary(left.span.to(right.span), op, left, right)

    return parse


def _chain(op: str) -> Callable[[Cursor, Expr, int], Expr]:
    """Return the parser for an associative operator: long chains become a flat tree."""

    def parse(cursor: Cursor, left: Expr, level: int) -> Expr:
        items = [left]
        token = cursor.token
        while (token.upper or token.text) == op and token.kind in (TokenKind.WORD, TokenKind.SYMBOL):
            cursor.advance()
            items.append(parse_expression(cursor, level + 1))
            token = cursor.token
        return balanced(items, lambda a, b: Binary(a.span.to(b.span), op, a, b))

    return parse


def _operator(cursor: Cursor) -> str:
    """Return the operator or word in front, in upper case."""
    token = cursor.token
    if token.kind is not TokenKind.SYMBOL:
        return token.upper
    if token.text not in ("<", ">"):
        return token.text
    op, end = token.text, token.end
    # `<<` and `>>` are adjacent tokens, because they may close types as well.
    while len(op) < 3 and (following := cursor.peek(len(op))).text == token.text and following.start == end:
        op, end = op + token.text, following.end
    return op


def _in(cursor: Cursor, left: Expr, level: int, negated: bool = False) -> Expr:
    cursor.expect_words("IN")
    cursor.expect_symbol("(")
    # IN ((SELECT 1)) holds a query, IN ((1), (2)) does not.
    if at_query(cursor) or (cursor.at_symbol("(") and operands.parenthesised_query(cursor)):
        query = whole.parse_query(cursor)
        cursor.expect_symbol(")")
        return InQuery(cursor.span_from(left.span.start), left, query, negated)
    items = parse_expressions(cursor)
    cursor.expect_symbol(")")
    return InList(cursor.span_from(left.span.start), left, items, negated)


def _between(cursor: Cursor, left: Expr, level: int, negated: bool = False) -> Expr:
    cursor.expect_words("BETWEEN")
    symmetric = cursor.accept_any("SYMMETRIC", "ASYMMETRIC") == "SYMMETRIC"
    # Tighter than AND, which separates the bounds.
    low = parse_expression(cursor, BIT_OR)
    cursor.expect_words("AND")
    high = parse_expression(cursor, BIT_OR)
    return Between(left.span.to(high.span), left, low, high, negated, symmetric)


def _like(cursor: Cursor, left: Expr, level: int, negated: bool = False) -> Expr:
    require_flinks(cursor, cursor.token.upper)
    op = cursor.advance().upper
    if op == "SIMILAR":
        cursor.expect_words("TO")
        op = "SIMILAR TO"
    pattern = parse_expression(cursor, BIT_OR)
    escape = parse_expression(cursor, BIT_OR) if cursor.accept_words("ESCAPE") else None
    return Like(cursor.span_from(left.span.start), op, left, pattern, escape, negated)


def _negated(cursor: Cursor, left: Expr, level: int) -> Expr:
    parse = _NEGATABLE.get(cursor.peek().upper)
    if parse is None:
        return left
    cursor.advance()
    return parse(cursor, left, level, True)


def _is(cursor: Cursor, left: Expr, level: int) -> Expr:
    """Read ``IS [NOT] NULL | TRUE | FALSE | UNKNOWN | JSON ... | DISTINCT FROM x``."""
    cursor.advance()
    negated = cursor.accept_words("NOT")
    if cursor.accept_words("DISTINCT", "FROM"):
        right = parse_expression(cursor, BIT_OR)
        op = "IS NOT DISTINCT FROM" if negated else "IS DISTINCT FROM"
        return Binary(left.span.to(right.span), op, left, right)
    test = cursor.accept_any("NULL", "TRUE", "FALSE", "UNKNOWN", "JSON")
    if not test:
        raise cursor.unexpected("NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM")
    if test == "JSON" and (kind := cursor.accept_any("OBJECT", "ARRAY", "SCALAR", "VALUE")):
        test = f"JSON {kind}"
    return IsTest(cursor.span_from(left.span.start), left, test, negated)


def _comparison(op: str) -> Callable[[Cursor, Expr, int], Expr]:
    """Return the parser of what follows a comparison's left operand: another one, or ANY, SOME, ALL of some values."""

    def parse(cursor: Cursor, left: Expr, level: int) -> Expr:
        cursor.index += 1
        found = quantified.parse_quantified(cursor, left, op)
        if found is not None:
            return found
        right = parse_expression(cursor, level + 1)
        return Binary(left.span.to(right.span), op, left, right)

    return parse


_BITS = "SET 'sqlext.expressions' = 'spark' has operators of bits"
#: Operators that Flink's parser (Calcite) does not take, and what it does.
_NOT_FLINKS = {
    "!=": "write <>",
    "==": "write =",
    "<=>": "write IS NOT DISTINCT FROM",
    "DIV": "write /: of two whole numbers it is a whole one",
    "ILIKE": "write LOWER(x) LIKE LOWER('...')",
    "RLIKE": "write REGEXP(x, '...')",
    "REGEXP": "write REGEXP(x, '...')",
    "::": "write CAST(x AS type)",
    **dict.fromkeys(("&", "|", "^", "~", "<<", ">>", ">>>"), _BITS),
}


def require_flinks(cursor: Cursor, op: str) -> None:
    """Refuse, at the operator in front, one that Flink SQL has not, where expressions are Flink's (PARSE-010)."""
    if cursor.mode == "flink" and op in _NOT_FLINKS:
        cursor.fail("PARSE-010", f"`{op}` is no operator of Flink SQL", _NOT_FLINKS[op])


def _sparks(op: str, tokens: int = 1) -> Callable[[Cursor, Expr, int], Expr]:
    """Return the parser of what follows a left operand, for an operator that Spark alone has."""
    parse_rest = _binary(op, tokens)

    def parse(cursor: Cursor, left: Expr, level: int) -> Expr:
        require_flinks(cursor, op)
        return parse_rest(cursor, left, level)

    return parse


_NEGATABLE: dict[str, Callable[[Cursor, Expr, int, bool], Expr]] = {
    "IN": _in,
    "BETWEEN": _between,
    "LIKE": _like,
    "ILIKE": _like,
    "RLIKE": _like,
    "REGEXP": _like,
    "SIMILAR": _like,
}

_COMMON: dict[str, _Infix] = {
    "OR": _Infix(OR, _chain("OR")),
    "AND": _Infix(AND, _chain("AND")),
    "IS": _Infix(IS, _is),
    "OVERLAPS": _Infix(COMPARISON, _binary("OVERLAPS")),
    **{op: _Infix(COMPARISON, _comparison(op)) for op in ("=", "<>", "<", "<=", ">", ">=")},
    **{op: _Infix(COMPARISON, _sparks(op)) for op in ("==", "<=>", "!=")},
    # As many tokens as characters: see `_operator`.
    **{op: _Infix(SHIFT, _sparks(op, len(op))) for op in ("<<", ">>", ">>>")},
    "|": _Infix(BIT_OR, _sparks("|")),
    "^": _Infix(BIT_XOR, _sparks("^")),
    "&": _Infix(BIT_AND, _sparks("&")),
    "+": _Infix(ADD, _binary("+")),
    "-": _Infix(ADD, _binary("-")),
    **{op: _Infix(MULTIPLY, _binary(op)) for op in ("*", "/", "%")},
    "DIV": _Infix(MULTIPLY, _sparks("DIV")),
}


def _table(predicate: int, concatenation: int) -> dict[str, _Infix]:
    predicates = {word: _Infix(predicate, _without_negation(parse)) for word, parse in _NEGATABLE.items()}
    concat = _Infix(concatenation, _chain("||"))
    # An infix NOT binds as the predicate that it negates.
    return {**_COMMON, **predicates, "NOT": _Infix(predicate, _negated), "||": concat}


def _without_negation(
    parse: Callable[[Cursor, Expr, int, bool], Expr],
) -> Callable[[Cursor, Expr, int], Expr]:
    return lambda cursor, left, level: parse(cursor, left, level, False)


# Calcite's SqlStdOperatorTable: || has 60 as * has; LIKE, IN and BETWEEN 32, above the comparisons' 30.
_INFIXES = {"spark": _table(IS, ADD), "flink": _table(PREDICATE, MULTIPLY)}
