"""Bind FILL: which windows it fills, and which columns of the select list it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.functions.aggregates import COUNTS
from sqlext.analysis.grouping.group_by import Grouped
from sqlext.analysis.relations.binding import Binding
from sqlext.analysis.types.calls import contains_aggregate, is_aggregate
from sqlext.analysis.types.coercion import mixable
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Call, Expr
from sqlext.dialect.ast.queries import TableRef
from sqlext.dialect.emit import nodes as e
from sqlext.dialect.emit.quantities import duration_text
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.base import PlanNode, walk
from sqlext.plan.columns import PlanColumn
from sqlext.plan.filling import FilledColumn, WindowFill
from sqlext.plan.nodes import Output, WindowKind
from sqlext.plan.scope import own_parts
from sqlext.plan.stateful import Stateful
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
    if clause.table is not None:
        _check_table_keys(clause, grouped)
    computed = {o.physical: o.expr for o in outputs if o.expr is not None}
    named = {c.name.lower(): c for c in columns}
    return WindowFill(clause.ms or 0, tuple(_column(v, named, computed, grouped) for v in clause.values))


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
    if spec.kind is WindowKind.SLIDE:
        message = "a window of SLIDE ends with a row, so none is without rows"
        raise SqlExtError("EMIT-119", message, span=clause.span, hint="TUMBLE, HOP or CUMULATE")
    if spec.months is not None:
        message = "FILL takes windows of one length; those of a calendar are not"
        raise SqlExtError(
            "EMIT-119", message, span=clause.span, hint="windows of days, or a table of dates to join with"
        )
    if spec.row_offset is not None:
        message = "FILL takes windows of one grid; these have an offset of each row"
        hint = "a constant offset, or a table of windows to join with"
        raise SqlExtError("EMIT-119", message, span=clause.span, hint=hint)
    if spec.processing:
        message = "FILL takes windows of event time; these are of processing time"
        hint = "a rowtime with WATERMARK FOR; 'sqlext.idle.close-windows' closes its windows by the clock"
        raise SqlExtError("EMIT-119", message, span=clause.span, hint=hint)
    if not policy.gives_one_pane:
        message = "FILL takes windows that give one result each; these give several"
        hint = "AFTER WATERMARK without EARLY, LATE and lateness, or ON WINDOW CLOSE ALLOW LATENESS d"
        raise SqlExtError("EMIT-119", message, span=clause.span, hint=hint)
    if clause.ms is not None and clause.ms < spec.slide:
        message = f"FILL FOR {duration_text(clause.ms)} fills nothing: windows end {duration_text(spec.slide)} apart"
        raise SqlExtError("EMIT-120", message, span=clause.span, hint=f"FILL FOR {duration_text(spec.slide)} or longer")


def _check_table_keys(clause: e.Fill, grouped: Grouped) -> None:
    if grouped.node.changelog or grouped.grouping.has_sets:
        what = "GROUPING SETS" if grouped.grouping.has_sets else "rows that change"
        message = f"FILL FOR EACH KEY OF a table does not take {what}"
        raise SqlExtError("EMIT-119", message, span=clause.span, hint="FILL FOR d, which fills keys with rows")
    for value in clause.values:
        if value.kind == "LINEAR":
            message = "LINEAR waits for the next window with rows, and a key of a table may never have one"
            raise SqlExtError("EMIT-121", message, span=value.span, hint="LAST, NULL or a constant; or FILL FOR d")


def bound_keys(clause: e.FillTable, grouped: Grouped, binding: Binding) -> tuple[PlanNode, tuple[str, ...]]:
    """Return the table whose keys are filled, and its columns that are the keys of a grouping, in their order.

    Raises:
        SqlExtError: NAME-002 for an unknown table, EMIT-124 for one that has not the columns that are grouped by, or
            whose rows change.
    """
    name = ".".join(clause.parts)
    table = binding.from_clause().bind(TableRef(clause.span, clause.parts, clause.span))
    refused: str | None = None
    if table.updating or table.changelog or any(isinstance(n, Stateful) for n in walk(table)):
        refused, hint = f"rows of `{name}` change or are computed by an operator", "a table whose rows are only added"
    elif grouped.node.streaming and not table.streaming:
        refused, hint = f"`{name}` is not read as a stream", "a copy of it in files or Delta, which are read so"
    elif not grouped.grouping.expressions:
        refused, hint = "this SELECT groups by the window alone", "GROUP BY the key; FILL FOR d fills without one"
    if refused is not None:
        raise SqlExtError("EMIT-124", refused, span=clause.span, hint=hint)
    named = {c.name.lower(): c for c in table.columns}
    return table, tuple(_key(k, named, name, clause, grouped) for k in grouped.grouping.expressions)


def _key(key: Expr, named: dict[str, PlanColumn], table: str, clause: e.FillTable, grouped: Grouped) -> str:
    found = grouped.scope.bare(key)
    if found is None:
        message = f"`{key.span.one_line}` is computed, so no column of `{table}` is named as it is"
        raise SqlExtError("EMIT-124", message, span=key.span, hint="compute it in a sub-query, with a name")
    column = named.get(found.column.name.lower())
    if column is None:
        message = f"`{table}` has no column `{found.column.name}`, which is grouped by"
        hint = did_you_mean(found.column.name, [c.name for c in named.values()]) or "a view that names it so"
        raise SqlExtError("EMIT-124", message, span=clause.span, hint=hint)
    types = found.column.type, column.type
    if column.time is not None or found.column.time is not None or not mixable(types):
        message = f"`{column.name}` of `{table}` is no key for the column of that name that is grouped by"
        raise SqlExtError("EMIT-124", message, span=clause.span, hint="columns of one type, and no time attributes")
    return column.physical


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
