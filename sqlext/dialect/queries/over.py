"""Parse the windows of OVER, in a call or under a name.

over   ::= OVER (name | window)
window ::= '(' [name] [PARTITION BY x {, x}] [ORDER BY ..] [frame] ')'
frame  ::= (ROWS | RANGE) (bound | BETWEEN bound AND bound)
bound  ::= UNBOUNDED (PRECEDING | FOLLOWING) | CURRENT ROW | x (PRECEDING | FOLLOWING)
"""

from __future__ import annotations

from sqlext.dialect.ast.expressions import Expr, Frame, FrameBound, OverSpec
from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.expressions import operations
from sqlext.dialect.keywords import unsupported
from sqlext.dialect.queries import whole

_BOUND = "UNBOUNDED PRECEDING, CURRENT ROW or a number or interval PRECEDING"


def parse_over(cursor: Cursor) -> OverSpec:
    """Read ``OVER name`` or ``OVER (...)``."""
    start = cursor.expect_words("OVER").start
    if not cursor.at_symbol("("):
        name = cursor.expect_identifier("a window's name or (").value
        return OverSpec(cursor.span_from(start), name)
    return parse_window(cursor, start)


def parse_window(cursor: Cursor, start: int) -> OverSpec:
    """Read ``([name] [PARTITION BY ..] [ORDER BY ..] [frame])``."""
    cursor.expect_symbol("(")
    enter(cursor, 2)
    name = None
    # DISTRIBUTE, SORT and GROUPS are listed to be refused at their own place, not as a window's name.
    if not cursor.at_any("PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS", "DISTRIBUTE", "SORT"):
        name = None if cursor.at_symbol(")") else cursor.expect_identifier("PARTITION BY, ORDER BY").value
    partition_by: tuple[Expr, ...] = ()
    if cursor.accept_words("PARTITION"):
        cursor.expect_words("BY")
        partition_by = operations.parse_expressions(cursor)
    order_by = whole.parse_order_by(cursor)
    frame = _frame(cursor)
    leave(cursor, 2)
    cursor.expect_symbol(")")
    return OverSpec(cursor.span_from(start), name, partition_by, order_by, frame)


def _frame(cursor: Cursor) -> Frame | None:
    start = cursor.token.start
    if cursor.at_words("GROUPS"):
        raise unsupported(cursor, "a frame of GROUPS", "ROWS counts rows, RANGE goes by time")
    unit = cursor.accept_any("ROWS", "RANGE")
    if not unit:
        return None
    if not cursor.accept_words("BETWEEN"):
        first = _bound(cursor)
        return Frame(cursor.span_from(start), unit, first)
    first = _bound(cursor)
    cursor.expect_words("AND")
    last = _bound(cursor)
    return Frame(cursor.span_from(start), unit, first, last)


def _bound(cursor: Cursor) -> FrameBound:
    start = cursor.token.start
    if cursor.accept_words("CURRENT", "ROW"):
        return FrameBound(cursor.span_from(start), "CURRENT ROW")
    offset = None
    if not (cursor.at_words("UNBOUNDED") and cursor.peek().upper in ("PRECEDING", "FOLLOWING")):
        # Tighter than the AND between the bounds.
        offset = operations.parse_expression(cursor, operations.BIT_OR)
    else:
        cursor.advance()
    side = cursor.accept_any("PRECEDING", "FOLLOWING")
    if not side:
        raise cursor.unexpected(_BOUND)
    return FrameBound(cursor.span_from(start), side if offset is not None else f"UNBOUNDED {side}", offset)
