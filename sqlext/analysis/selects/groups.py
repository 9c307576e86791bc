"""Bind SELECTs that group."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.emit.fills import bound_fill, bound_keys, with_nulls
from sqlext.analysis.emit.firing import are_rows_of_sessions, find_firing, is_single, static_firing
from sqlext.analysis.emit.silence import silent_parts
from sqlext.analysis.grouping.group_by import Grouped, Grouping, check_grouped, check_star
from sqlext.analysis.grouping.offset_keys import check_offset_keys
from sqlext.analysis.names.registered import refuse_static
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.relations.changelogs import changes_below
from sqlext.analysis.relations.outputs import OutputBuilder
from sqlext.analysis.selects.items import Item
from sqlext.analysis.windows.group_windows import NAMES
from sqlext.analysis.windows.sessions import session_rows
from sqlext.dialect.ast.expressions import ColumnRef
from sqlext.plan import nodes
from sqlext.plan.firing import Firing
from sqlext.plan.grouping import Aggregate, GroupKeys, window_function
from sqlext.plan.nodes import WindowKind
from sqlext.plan.panes import readable
from sqlext.plan.windows.session_rows import SessionRows
from sqlext.settings import FILL_LIMIT


def bind_groups(block: Block, items: list[Item], grouping: Grouping, binding: Binding) -> nodes.PlanNode:
    """Return the groups of a SELECT.

    Raises:
        SqlExtError: NAME-010 for items that are neither grouped nor aggregated, WINDOW-... for windows of rows that
            change, EMIT-... for a clause that means nothing here.
    """
    select, scope, mode = block.select, block.scope, binding.env.mode
    node = readable(block.node)
    if node.changelog and select.emit is not None and not select.emit.only_fills:
        raise changes_below(select.emit.span, "EMIT")
    for expr in (*(i.expr for i in items), select.having):
        if expr is not None:
            check_grouped(expr, grouping, scope, mode)
    for item in items:
        if item.expr is None and item.found is not None:
            check_star(item.found, grouping, item.span)
    builder = _outputs(items, grouping)
    # session_window of Spark makes sessions of the rows that share all grouping keys, not of PARTITION BY. A grouping
    # without their window looks at their rows too.
    if grouping.window is None or _sessions_of_others(node, grouping):
        node = session_rows(node)
    expressions = [i.expr for i in items if i.expr is not None]
    assign = window_function(node) if grouping.window is not None else None
    grouped = Grouped(select, node, scope, grouping, expressions, assign)
    check_offset_keys(grouped)
    if grouping.window is not None and are_rows_of_sessions(grouped):
        node = session_rows(node)
        assign = window_function(node)
        grouped = Grouped(select, node, scope, grouping, expressions, assign)
    firing = _firing(grouped, binding)
    if node.changelog and assign is not None and (firing is None or not _gives_one_pane(firing)):
        raise changes_below(select.span, "a window that fires early or late, or keeps late rows,")
    columns = builder.columns
    filled: nodes.PlanNode | None = None
    if firing is not None and select.emit is not None and select.emit.fill is not None:
        fill = bound_fill(select.emit.fill, grouped, firing.policy, columns, builder.outputs)
        table = select.emit.fill.table
        if table is not None:
            filled, keys = bound_keys(table, grouped, binding)
            fill = replace(fill, table=".".join(table.parts), keys=keys)
        limit = binding.env.settings.whole(FILL_LIMIT)
        fill = replace(fill, limit=limit) if limit is not None else fill
        firing, columns = replace(firing, fill=fill), with_nulls(columns, builder.outputs, mode)
    hidden: tuple[str, ...] = ()
    # Only the last value of a group counts, so sinks merge by its key, which the SELECT need not show.
    if firing is not None and firing.panes == "last":
        windowed = grouping.window is not None
        hidden = builder.add_keys(grouping.expressions, has_sets=grouping.has_sets, windowed=windowed)
    # Spark asks for a grouping key beside session_window in a streaming query.
    constant = _constant_key(node, grouping) if firing is not None and not firing.why else None
    return Aggregate(
        columns=tuple(columns),
        input=node,
        scope=scope,
        outputs=tuple(builder.outputs),
        where=select.where,
        by=GroupKeys(grouping.items, grouping.expressions, grouping.window, hidden, constant),
        having=select.having,
        firing=firing,
        silent=silent_parts(grouped),
        filled=filled,
    )


def _outputs(items: list[Item], grouping: Grouping) -> OutputBuilder:
    builder = OutputBuilder(grouping.scope)
    for item in items:
        keep = item.found is not None and grouping.keeps(item.found)
        if keep or item.expr is not None:
            builder.add(item.name, item.expr, item.found if keep else None, grouped=not keep)
        else:
            assert item.found is not None
            reference = ColumnRef(item.span, (item.found.relation.alias, item.found.column.name))
            builder.add(item.name, reference, None, grouped=True)
    return builder


def _firing(grouped: Grouped, binding: Binding) -> Firing | None:
    """Return how the groups of a stream are kept; of rows that stand still those that are filled."""
    if grouped.node.streaming:
        return find_firing(grouped, binding.env)
    refuse_static(tuple(grouped.aggregates()))
    return static_firing(grouped)


def _gives_one_pane(firing: Firing) -> bool:
    """Whether each window gives one pane: at its end, by the watermark or by the clock."""
    return firing.final or (firing.late is None and firing.policy.processing_time and is_single(firing.policy))


def _sessions_of_others(node: nodes.PlanNode, grouping: Grouping) -> bool:
    """Whether sessions are grouped by other keys than they are made by: then their rows must be known first."""
    assign = _assignment(node, grouping.window)
    if assign is None or assign.spec.kind is not WindowKind.SESSION:
        return False
    if grouping.has_sets:
        return True
    declared = set(assign.spec.session_keys)
    grouped = {f.column.physical for e in grouping.expressions if (f := grouping.scope.bare(e)) is not None}
    legacy = any(c.name == NAMES[0] for c in assign.columns)
    return not legacy and (declared != grouped or len(grouping.expressions) != len(declared))


def _constant_key(node: nodes.PlanNode, grouping: Grouping) -> str | None:
    """Return the constant key that a session without keys needs in Spark, None for other windows."""
    assign = _assignment(node, grouping.window)
    if assign is None or assign.spec.kind is not WindowKind.SESSION or isinstance(assign, SessionRows):
        return None
    return assign.time.physical if not grouping.expressions else None


def _assignment(node: nodes.PlanNode, window: str | None) -> nodes.AssignWindows | None:
    while not isinstance(node, nodes.AssignWindows):
        if len(node.inputs) != 1 or isinstance(node, Aggregate):
            return None
        node = node.inputs[0]
    return node if window is not None else None
