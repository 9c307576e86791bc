"""Hints: ``/*+ OPTIONS('k' = 'v'), STATE_TTL('t' = '1d'), BROADCAST(t) */``."""

from __future__ import annotations

from sqlext.dialect.ast.queries import Hint
from sqlext.dialect.tokens import Cursor, Kind


def parse_hints(cursor: Cursor) -> tuple[Hint, ...]:
    """Read the hint comments that come next."""
    hints: list[Hint] = []
    while cursor.token.kind is Kind.HINT:
        token = cursor.advance()
        inner = Cursor.over(cursor.source.span(token.start + 3, token.end - 2), cursor.mode)
        while not inner.at_end:
            hints.append(_hint(inner))
            inner.accept_symbol(",")
    return tuple(hints)


def _hint(cursor: Cursor) -> Hint:
    name = cursor.expect_identifier("a hint's name")
    options: list[tuple[str, str]] = []
    arguments: list[str] = []
    if cursor.accept_symbol("("):
        while not cursor.at_symbol(")"):
            key = _operand(cursor)
            if cursor.accept_symbol("="):
                options.append((key, _operand(cursor)))
            else:
                arguments.append(key)
            if not cursor.accept_symbol(","):
                break
        cursor.expect_symbol(")")
    return Hint(name.value.upper(), tuple(options), tuple(arguments), cursor.span_from(name.start))


def _operand(cursor: Cursor) -> str:
    """Read a string, a number, or a name with dots and dashes (``scan.mode``); return it unquoted."""
    first = cursor.token
    if first.kind in (Kind.SYMBOL, Kind.END):
        raise cursor.unexpected("a hint's argument")
    parts = [cursor.advance().value]
    while cursor.at_symbol(".", "-", ":"):
        parts += [cursor.advance().text, cursor.expect_identifier().value]
    return "".join(parts)
