"""Tell why a column is no time attribute.

The rules are those of Flink's page on time attributes; where Flink differs from it, those that were measured.
"""

from __future__ import annotations

from sqlext.dialect.ast.expressions import Cast, Expr
from sqlext.errors import SqlExtError
from sqlext.plan.columns import Loss, PlanColumn
from sqlext.source import Span


def no_time_attribute(column: PlanColumn, span: Span, what: str) -> SqlExtError:
    """Return TIME-001: where a column lost its attribute, or how to declare one."""
    if column.type is not None and not column.type.is_timestamp:
        return SqlExtError(
            "TIME-001",
            f"{what} needs a time attribute, but `{column.name}` is {column.type}",
            span=span,
            hint="use a TIMESTAMP(3) or TIMESTAMP_LTZ(3) column with a WATERMARK, or PROCTIME()",
        )
    return SqlExtError(
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
