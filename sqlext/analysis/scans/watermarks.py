"""Recognise watermark declarations that are a constant delay behind their column."""

from __future__ import annotations

from sqlext.analysis.types.literals import interval_millis
from sqlext.dialect.ast.expressions import Binary, Call, ColumnRef, Expr, Paren


def constant_delay(expression: Expr, column: str) -> int | None:
    """Return the delay in ms of ``column`` or ``column - INTERVAL ...``, None for any other expression.

    A delay below zero is no delay: Spark refuses it, so it takes the general path.
    """
    while isinstance(expression, Paren):
        expression = expression.operand
    if isinstance(expression, ColumnRef):
        return 0 if expression.parts == (column,) else None
    if not isinstance(expression, Binary) or expression.op != "-":
        return None
    if constant_delay(expression.left, column) != 0:
        return None
    delay = interval_millis(expression.right)
    return delay if delay is not None and delay >= 0 else None


def is_source_watermark(expression: Expr) -> bool:
    """Whether it is ``SOURCE_WATERMARK()``."""
    return isinstance(expression, Call) and expression.function == "SOURCE_WATERMARK"
