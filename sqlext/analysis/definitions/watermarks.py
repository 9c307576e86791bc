"""Check WATERMARK FOR (Flink: DefaultSchemaResolver.resolveWatermarkSpecs, MergeTableLikeUtil).

The column is of the top level, TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3, and no processing time. The
expression has the same type. A table has one watermark.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.analysis.definitions.columns import find, listed
from sqlext.analysis.definitions.expressions import Expressions
from sqlext.analysis.scans.watermarks import is_source_watermark
from sqlext.dialect.ast.expressions import Call, Expr, Paren
from sqlext.dialect.ast.statements import WatermarkDef
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.source import Span
from sqlext.types import LogicalType
from sqlext_catalog.model import Column, Watermark

_MILLIS = 3


def single(definitions: Sequence[WatermarkDef]) -> WatermarkDef | None:
    """Return the watermark of a statement, or None.

    Raises:
        SqlExtError: TIME-012 for more than one.
    """
    if len(definitions) > 1:
        raise SqlExtError("TIME-012", "a table has one WATERMARK", span=definitions[1].span)
    return definitions[0] if definitions else None


def watermark_of(definition: WatermarkDef, columns: Sequence[Column], expressions: Expressions) -> Watermark:
    """Return a watermark as stored, checked against the columns it may use (their types derived).

    Raises:
        SqlExtError: TIME-010, -011, -013, -014, or what is wrong with its expression.
    """
    name = ".".join(definition.column)
    if len(definition.column) > 1:
        raise SqlExtError(
            "TIME-010",
            f"WATERMARK is for a column of the table, and `{name}` is a field of one",
            span=definition.span,
            hint=f"add a column {definition.column[-1]} AS {name} and declare it for that",
        )
    mark = Watermark(name, expressions.write(definition.expression))
    check_watermark(mark, columns, expressions, definition.span)
    return mark


def check_watermark(mark: Watermark, columns: Sequence[Column], expressions: Expressions, span: Span) -> None:
    """Check a watermark, new or stored, against columns.

    Raises:
        SqlExtError: TIME-010, -011, -013, -014, or what is wrong with its expression.
    """
    column = find(columns, mark.column)
    if column is None:
        hint = did_you_mean(mark.column, [c.name for c in columns]) or listed(columns)
        raise SqlExtError("TIME-010", f"WATERMARK for `{mark.column}`, which is no column here", span=span, hint=hint)
    if column.kind == "computed" and _is_proctime(expressions.node(column.expression or "")):
        raise SqlExtError(
            "TIME-013", f"`{column.name}` is processing time, which has no watermark", span=span, hint="remove it"
        )
    if column.type is not None and not _is_time(column, expressions.mode):
        raise SqlExtError(
            "TIME-011",
            f"WATERMARK needs TIMESTAMP(p) or TIMESTAMP_LTZ(p), p from 0 to 3, and `{column.name}` is {column.type}",
            span=span,
            hint=_type_hint(column),
        )
    if not is_source_watermark(expressions.node(mark.expression)):
        _check_expression(mark, column, columns, expressions)


def _is_proctime(expression: Expr) -> bool:
    while isinstance(expression, Paren):
        expression = expression.operand
    return isinstance(expression, Call) and expression.function == "PROCTIME"


def _is_time(column: Column, mode: str) -> bool:
    type_ = column.type
    if type_ is None or not type_.is_timestamp:
        return False
    # Spark's own functions give microseconds and nothing else; event time is cut to milliseconds anyway.
    return (type_.precision or 0) <= _MILLIS or (mode == "spark" and column.kind == "computed")


def _type_hint(column: Column) -> str:
    type_ = column.type
    if type_ is not None and type_.is_timestamp:
        return f"declare it as {type_.root}(3), or add a column rt AS CAST({column.name} AS {type_.root}(3))"
    integer = type_ is not None and type_.is_integer
    made = f"TO_TIMESTAMP_LTZ({column.name}, 3)" if integer else f"TO_TIMESTAMP({column.name})"
    return f"add a column rt AS {made} and declare the watermark for it"


def _check_expression(mark: Watermark, column: Column, columns: Sequence[Column], expressions: Expressions) -> None:
    type_ = expressions.type_of(mark.expression, columns, f"the watermark of `{mark.column}`")
    if type_ is None or _agrees(type_, column.type, expressions.mode):
        return
    written = expressions.written.get(mark.expression)
    raise SqlExtError(
        "TIME-014",
        f"the watermark of `{mark.column}` must be {column.type or 'a timestamp'} as the column, and is {type_}",
        span=written.span if written else expressions.span,
    )


def _agrees(type_: LogicalType, column: LogicalType | None, mode: str) -> bool:
    if not type_.is_timestamp or (column is not None and type_.root != column.root):
        return False
    return mode == "spark" or (type_.precision or 0) <= _MILLIS
