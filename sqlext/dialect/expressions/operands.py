"""Parse operands: literals, names, calls, parentheses, CASE, constructors.

operand ::= primary { '.' name | '[' index ']' | '::' type }
"""

from __future__ import annotations

from collections.abc import Callable

from sqlext.dialect.ast.expressions import (
    ArrayValue,
    Binary,
    Call,
    Case,
    Cast,
    ColumnRef,
    Difference,
    Exists,
    Expr,
    FieldAccess,
    Keyword,
    Literal,
    MapValue,
    Paren,
    RowValue,
    ScalarQuery,
    Star,
    Subscript,
    When,
)
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions import calls, json_calls, lambdas, literals, operations, special_calls
from sqlext.dialect.expressions.types import parse_type
from sqlext.dialect.keywords import NOT_AN_OPERAND, at_query, unsupported
from sqlext.dialect.queries import whole
from sqlext.dialect.tokens import Token, TokenKind, words

_OPERATORS = frozenset(("+", "-", "*", "/", "=", "<>", "!=", "<", "<=", ">", ">=", "||"))
# Calls without parentheses, so a column of such a name needs backticks, as in Flink.
_BARE_CALLS = frozenset(
    words(
        "CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_ROW_TIMESTAMP LOCALTIME LOCALTIMESTAMP CURRENT_USER "
        "SESSION_USER SYSTEM_USER CURRENT_CATALOG CURRENT_DATABASE CURRENT_SCHEMA CURRENT_PATH CURRENT_ROLE"
    )
)


def parse_operand(cursor: Cursor) -> Expr:
    """Read a primary and what is applied to it."""
    token = cursor.token
    kind = token.kind
    if kind is TokenKind.WORD:
        expr = _word(cursor, token)
    elif kind is TokenKind.QUOTED:
        expr = lambdas.accept_lambda(cursor) or _name(cursor)
    elif kind is TokenKind.NUMBER or kind is TokenKind.STRING:
        expr = literals.parse_literal(cursor)
    else:
        expr = _symbol(cursor, token)
    while cursor.token.kind is TokenKind.SYMBOL:
        applied = _apply(cursor, expr)
        if applied is None:
            break
        expr = applied
    return expr


def _apply(cursor: Cursor, expr: Expr) -> Expr | None:
    """Read one ``.name``, ``[index]`` or ``::type``."""
    start = expr.span.start
    if cursor.accept_symbol("["):
        index = operations.parse_expression(cursor)
        cursor.expect_symbol("]")
        result: Expr = Subscript(cursor.span_from(start), expr, index)
    elif cursor.at_symbol("::"):
        operations.require_flinks(cursor, "::")
        cursor.advance()
        type_start = cursor.token.start
        to = parse_type(cursor)
        type_span = cursor.span_from(type_start)
        result = Cast(cursor.span_from(start), expr, to, type_span, operator=True)
    elif cursor.at_symbol(".") and not isinstance(expr, Literal):
        cursor.advance()
        name = cursor.expect_identifier("a field's name").value
        result = FieldAccess(cursor.span_from(start), expr, name)
    else:
        return None
    # Nobody writes forty of these, and each makes the tree one higher.
    cursor.strained = cursor.strained or isinstance(expr, (Subscript, Cast, FieldAccess))
    return result


def _symbol(cursor: Cursor, token: Token) -> Expr:
    if token.text == "(":
        return _parenthesised(cursor)
    if token.text == "*":
        cursor.advance()
        return _star(cursor, token.start, ())
    # sqlglot reads .5 as a dot and a number.
    if token.text == "." and cursor.peek().kind is TokenKind.NUMBER and cursor.peek().start == token.end:
        cursor.index += 2
        span = cursor.span_from(token.start)
        return Literal(span, "NUMBER", span.text)
    if token.text in ("?", ":", "@"):
        raise unsupported(cursor, "a parameter marker", "write ${NAME} and pass the variable NAME")
    hint = "write the pattern in quotes: '%...%'" if token.text == "%" else _of_operator(cursor)
    raise cursor.unexpected("an expression", hint=hint)


def _of_operator(cursor: Cursor) -> str | None:
    """Return what is wrong if an operator stands before the token in front, which is no operand."""
    before, called = (cursor.tokens[cursor.index - n] if cursor.index >= n else None for n in (1, 2))
    if before is None or before.kind is not TokenKind.SYMBOL or before.text not in _OPERATORS:
        return None
    if before.text == "*" and called is not None and called.upper == "COUNT":
        return "write COUNT(*)"
    return f"nothing stands behind `{before.text}`"


def parenthesised_query(cursor: Cursor) -> bool:
    """Whether the parenthesis in front holds a query, not an expression: ``((SELECT 1) UNION (SELECT 2))``.

    After several parentheses, what follows the innermost query's end decides.
    """
    ahead = 0
    while cursor.peek(ahead).text == "(" and cursor.peek(ahead).kind is TokenKind.SYMBOL:
        ahead += 1
    if not at_query(cursor, ahead):
        return False
    # ((SELECT 1) + 1) begins like a query, and is an expression.
    for _ in range(ahead - 1):
        ahead = _closing(cursor, ahead)
        following = cursor.peek(ahead)
        if following.upper in ("UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET", "FETCH"):
            return True
        if following.text != ")":
            return False
    return True


def _closing(cursor: Cursor, ahead: int) -> int:
    """Return where the parenthesis that is open at ``ahead`` has been closed."""
    depth = 1
    while depth and cursor.peek(ahead).kind is not TokenKind.END:
        token = cursor.peek(ahead)
        if token.kind is TokenKind.SYMBOL:
            depth += (token.text == "(") - (token.text == ")")
        ahead += 1
    return ahead


def _parenthesised(cursor: Cursor) -> Expr:
    start = cursor.token.start
    # Before the rest: (x, y) is a row until the arrow behind it.
    if (made := lambdas.accept_lambda(cursor)) is not None:
        return made
    if parenthesised_query(cursor):
        cursor.advance()
        query = whole.parse_query(cursor)
        cursor.expect_symbol(")")
        return ScalarQuery(cursor.span_from(start), query)
    cursor.advance()
    items = operations.parse_expressions(cursor)
    cursor.expect_symbol(")")
    # In spark mode times have a difference without units, and the word behind it is an alias.
    if cursor.mode == "flink" and cursor.at_any(*literals.DIFFERENCES) and (only := _subtraction(items)):
        units = literals.interval_units(cursor)
        return Difference(cursor.span_from(start), only.left, only.right, *units)
    span = cursor.span_from(start)
    return Paren(span, items[0]) if len(items) == 1 else RowValue(span, items)


def _subtraction(items: tuple[Expr, ...]) -> Binary | None:
    """Return the only item, if it is ``a - b``."""
    only = items[0] if len(items) == 1 else None
    return only if isinstance(only, Binary) and only.op == "-" else None


def _word(cursor: Cursor, token: Token) -> Expr:
    """Read what begins with an unquoted word."""
    word, following = token.upper, cursor.peek()
    # Before all keywords: a word with a dot behind it is a name, as `order.id` or `date.x`.
    if following.kind is TokenKind.SYMBOL and following.text == ".":
        return _name(cursor)
    if word in NOT_AN_OPERAND:
        hint = _of_operator(cursor) or f"write `{token.text}` in backticks if it is a name"
        if cursor.index and cursor.tokens[cursor.index - 1].text == ",":
            hint = f"remove the comma before {token.text}"
        raise cursor.unexpected("an expression", hint)
    if parser := _WORDS.get(word):
        return parser(cursor)
    # DATE, ARRAY, CAST and the like are no reserved words: what follows decides whether they are names.
    if following.kind is TokenKind.STRING and word in literals.TYPED:
        return literals.parse_typed_literal(cursor)
    if literals.at_character_set(cursor):
        return literals.parse_text_of_character_set(cursor)
    if following.kind is TokenKind.SYMBOL:
        if following.text == "(" and (special := special_calls.SPECIAL.get(word) or json_calls.JSON.get(word)):
            return special(cursor)
        if following.text == "[" and word in ("ARRAY", "MAP", "MULTISET"):
            return _collection(cursor)
        if (made := lambdas.accept_lambda(cursor)) is not None:
            return made
    if word in _BARE_CALLS and following.text != "(":
        cursor.advance()
        return Call(cursor.span_from(token.start), token.text, bare=True)
    return _name(cursor)


def _star(cursor: Cursor, start: int, qualifier: tuple[str, ...]) -> Star:
    """Read what stands behind ``*``: Spark's EXCEPT with names, where no query follows as of a set operation."""
    excluded: list[ColumnRef] = []
    if cursor.mode == "spark" and cursor.at_words("EXCEPT") and cursor.peek().text == "(" and not at_query(cursor, 2):
        cursor.index += 2
        excluded.append(_excluded(cursor))
        while cursor.accept_symbol(","):
            excluded.append(_excluded(cursor))
        cursor.expect_symbol(")")
    return Star(cursor.span_from(start), qualifier, tuple(excluded))


def _excluded(cursor: Cursor) -> ColumnRef:
    token = cursor.expect_identifier("a column's name")
    if cursor.at_symbol("."):
        raise unsupported(cursor, "EXCEPT of a field", "name whole columns, and take the fields that you want by name")
    return ColumnRef(cursor.source.span(token.start, token.end), (token.value,))


def _name(cursor: Cursor) -> Expr:
    """Read ``a``, ``t.a``, ``t.*`` or a call ``db.f(...)``."""
    start = cursor.token.start
    parts = [cursor.expect_identifier()]
    while cursor.at_symbol("."):
        cursor.advance()
        if cursor.accept_symbol("*"):
            return _star(cursor, start, tuple(p.value for p in parts))
        parts.append(cursor.expect_identifier("a name after the dot"))
    if cursor.at_symbol("("):
        return calls.parse_call(cursor, ".".join(p.value for p in parts), start)
    return lambdas.reference(cursor, parts)


def _constant(kind: str) -> Callable[[Cursor], Expr]:
    def parse(cursor: Cursor) -> Expr:
        token = cursor.advance()
        return Literal(cursor.span_from(token.start), kind, token.upper)

    return parse


def _default(cursor: Cursor) -> Expr:
    token = cursor.advance()
    return Keyword(cursor.span_from(token.start), "DEFAULT")


def _case(cursor: Cursor) -> Expr:
    start = cursor.advance().start
    operand = None if cursor.at_words("WHEN") else operations.parse_expression(cursor)
    whens = [_when(cursor)]
    while cursor.at_words("WHEN"):
        whens.append(_when(cursor))
    otherwise = operations.parse_expression(cursor) if cursor.accept_words("ELSE") else None
    cursor.expect_words("END")
    return Case(cursor.span_from(start), operand, tuple(whens), otherwise)


def _when(cursor: Cursor) -> When:
    start = cursor.expect_words("WHEN").start
    condition = operations.parse_expression(cursor)
    cursor.expect_words("THEN")
    result = operations.parse_expression(cursor)
    return When(cursor.span_from(start), condition, result)


def _exists(cursor: Cursor) -> Expr:
    """Read ``EXISTS (query)``; Spark's function EXISTS(array, lambda) is a plain call."""
    start, ahead = cursor.token.start, 1
    while cursor.peek(ahead).text == "(" and cursor.peek(ahead).kind is TokenKind.SYMBOL:
        ahead += 1
    if ahead == 1 or not at_query(cursor, ahead):
        return _name(cursor)
    cursor.index += 2
    query = whole.parse_query(cursor)
    cursor.expect_symbol(")")
    return Exists(cursor.span_from(start), query)


def _row(cursor: Cursor) -> Expr:
    if cursor.peek().text != "(":
        return _name(cursor)
    start = cursor.advance().start
    cursor.advance()
    items = () if cursor.at_symbol(")") else operations.parse_expressions(cursor)
    cursor.expect_symbol(")")
    return RowValue(cursor.span_from(start), items)


def _collection(cursor: Cursor) -> Expr:
    """Read ``ARRAY[..]``, ``MAP[..]`` or ``MULTISET[..]``."""
    word = cursor.advance()
    cursor.expect_symbol("[")
    items = () if cursor.at_symbol("]") else operations.parse_expressions(cursor)
    cursor.expect_symbol("]")
    span = cursor.span_from(word.start)
    if word.upper == "MULTISET":
        return Call(span, word.text, items)
    return MapValue(span, items) if word.upper == "MAP" else ArrayValue(span, items)


_WORDS: dict[str, Callable[[Cursor], Expr]] = {
    "CASE": _case,
    "EXISTS": _exists,
    "ROW": _row,
    "INTERVAL": literals.parse_interval,
    "NULL": _constant("NULL"),
    "TRUE": _constant("BOOLEAN"),
    "FALSE": _constant("BOOLEAN"),
    "DEFAULT": _default,
}
