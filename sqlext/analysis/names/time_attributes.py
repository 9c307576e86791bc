"""Check that a column is a time attribute, and tell why one was lost.

The rules are those of Flink's page on time attributes; where Flink differs from it, those that were measured.
"""

from __future__ import annotations

from sqlext.dialect.ast.expressions import Binary, Call, Cast, Expr, Interval
from sqlext.errors import SqlExtError
from sqlext.plan.columns import Loss, PlanColumn
from sqlext.source import Span


def require_time(column: PlanColumn, span: Span, what: str) -> None:
    """Check that a column is a time attribute.

    Raises:
        SqlExtError: TIME-001, saying where the attribute was lost, or how to declare one.
    """
    if column.time is not None:
        return
    if column.type is not None and not column.type.is_timestamp:
        raise SqlExtError(
            "TIME-001",
            f"{what} needs a time attribute, but `{column.name}` is {column.type}",
            span=span,
            hint="use a TIMESTAMP(3) or TIMESTAMP_LTZ(3) column with a WATERMARK, or PROCTIME()",
        )
    raise SqlExtError(
        "TIME-001",
        f"{what} needs a time attribute, but `{column.name}` is an ordinary {column.type or 'column'}",
        span=span,
        hint=_hint(column),
    )


def _hint(column: PlanColumn) -> str:
    if column.loss is None:
        return f"declare WATERMARK FOR {column.name} AS {column.name} - INTERVAL '5' SECOND on its table"
    where = ""
    if column.loss.span is not None:
        position = column.loss.span.position
        where = f" at {position.file}:{position.line}:{position.column}"
    return f"it stopped being a time attribute{where}: {column.loss.reason}"


def loss_of(expr: Expr, name: str) -> Loss:
    """Return why the result of an expression over a time attribute is none."""
    if isinstance(expr, Cast):
        return Loss(f"CAST makes `{name}` an ordinary timestamp, even to its own type", expr.span)
    return Loss(f"`{name}` was computed with, which makes it an ordinary timestamp", expr.span)


def keeps_type_mark(expr: Expr) -> Expr | None:
    """Return the operand whose time mark DESCRIBE goes on showing for this expression, or None.

    Measured on Flink 2.3 (statements/describe_types): MAX(ts), ts + INTERVAL and FLOOR(ts TO HOUR) are still
    shown with *ROWTIME*, although a window over them is refused.
    """
    if isinstance(expr, Call) and expr.function in ("MAX", "MIN", "FLOOR", "CEIL") and expr.args:
        first = expr.args[0]
        return first if isinstance(first, Expr) else None
    if isinstance(expr, Binary) and expr.op in ("+", "-") and isinstance(expr.right, Interval):
        return expr.left
    return None
