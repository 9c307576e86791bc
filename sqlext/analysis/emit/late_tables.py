"""Bind ``LATE DATA TO table``: find the table, and fill its columns.

A column of the table is a column of the row with that name; or ``watermark``, the watermark that the row met; or
``operator``, the query that found the row late. Other columns of the row are left out.
"""

from __future__ import annotations

from sqlext.analysis.grouping.group_by import Grouped
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.relations.kept_rows import LETTERS, kept_in
from sqlext.analysis.types.coercion import can_implicitly_cast
from sqlext.connectors.base import written_columns
from sqlext.dialect.emit.nodes import LateTable
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.base import walk
from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.firing import LATE_OPERATOR, LATE_WATERMARK, LateColumn, LateRows
from sqlext.plan.nodes import Scan
from sqlext.plan.windows.lengths import OVERLAPPING
from sqlext.settings import DEAD_LETTER_CAUSES, DEAD_LETTERS
from sqlext.source import Span
from sqlext.types import STRING, TIMESTAMP3, TIMESTAMP_LTZ3
from sqlext_catalog.model import Column, Table
from sqlext_udfs.windows.policy import Policy


def late_rows(name: LateTable, grouped: Grouped, given: bool, env: Environment) -> LateRows:
    """Return how the rows of a grouping that come too late are kept.

    Args:
        given: whether rows have their windows before the operator, and the query looks at them.

    Raises:
        SqlExtError: EMIT-114 if there is no such table or it has other columns, EMIT-118 where a row would be late
            several times; OPT-... for a table that cannot be written to.
    """
    _check_once(grouped, given, name.span, "LATE DATA TO", "")
    table = _table(name, env)
    known = _known(grouped, env)
    writable = {w.name for w in written_columns(table)}
    columns = tuple(_column(c, table, known, name) for c in table.columns if c.name in writable)
    return LateRows(table, columns, name.span)


def late_letters(name: str, grouped: Grouped, given: bool, env: Environment) -> LateRows:
    """Return how the rows of a grouping that come too late become dead letters: each with all its columns.

    Raises:
        SqlExtError: EMIT-118 where a row would be late several times; OPT-038 for a table that is none of dead letters.
    """
    span = grouped.select.span
    hint = f"; or SET '{DEAD_LETTER_CAUSES}' = 'decode, expression'"
    _check_once(grouped, given, span, f"'{DEAD_LETTERS}' for late rows", hint)
    table = kept_in(name, LETTERS, env, span)
    own = {c.name: c for found in _known(grouped, env).values() for c in found[:1] if c.relation is not None}
    read = dict.fromkeys(n.table.name.plain for n in walk(grouped.node) if isinstance(n, Scan))
    return LateRows(table, tuple(own.values()), span, ", ".join(read))


def _check_once(grouped: Grouped, given: bool, span: Span, what_for: str, more: str) -> None:
    """Refuse groupings that see a row several times: some of them may come in time."""
    assign = grouped.assign
    overlap = assign is not None and assign.spec.kind in OVERLAPPING
    if grouped.grouping.has_sets:
        what, hint = "GROUPING SETS", "write each set as a query of its own"
    elif overlap and assign is not None and assign.spec.months is not None:
        what, hint = "windows of a calendar that overlap", "TUMBLE, or windows of days"
    elif given and overlap and grouped.node.changelog:
        what, hint = "rows that change in windows that overlap", "TUMBLE; or leave it out"
    elif given and overlap:
        what = "windows that overlap and that the query looks at before it groups by them"
        hint = "put the window function into the FROM of the SELECT with EMIT, its bounds into GROUP BY alone"
    else:
        return
    raise SqlExtError("EMIT-118", f"{what_for} cannot be used with {what}", span=span, hint=f"{hint}{more}")


def check_single(late: LateRows, grouped: Grouped, policy: Policy) -> None:
    """Refuse several results of windows that SQL gives a row, and that overlap.

    Raises:
        SqlExtError: EMIT-118: a row may be late for some results of a window, and in time for others.
    """
    assign = grouped.assign
    if assign is None or assign.spec.kind not in OVERLAPPING or policy.gives_one_pane:
        return
    what = "windows that overlap, are cut by a zone's clock or have an offset of each row, and give several results"
    message = f"late rows cannot be kept of {what}"
    hint = "TUMBLE; or one result: AFTER WATERMARK, or ON WINDOW CLOSE ALLOW LATENESS d"
    raise SqlExtError("EMIT-118", message, span=late.span, hint=hint)


def _table(name: LateTable, env: Environment) -> Table:
    found = env.catalog.lookup(name.parts)
    if not isinstance(found, Table):
        hint = did_you_mean(name.parts[-1], env.catalog.candidates())
        message = f"late table `{'.'.join(name.parts)}` does not exist"
        raise SqlExtError("EMIT-114", message, span=name.span, hint=hint)
    try:
        env.admit(found, "sink")
    except SqlExtError as error:
        raise env.placed(error, found, name.span) from None
    return found


def _known(grouped: Grouped, env: Environment) -> dict[str, list[LateColumn]]:
    """Return what there is to fill columns with, by name; a name may stand for several columns."""
    rowtime = grouped.assign.time if grouped.assign is not None else None
    # The watermark is shown in the type of the rowtime, so that a late row can be compared with it.
    ltz = rowtime is None or (rowtime.type is not None and rowtime.type.root == "TIMESTAMP_LTZ")
    met = PlanColumn(
        "watermark",
        TIMESTAMP_LTZ3 if ltz else TIMESTAMP3,
        LATE_WATERMARK,
        Part.VALUE if ltz else Part.INSTANT,
    )
    operator = PlanColumn("operator", STRING.not_null(), LATE_OPERATOR)
    known: dict[str, list[LateColumn]] = {}
    window = grouped.assign.physical if grouped.assign is not None else None
    for relation in grouped.scope.relations:
        for column in relation.columns:
            own = column.physical != window and column.part is not Part.PROCTIME
            if own and column.name not in relation.merged:
                known.setdefault(column.name, []).append(LateColumn(column.name, column, relation.alias))
    # Last, as a column of the rows goes before ours of the same name.
    for column in (met, operator):
        known.setdefault(column.name, [LateColumn(column.name, column, None)])
    return known


def _column(target: Column, table: Table, known: dict[str, list[LateColumn]], name: LateTable) -> LateColumn:
    found = known.get(target.name, [])
    if len(found) != 1:
        what = "which two relations have" if found else "which the rows do not have"
        raise SqlExtError(
            "EMIT-114",
            f"late table `{table.name.name}` has a column `{target.name}`, {what}",
            span=name.span,
            hint=f"its columns may be {', '.join(_shown(c[0].source) for c in known.values() if len(c) == 1)}",
        )
    source = found[0].source
    if source.type is None or target.type is None or can_implicitly_cast(source.type, target.type):
        return found[0]
    message = f"column `{target.name}` of late table `{table.name.name}` is {target.type}, the rows' is {source.type}"
    raise SqlExtError("EMIT-114", message, span=name.span)


def _shown(column: PlanColumn) -> str:
    return f"`{column.name}` {column.type.flink() if column.type else ''}".strip()
