"""Parse the SQL/JSON functions: JSON_VALUE(x, 'p' RETURNING INT NULL ON EMPTY) and the others."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.dialect.ast.expressions import Expr, Node
from sqlext.dialect.ast.queries import OrderItem
from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.expressions import calls, operations
from sqlext.dialect.expressions.types import parse_type
from sqlext.dialect.queries import whole


def _json_path(cursor: Cursor) -> Expr:
    """``JSON_VALUE | JSON_QUERY | JSON_EXISTS (x, 'path' {phrase})``."""
    name = cursor.advance()
    cursor.expect_symbol("(")
    enter(cursor)
    args = calls.parse_arguments(cursor)
    clauses: list[str] = []
    while clause := _phrase(cursor):
        clauses.append(clause)
    leave(cursor)
    return calls.finish_call(cursor, name.text, name.start, args, clauses=tuple(clauses))


def _phrase(cursor: Cursor) -> str:
    """Read ``RETURNING type``, a WRAPPER phrase or ``behaviour ON EMPTY | ERROR``."""
    if cursor.accept_words("RETURNING"):
        return f"RETURNING {parse_type(cursor)}"
    if cursor.at_any("WITH", "WITHOUT"):
        words = [cursor.advance().upper]
        while word := cursor.accept_any("CONDITIONAL", "UNCONDITIONAL", "ARRAY"):
            words.append(word)
        cursor.expect_words("WRAPPER")
        return " ".join([*words, "WRAPPER"])
    behaviour = cursor.accept_any("NULL", "ERROR", "EMPTY", "TRUE", "FALSE", "UNKNOWN")
    if behaviour == "EMPTY":
        behaviour = f"EMPTY {cursor.accept_any('ARRAY', 'OBJECT') or 'ARRAY'}"
    elif not behaviour and cursor.accept_words("DEFAULT"):
        behaviour = f"DEFAULT {operations.parse_expression(cursor).span.text}"
    if not behaviour:
        return ""
    cursor.expect_words("ON")
    event = cursor.accept_any("EMPTY", "ERROR")
    if not event:
        raise cursor.unexpected("EMPTY or ERROR")
    return f"{behaviour} ON {event}"


def _json_object(cursor: Cursor) -> Expr:
    """``JSON_OBJECT | JSON_OBJECTAGG ([[KEY] k VALUE v | k : v | k, v] {, ..} [NULL | ABSENT ON NULL])``."""
    name = cursor.advance()
    cursor.expect_symbol("(")
    enter(cursor)
    args: list[Node] = []
    while not cursor.at_symbol(")") and not _at_on_null(cursor):
        args += _entry(cursor)
        if not cursor.accept_symbol(","):
            break
    clauses = _on_null(cursor)
    leave(cursor)
    return calls.finish_call(cursor, name.text, name.start, tuple(args), clauses=clauses)


def _entry(cursor: Cursor) -> list[Node]:
    # KEY is the keyword only before an expression: in JSON_OBJECT(key VALUE 1) it is a column.
    if cursor.at_words("KEY") and cursor.peek().text not in (",", ")", ".", ":") and cursor.peek().upper != "VALUE":
        cursor.advance()
        key = calls.parse_argument(cursor)
        cursor.expect_words("VALUE")
        return [key, operations.parse_expression(cursor)]
    entry = [calls.parse_argument(cursor)]
    if cursor.accept_words("VALUE") or cursor.accept_symbol(":"):
        entry.append(operations.parse_expression(cursor))
    return entry


def _json_array(cursor: Cursor) -> Expr:
    """``JSON_ARRAY | JSON_ARRAYAGG ([v {, v}] [ORDER BY ..] [NULL | ABSENT ON NULL])``."""
    name = cursor.advance()
    cursor.expect_symbol("(")
    enter(cursor)
    args: tuple[Node, ...] = ()
    order_by: tuple[OrderItem, ...] = ()
    if not cursor.at_symbol(")") and not _at_on_null(cursor):
        args = calls.parse_arguments(cursor)
        order_by = whole.parse_order_by(cursor)
    clauses = _on_null(cursor)
    leave(cursor)
    return calls.finish_call(cursor, name.text, name.start, args, clauses=clauses, order_by=order_by)


def _at_on_null(cursor: Cursor) -> bool:
    # NULL alone is a value: JSON_ARRAY(NULL).
    return cursor.at_any("NULL", "ABSENT") and cursor.peek().upper == "ON" and cursor.peek(2).upper == "NULL"


def _on_null(cursor: Cursor) -> tuple[str, ...]:
    if not _at_on_null(cursor):
        return ()
    word = cursor.advance().upper
    cursor.expect_words("ON", "NULL")
    return (f"{word} ON NULL",)


JSON: dict[str, Callable[[Cursor], Expr]] = {
    "JSON_VALUE": _json_path,
    "JSON_QUERY": _json_path,
    "JSON_EXISTS": _json_path,
    "JSON_OBJECT": _json_object,
    "JSON_OBJECTAGG": _json_object,
    "JSON_ARRAY": _json_array,
    "JSON_ARRAYAGG": _json_array,
}
