"""Parse FILL: ``FILL FOR d [WITH (column = value, ...)]``, ``FILL FOR EACH KEY OF t [WITH (...)]``."""

from __future__ import annotations

from sqlext.dialect.ast.expressions import is_literal
from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.emit import nodes
from sqlext.dialect.emit.quantities import parse_duration
from sqlext.dialect.emit.reading import expect_close, expect_symbol, expect_words, must_follow
from sqlext.dialect.expressions import operations
from sqlext.dialect.queries import relations
from sqlext.dialect.tokens import TokenKind
from sqlext.errors import SqlExtError


def parse_fill(cursor: Cursor) -> nodes.Fill:
    """Read the option; the cursor stands at the word FILL.

    Raises:
        SqlExtError: EMIT-002 to EMIT-004, EMIT-019 for a column that is given twice, EMIT-029 for a value that is
            none.
    """
    start = cursor.advance().start
    expect_words(cursor, "FILL", "FOR")
    table = _table(cursor) if cursor.accept_words("EACH") else None
    ms = parse_duration(cursor, "FILL FOR") if table is None else None
    values: list[nodes.FillValue] = []
    if cursor.accept_words("WITH"):
        expect_symbol(cursor, "(", "WITH")
        enter(cursor)
        values.append(_value(cursor, values))
        while cursor.accept_symbol(","):
            values.append(_value(cursor, values))
        leave(cursor)
        expect_close(cursor)
    return nodes.Fill(cursor.span_from(start), ms, tuple(values), table)


def _table(cursor: Cursor) -> nodes.FillTable:
    what = "FILL FOR EACH"
    expect_words(cursor, what, "KEY", "OF")
    if cursor.token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        raise must_follow(cursor, f"{what} KEY OF", "a table's name")
    parts, span = relations.parse_name(cursor)
    return nodes.FillTable(span, parts)


def _value(cursor: Cursor, given: list[nodes.FillValue]) -> nodes.FillValue:
    token = cursor.token
    if token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        raise must_follow(cursor, "WITH (" if not given else ",", "a column of the select list")
    column = token.value
    if any(v.column.lower() == column.lower() for v in given):
        cursor.fail("EMIT-019", f"`{column}` is filled twice")
    cursor.advance()
    expect_symbol(cursor, "=", column)
    if cursor.accept_words("LAST"):
        return nodes.FillValue(cursor.span_from(token.start), column, "LAST")
    if cursor.accept_words("LINEAR"):
        return nodes.FillValue(cursor.span_from(token.start), column, "LINEAR")
    value = operations.parse_expression(cursor)
    if not is_literal(value):
        message = f"a window without rows has no rows of which `{value.span.one_line}` could be computed"
        hint = "LAST, LINEAR, NULL or another constant; COALESCE in the select list computes of other columns"
        raise SqlExtError("EMIT-029", message, span=value.span, hint=hint)
    return nodes.FillValue(cursor.span_from(token.start), column, "CONSTANT", value)
