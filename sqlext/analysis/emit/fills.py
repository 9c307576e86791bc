"""Bind FILL: which windows it fills, and which columns of the select list it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.functions.aggregates import COUNTS
from sqlext.analysis.grouping.group_by import Grouped
from sqlext.analysis.types.calls import contains_aggregate, is_aggregate
from sqlext.analysis.types.coercion import mixable
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Call, Expr
from sqlext.dialect.emit import nodes as e
from sqlext.dialect.emit.quantities import duration_text
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.columns import PlanColumn
from sqlext.plan.filling import FilledColumn, WindowFill
from sqlext.plan.nodes import Output, WindowKind
from sqlext.plan.scope import own_parts
from sqlext_udfs.windows.policy import Policy


def bound_fill(
    clause: e.Fill, grouped: Grouped, policy: Policy, columns: Sequence[PlanColumn], outputs: Sequence[Output]
) -> WindowFill:
    """Return what comes out of windows without rows.

    Args:
        clause: as written.
        grouped: the SELECT.
        policy: when its panes come out.
        columns, outputs: of the SELECT.

    Raises:
        SqlExtError: EMIT-119 for windows that cannot be filled, EMIT-120 for a time that is shorter than the step
            between windows, EMIT-121 for a column or a value that does not fit.
    """
    _check_windows(clause, grouped, policy)
    computed = {o.physical: o.expr for o in outputs if o.expr is not None}
    named = {c.name.lower(): c for c in columns}
    return WindowFill(clause.ms, tuple(_column(v, named, computed, grouped) for v in clause.values))


def with_nulls(columns: Sequence[PlanColumn], outputs: Sequence[Output], mode: str) -> list[PlanColumn]:
    """Return the columns of a SELECT whose windows are filled: aggregates other than counts may be NULL."""
    holders = {o.physical for o in outputs if o.expr is not None and _can_be_null(o.expr, mode)}
    return [
        replace(c, type=c.type.as_nullable()) if c.physical in holders and c.type is not None else c for c in columns
    ]


def _can_be_null(expr: Expr, mode: str) -> bool:
    calls = [p for p in own_parts(expr) if isinstance(p, Call) and is_aggregate(p, mode)]
    return any(c.function not in COUNTS for c in calls)


def _check_windows(clause: e.Fill, grouped: Grouped, policy: Policy) -> None:
    spec = grouped.assign.spec if grouped.assign is not None else None
    if spec is None:
        message = "FILL gives windows without rows, and this SELECT groups by no window"
        hint = "GROUP BY window_start, window_end of TUMBLE, HOP or CUMULATE"
        raise SqlExtError("EMIT-119", message, span=clause.span, hint=hint)
    if spec.kind is WindowKind.SESSION:
        message = "a session begins with its first row, so none is without rows"
        raise SqlExtError("EMIT-119", message, span=clause.span, hint="TUMBLE, HOP or CUMULATE")
    if spec.months is not None:
        message = "FILL takes windows of one length; those of a calendar are not"
        raise SqlExtError(
            "EMIT-119", message, span=clause.span, hint="windows of days, or a table of dates to join with"
        )
    if spec.processing:
        message = "FILL takes windows of event time; these are of processing time"
        hint = "a rowtime with WATERMARK FOR; 'sqlext.idle.close-windows' closes its windows by the clock"
        raise SqlExtError("EMIT-119", message, span=clause.span, hint=hint)
    if not policy.gives_one_pane:
        message = "FILL takes windows that give one result each; these give several"
        hint = "AFTER WATERMARK without EARLY, LATE and lateness, or ON WINDOW CLOSE ALLOW LATENESS d"
        raise SqlExtError("EMIT-119", message, span=clause.span, hint=hint)
    if clause.ms < spec.slide:
        message = f"FILL FOR {duration_text(clause.ms)} fills nothing: windows end {duration_text(spec.slide)} apart"
        raise SqlExtError("EMIT-120", message, span=clause.span, hint=f"FILL FOR {duration_text(spec.slide)} or longer")


def _column(
    value: e.FillValue, named: dict[str, PlanColumn], computed: dict[str, Expr], grouped: Grouped
) -> FilledColumn:
    column = named.get(value.column.lower())
    if column is None:
        hint = did_you_mean(value.column, [c.name for c in named.values()])
        raise SqlExtError("EMIT-121", f"the select list has no column `{value.column}`", span=value.span, hint=hint)
    expr = computed.get(column.physical)
    if expr is None or not contains_aggregate(expr, grouped.scope.mode):
        message = f"`{value.column}` is what is grouped by, which a window without rows has too"
        raise SqlExtError("EMIT-121", message, span=value.span, hint="name columns that aggregate")
    if value.value is not None:
        _check_constant(value.value, column, grouped)
    if value.kind == "LINEAR" and column.type is not None and not column.type.is_numeric:
        message = f"LINEAR takes numbers; `{value.column}` is {column.type.flink()}"
        raise SqlExtError("EMIT-121", message, span=value.span, hint="LAST, NULL or another constant")
    return FilledColumn(column.physical, column.type, value.kind, value.value)


def _check_constant(value: Expr, column: PlanColumn, grouped: Grouped) -> None:
    of, given = column.type, infer(value, grouped.scope)
    fraction = of is not None and given is not None and of.is_integer and given.is_numeric and not given.is_integer
    if fraction or not mixable((of, given)):
        shown = of.flink() if of is not None else ""
        message = f"`{column.name}` is {shown}, and {value.span.one_line} is not"
        raise SqlExtError("EMIT-121", message, span=value.span, hint=f"a constant of type {shown}, or NULL")
