"""Bind ``GROUP BY TUMBLE(ts, ...)`` and its auxiliary functions as a window table function.

These are Flink's deprecated group windows. HOP takes any lengths here, SESSION is per grouping key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlext.analysis.names.substitution import substitute
from sqlext.analysis.names.time_attributes import no_time_attribute
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.relations.changelogs import windowed_changes
from sqlext.analysis.relations.extended import extended
from sqlext.analysis.types.literals import interval_millis, interval_months
from sqlext.analysis.windows.row_lengths import GAP, is_row_gap, with_gap
from sqlext.analysis.windows.table_functions import assign_windows, over_time, usage, wall_clock_of
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Node
from sqlext.dialect.ast.queries import GroupBy, GroupingSets, Select
from sqlext.errors import SqlExtError
from sqlext.plan.columns import Part, PlanColumn, Time
from sqlext.plan.nodes import Aliased, PlanNode, RestoreTime, WindowKind, WindowSpec
from sqlext.plan.scope import Scope, shape

#: Names of the columns that stand for the window; no user can write them without backticks.
NAMES = ("__window_start", "__window_end", "__window_time")
#: The time of a window that was restored.
RESTORED = "__rowtime"
#: A join of FROM as one relation.
_JOINED = "__joined"
#: The clock, where a window names it by PROCTIME() itself.
_CLOCK = "__proctime"
_FUNCTIONS = {"TUMBLE": 2, "HOP": 3, "SESSION": 2}
_IN_FROM = ("CUMULATE", "SLIDE")
_PARTS = {"START": 0, "END": 1, "ROWTIME": 2, "PROCTIME": 2}


@dataclass(frozen=True)
class GroupWindow:
    """A group window found in GROUP BY: its time column and its lengths.

    Attributes:
        restored: whether its time is no time attribute any more, but was one (Flink takes it still, and only here).
    """

    call: Call
    time: PlanColumn
    spec: WindowSpec
    restored: bool = False


def with_group_window(block: Block, _: Binding) -> Block:
    """Return a block whose group window is a column of its rows.

    Raises:
        SqlExtError: TIME-001 and WINDOW-... for a window that cannot be computed, WINDOW-008 for two of them.
    """
    block = _with_clock(block)
    window, node, scope = _find(block.select, block.scope), block.node, block.scope
    if window is not None and not isinstance(node, Aliased):  # a join with a static side
        node, relations, _columns = extended(node, scope.relations, (), scope, _JOINED)
        scope = replace(scope, relations=tuple(relations))
        # Found anew: its time is now a column of the joined relation.
        window = _find(block.select, scope)
    if window is None:
        return block
    select = _replaced(block.select, window, scope)
    return Block(select, *_assigned(node, scope, window))


def _with_clock(block: Block) -> Block:
    """Return a block whose group windows name the clock by a column: ``TUMBLE(PROCTIME(), ...)``."""
    select, node, scope = block.select, block.node, block.scope
    items = select.group_by.items if select.group_by else ()
    clock = next((c.args[0] for c in items if isinstance(c, Call) and _goes_by_clock(c)), None)
    if select.group_by is None or not isinstance(clock, Expr):
        return block

    def named(found: Node) -> Node | None:
        if not isinstance(found, Call) or not _goes_by_clock(found):
            return None
        return replace(found, args=(ColumnRef(found.args[0].span, (_CLOCK,)), *found.args[1:]))

    alias = node.alias if isinstance(node, Aliased) else _JOINED
    node, (first, *others), added = extended(node, scope.relations, ((_CLOCK, clock),), scope, alias)
    relations = (replace(first, columns=(*first.columns, *added)), *others)
    groups = tuple(i if isinstance(i, GroupingSets) else substitute(i, named) for i in select.group_by.items)
    changed = replace(
        select,
        items=tuple(substitute(item, named) for item in select.items),
        having=substitute(select.having, named) if select.having else None,
        group_by=replace(select.group_by, items=groups),
    )
    return Block(changed, node, replace(scope, relations=relations))


def _goes_by_clock(call: Call) -> bool:
    """Return whether a group window or an auxiliary function of one has PROCTIME() for its time."""
    window = call.function if call.function in _FUNCTIONS else call.function.rpartition("_")[0]
    time = call.args[0] if call.args else None
    return window in _FUNCTIONS and isinstance(time, Call) and time.function == "PROCTIME"


def _assigned(node: PlanNode, scope: Scope, window: GroupWindow) -> tuple[PlanNode, Scope]:
    """Return a FROM with the window of each row, and what its names mean."""
    assert isinstance(node, Aliased)
    rows = windowed_changes(node.input, window.spec, window.call.span)
    time = window.time
    if window.restored and window.spec.processing:
        time = PlanColumn(RESTORED, time.type, RESTORED, Part.PROCTIME, Time.PROCTIME)  # by the clock, as ever
    elif window.restored:
        zoned = time.type is not None and time.type.root == "TIMESTAMP_LTZ"
        time = PlanColumn(RESTORED, time.type, RESTORED, Part.VALUE if zoned else Part.INSTANT, Time.ROWTIME)
        rows = RestoreTime((*node.columns, time), rows, window.time, RESTORED)
    below = rows
    if window.spec.gap is not None:
        below = with_gap(Aliased(rows.columns, rows, node.alias), window.call.args[1], scope)
    assigned = assign_windows(below, time, window.spec, NAMES)
    start, end, window_time = assigned.columns[-3:]
    # TUMBLE_ROWTIME is nullable in Flink, the window_time of a table function is not (DESCRIBE shows it).
    nullable = replace(window_time, type=window_time.type.as_nullable() if window_time.type else None)
    added = (start, end, nullable)
    columns = (*node.columns, *added)
    first, *others = scope.relations  # several where the relation is a join of streams
    return (
        Aliased(columns, replace(assigned, columns=columns, written=window.call.span), node.alias),
        replace(scope, relations=(replace(first, columns=(*first.columns, *added)), *others)),
    )


def _find(select: Select, scope: Scope) -> GroupWindow | None:
    """Return the group window of a SELECT, or None.

    Raises:
        SqlExtError: TIME-001 if it is not over a time attribute, WINDOW-008 for two of them.
    """
    items = select.group_by.items if select.group_by else ()
    _refuse_table_functions(items, scope)
    calls = [i for i in items if isinstance(i, Call) and i.function in _FUNCTIONS]
    if not calls:
        return None
    if len(calls) > 1:
        raise SqlExtError("WINDOW-008", "a GROUP BY has at most one group window", span=calls[1].span)
    call = calls[0]
    wanted = _FUNCTIONS[call.function]
    if not wanted <= len(call.args) <= wanted + 1:
        usage = {"TUMBLE": "ts, size", "HOP": "ts, slide, size", "SESSION": "ts, gap, [max_size]"}[call.function]
        raise SqlExtError(
            "WINDOW-001",
            f"these are not the arguments of {call.function}",
            span=call.span,
            hint=f"{call.function}({usage})",
        )
    first = call.args[0]
    found = scope.bare(first) if isinstance(first, Expr) else None
    if found is None:
        inner = next((n for n in first.walk() if isinstance(n, ColumnRef)), None)
        raise SqlExtError(
            "TIME-001",
            f"{call.function} needs a time attribute, this is an expression",
            span=first.span,
            hint=f"use the column `{'.'.join(inner.parts)}` itself"
            if inner
            else "a column with a WATERMARK, or PROCTIME()",
        )
    what = f"GROUP BY {call.function}"
    restored = found.column.time is None and found.column.shown is not None
    if found.column.time is None and not restored:
        raise no_time_attribute(found.column, first.span, what)
    spec = _spec(call, wall_clock_of(found.column, scope.zone))
    timed = replace(found.column, time=found.column.shown) if restored else found.column
    return GroupWindow(call, found.column, over_time(spec, timed, first.span, what), restored)


def _refuse_table_functions(items: Sequence[Node], scope: Scope) -> None:
    """Refuse what is a window in FROM alone; another function may have the name too, but takes no time attribute."""
    for item in items:
        if not isinstance(item, Call) or item.function not in _IN_FROM or not item.args:
            continue
        found = scope.bare(item.args[0]) if isinstance(item.args[0], Expr) else None
        if found is not None and found.column.time is not None:
            message = f"{item.function} is a window of FROM, and none of GROUP BY"
            hint = f"FROM TABLE({usage(item.function)}) ... GROUP BY window_start, window_end"
            raise SqlExtError("WINDOW-001", message, span=item.span, hint=hint)


def _spec(call: Call, wall_clock: str | None) -> WindowSpec:
    if call.function == "SESSION":
        limit = _millis(call.args[2], call) if len(call.args) > 2 else None
        if is_row_gap(call.args[1]):
            return WindowSpec(WindowKind.SESSION, 0, 0, wall_clock=wall_clock, gap=GAP, limit=limit)
        return WindowSpec(WindowKind.SESSION, _millis(call.args[1], call), 0, wall_clock=wall_clock, limit=limit)
    lengths = [_millis(a, call) for a in call.args[1:]]
    if call.function == "HOP":
        offset = lengths[2] if len(lengths) > 2 else 0
        return WindowSpec(WindowKind.HOP, lengths[1], lengths[0], offset, wall_clock)
    offset = lengths[1] if len(lengths) > 1 else 0
    return WindowSpec(WindowKind.TUMBLE, lengths[0], lengths[0], offset, wall_clock)


def _millis(arg: Node, call: Call) -> int:
    if call.function != "SESSION" and isinstance(arg, Expr) and interval_months(arg) is not None:
        raise SqlExtError(
            "WINDOW-002",
            f"GROUP BY {call.function} takes lengths of time, and no months",
            span=arg.span,
            hint=f"months go in FROM: FROM TABLE({call.function}(TABLE t, DESCRIPTOR(ts), ...)), "
            "with GROUP BY window_start, window_end",
        )
    millis = interval_millis(arg) if isinstance(arg, Expr) else None
    if millis is None or millis <= 0:
        raise SqlExtError(
            "WINDOW-003",
            f"{call.function} needs interval literals longer than zero",
            span=arg.span,
            hint="write INTERVAL '10' MINUTE",
        )
    return millis


def _replaced(select: Select, window: GroupWindow, scope: Scope) -> Select:
    """Return the SELECT with the group window and its auxiliary functions read as window columns."""
    arguments = tuple(shape(a, scope) for a in window.call.args)

    def auxiliary(node: Node) -> Node | None:
        if not isinstance(node, Call) or "_" not in node.function:
            return None
        function, _, part = node.function.rpartition("_")
        if function not in _FUNCTIONS or part not in _PARTS:
            return None
        # Calcite: "Call to auxiliary group function ... must have matching call to group function ...".
        if (function, tuple(shape(a, scope) for a in node.args)) != (window.call.function, arguments):
            raise SqlExtError(
                "WINDOW-007",
                f"{node.function} has not the arguments of the window in GROUP BY",
                span=node.span,
                hint=f"GROUP BY {window.call.span.text}",
            )
        # START and END fit both kinds of time; ROWTIME and PROCTIME give a time attribute of one kind.
        if (part == "PROCTIME") is not window.spec.processing and part in ("PROCTIME", "ROWTIME"):
            kind = "an event-time" if part == "ROWTIME" else "a processing-time"
            raise SqlExtError("TIME-001", f"{node.function} needs {kind} window", span=node.span)
        return ColumnRef(node.span, (NAMES[_PARTS[part]],))

    assert select.group_by is not None
    items: list[Expr | GroupingSets] = []
    for item in select.group_by.items:
        if item is window.call:
            # A grouping counts as windowed where start and end are among its columns (grouping.group_by).
            items += [ColumnRef(item.span, (n,)) for n in NAMES]
        else:
            items.append(item)
    return replace(
        select,
        items=tuple(substitute(i, auxiliary) for i in select.items),
        having=substitute(select.having, auxiliary) if select.having else None,
        group_by=GroupBy(select.group_by.span, tuple(items)),
    )
