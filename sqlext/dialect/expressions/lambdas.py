"""Parse lambdas, and tell their parameters from columns.

Names are looked up as Spark does it: the parameters of the lambdas around, whatever their case, then columns.
"""

from __future__ import annotations

from sqlext.dialect.ast.expressions import ColumnRef, Expr, FieldAccess, Lambda, Parameter
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions import operations
from sqlext.dialect.tokens import Token, TokenKind


def accept_lambda(cursor: Cursor) -> Lambda | None:
    """Read ``x -> body`` or ``(x, y) -> body`` if one begins here."""
    start = cursor.token.start
    names, arrow = _parameters(cursor)
    if not names or cursor.peek(arrow).text != "->":
        return None
    cursor.index += arrow + 1
    parameters = tuple(Parameter(cursor.source.span(n.start, n.end), n.value) for n in names)
    around = cursor.parameters
    cursor.parameters = around | {p.name.lower() for p in parameters}
    body = operations.parse_expression(cursor)
    cursor.parameters = around
    return Lambda(cursor.span_from(start), parameters, body)


def reference(cursor: Cursor, parts: list[Token]) -> Expr:
    """Return what a name means: a parameter, or a field below it, else a column."""
    start, names = parts[0].start, tuple(p.value for p in parts)
    if names[0].lower() not in cursor.parameters:
        return ColumnRef(cursor.span_from(start), names)
    result: Expr = Parameter(cursor.source.span(start, parts[0].end), names[0])
    for part in parts[1:]:
        result = FieldAccess(cursor.source.span(start, part.end), result, part.value)
    return result


def _parameters(cursor: Cursor) -> tuple[list[Token], int]:
    """Return the names in front, and how far ahead the arrow would be."""
    if cursor.token.text != "(":
        return [cursor.token], 1
    names: list[Token] = []
    # Looks ahead alone, because most parentheses hold no lambda.
    ahead = 1
    while cursor.peek(ahead).kind in (TokenKind.WORD, TokenKind.QUOTED):
        names.append(cursor.peek(ahead))
        ahead += 2
        if cursor.peek(ahead - 1).text != ",":
            break
    return (names, ahead) if cursor.peek(ahead - 1).text == ")" else ([], ahead)
