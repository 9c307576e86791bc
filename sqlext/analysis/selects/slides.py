"""Bind GROUP BY of the windows of SLIDE: one window ends at each time of a key, and has the rows of its length.

Which windows there are, only the keys say. So the functions are computed of the rows, and each row that comes out gets
its window then. What is left of the SELECT reads keys, aggregates and window as columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.emit.firing import kept_late_rows, of_policy, windows_of
from sqlext.analysis.emit.policy import clause_policy
from sqlext.analysis.emit.rules import check_clause
from sqlext.analysis.emit.settings import KEYS as EMIT_SETTINGS
from sqlext.analysis.emit.settings import settings_policy
from sqlext.analysis.functions.panes import PANE_COLUMNS
from sqlext.analysis.grouping.group_by import Grouped, Grouping, check_grouped, check_star
from sqlext.analysis.names.substitution import substitute
from sqlext.analysis.over.calls import aliased, prepared
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.selects.items import Item
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Node
from sqlext.dialect.ast.queries import GroupingSets, Select, SelectItem
from sqlext.errors import SqlExtError
from sqlext.plan.base import walk
from sqlext.plan.columns import Loss, Part, PlanColumn
from sqlext.plan.firing import LateColumn, LateRows
from sqlext.plan.nodes import Aliased, AssignWindows, Join, PlanNode
from sqlext.plan.over import Framed
from sqlext.plan.scope import Found, Scope, ScopeRelation, Shape, own_parts, shape
from sqlext.plan.windows.slides import Slide, SlideRows
from sqlext.source import Span
from sqlext.types import timestamp
from sqlext_udfs.over.specification import OverFrame

_ALIAS, _KEY, _RESULT, _TIME = "__slide", "__k{}", "__r{}", "__slide_time"
#: Joins that give each row of their left side with the columns that it has.
_KEEP_LEFT = ("INNER", "CROSS", "LEFT", "SEMI", "ANTI", "LEFT SEMI", "LEFT ANTI")
_HINT = "GROUP BY window_start, window_end and the keys; OVER (... RANGE BETWEEN ... PRECEDING ...) for each row"


def with_slides(block: Block, items: Sequence[Item], grouping: Grouping | None, binding: Binding) -> Block:
    """Return a block over the windows of SLIDE, that groups no more.

    Args:
        block: whose FROM has SLIDE.
        items: of its select list.
        grouping: what it groups by, if it does.

    Raises:
        SqlExtError: WINDOW-014 where its windows are not grouped by, or it stands beside what hides its rows,
            WINDOW-015 where windows are looked at before they are there, EMIT-125 for results before or behind the one
            at the end of a window, NAME-010 for items that are neither grouped nor aggregated.
    """
    first = next(n for n in walk(block.node) if isinstance(n, SlideRows))
    window = first.bounds[0].physical
    if grouping is None or grouping.window != window:
        message = "the windows of SLIDE are those of each key, and this SELECT does not group by them"
        raise SqlExtError("WINDOW-014", message, span=first.written, hint=_HINT)
    slides = _slides(block.node, first)
    _check(block, items, grouping, window)
    calls = _aggregates(block, items, grouping)
    grouped = Grouped(block.select, block.node, block.scope, grouping, [i.expr for i in items if i.expr], None)
    _check_emit(grouped, slides, binding)
    late = _late_rows(grouped, slides, binding)
    node = _slid(block, grouping, slides, calls, late)
    relation, scope = _relation(node, block.scope, window), block.scope
    rows = AssignWindows(
        (*node.columns, *(c for c in relation.columns if c.physical == window)),
        node,
        slides.spec,
        node.columns[len(grouping.expressions)],
        window,
        custom=True,
        written=slides.written,
    )
    select = _reading(block, items, grouping, calls)
    return Block(select, Aliased(rows.columns, rows, _ALIAS), replace(scope, relations=(relation,)))


def _slides(node: PlanNode, first: SlideRows) -> SlideRows:
    """Return the SLIDE of a FROM that has no other."""
    while not isinstance(node, SlideRows):
        if isinstance(node, Aliased):
            node = node.input
        elif isinstance(node, Join) and node.kind.upper() in _KEEP_LEFT and not node.right.streaming:
            node = node.left
        else:
            message = "SLIDE stands alone in FROM, or to the left of static tables"
            hint = "compute what stands beside it in a view, and SLIDE over that; or join the result of its GROUP BY"
            raise SqlExtError("WINDOW-014", message, span=first.written, hint=hint)
    return node


def _check(block: Block, items: Sequence[Item], grouping: Grouping, window: str) -> None:
    scope, select = block.scope, block.select
    for expr in (*(i.expr for i in items), select.having):
        if expr is not None:
            check_grouped(expr, grouping, scope, scope.mode)
    for item in items:
        if item.expr is None and item.found is not None:
            check_star(item.found, grouping, item.span)
    sets = next((i for i in grouping.items if isinstance(i, GroupingSets)), None)
    if sets is not None:
        message = "GROUPING SETS, ROLLUP and CUBE have no windows of SLIDE: each set would have windows of its own"
        raise SqlExtError("WINDOW-015", message, span=sets.span, hint="one SELECT for each set, with UNION ALL")
    conditions = (n.condition for n in walk(block.node) if isinstance(n, Join))
    hint = "write the condition behind GROUP BY, as HAVING"
    for condition in (select.where, *conditions):
        if condition is not None:
            _refuse_bounds(condition, scope, window, "a row is in several windows of SLIDE, so no condition", hint)
    for expr in grouping.expressions:
        hint = "compute it in a query around this one, and group there"
        _refuse_bounds(expr, scope, window, "a window of SLIDE ends at a time of its key, so no key", hint)


def _refuse_bounds(expr: Expr, scope: Scope, window: str, what: str, hint: str) -> None:
    for part in own_parts(expr):
        if isinstance(part, ColumnRef) and _is_bound(part, scope, window):
            message = f"{what} on rows looks at `{part.span.one_line}`"
            raise SqlExtError("WINDOW-015", message, span=part.span, hint=hint)


def _is_bound(ref: ColumnRef, scope: Scope, window: str) -> bool:
    return scope.has(ref) and scope.find(ref).column.physical == window


def _aggregates(block: Block, items: Sequence[Item], grouping: Grouping) -> list[Call]:
    """Return the aggregates of the select list and HAVING, each once."""
    expressions = [i.expr for i in items if i.expr is not None]
    grouped = Grouped(block.select, block.node, block.scope, grouping, expressions, None)
    calls: dict[Shape, Call] = {}
    for call in grouped.aggregates():
        calls.setdefault(shape(call, block.scope), call)
    for call in calls.values():
        inside = (*(a for a in call.args if isinstance(a, Expr)), *([call.filter] if call.filter is not None else ()))
        for expr in inside:
            what = "a row is in several windows of SLIDE, so no aggregate"
            hint = "take the bound beside the aggregate"
            _refuse_bounds(expr, block.scope, grouping.window or "", what, hint)
    return list(calls.values())


def _check_emit(grouped: Grouped, slides: SlideRows, binding: Binding) -> None:
    """Refuse results before or behind the one that comes when the watermark has passed the time of a window."""
    clause, window = grouped.select.emit, windows_of(slides.spec)
    pane = next((c for c in grouped.calls() if c.function in PANE_COLUMNS), None)
    if pane is not None:
        message = f"{pane.function}() is of a pane, and each window of SLIDE comes once"
        raise SqlExtError("EMIT-111", message, span=pane.span, hint="leave it out, or take HOP")
    if clause is None:
        if binding.env.settings.has_any(EMIT_SETTINGS):
            settings_policy(binding.env, window, grouped)
        return
    if clause.fill is not None:
        message = "a window of SLIDE ends with a row, so none is without rows"
        raise SqlExtError("EMIT-119", message, span=clause.fill.span, hint="TUMBLE, HOP or CUMULATE")
    policy = clause_policy(clause, grouped.node, window, lambda _: 0, grouped.scope, processing_time=False)
    check_clause(clause, policy, slides.time.name)
    if policy.lateness:
        message = "SLIDE takes no lateness: a late row would change each later window that reaches back to it"
        hint = "a longer delay in WATERMARK FOR: ANALYZE WATERMARK says which; or HOP"
        raise SqlExtError("EMIT-125", message, span=clause.place("lateness"), hint=hint)
    if any(True for _ in of_policy(policy, replace(clause, late_table=None))):
        message = "each window of SLIDE comes once, when the watermark has passed its time, and this asks for more"
        raise SqlExtError("EMIT-125", message, span=clause.span, hint="leave EMIT out; HOP takes any EMIT")


def _late_rows(grouped: Grouped, slides: SlideRows, binding: Binding) -> LateRows | None:
    """Return how rows are kept that come too late, of a stream."""
    if not grouped.node.streaming:
        return None
    window = slides.bounds[0].physical
    assign = AssignWindows(slides.columns, slides.input, slides.spec, slides.time, window)
    return kept_late_rows(grouped.select.emit, replace(grouped, assign=assign), False, binding.env)


def _slid(block: Block, grouping: Grouping, slides: SlideRows, calls: Sequence[Call], late: LateRows | None) -> Slide:
    """Return the windows of each key, with the aggregates."""
    window, keys = slides.bounds[0].physical, grouping.expressions
    scope = replace(block.scope, relations=tuple(_without(r, window) for r in block.scope.relations))
    found = _time(slides.time, block.scope, window)
    items = tuple(SelectItem(e.span, e) for e in (*keys, *calls))
    select = replace(block.select, items=items, group_by=None, having=None, emit=None)
    own = {(c.relation, c.source.name) for c in late.columns if c.relation is not None} if late is not None else set()
    rows = prepared(_below(block.node, window), scope, select, kept=frozenset({found, *own}))
    below = aliased(rows)
    alias, name = found
    place = next(i for i, r in enumerate(scope.relations) if r.alias == alias)
    time = next(c for c in rows.scope.relations[place].columns if c.name == name)
    results = [PlanColumn(_RESULT.format(i), infer(c, rows.scope), _RESULT.format(i)) for i, c in enumerate(calls)]
    frame = OverFrame("RANGE", slides.spec.size - 1)
    keyed = [_key(i, e, rows.scope) for i, e in enumerate(keys)]
    zoned = time.type is not None and time.type.root == "TIMESTAMP_LTZ"
    type_ = slides.bounds[2].type or timestamp(3)
    shown = PlanColumn(time.name, type_, _TIME, Part.VALUE if zoned else Part.INSTANT, time.time)
    return Slide(
        (*keyed, shown, *results),
        (below,),
        scope=rows.scope,
        functions=tuple(Framed(c, frame, r.physical) for c, r in zip(calls, results, strict=True)),
        by=keys,
        time=time,
        size=slides.spec.size,
        written=slides.written,
        late=_of_rows(late, scope, rows.scope) if late is not None else None,
    )


def _of_rows(late: LateRows, scope: Scope, rows: Scope) -> LateRows:
    """Return what is kept of late rows, by the columns that the operator's rows have.

    Args:
        scope: of FROM.
        rows: of the operator's rows: the same relations, with fewer columns.
    """
    places = {relation.alias: i for i, relation in enumerate(scope.relations)}

    def moved(column: LateColumn) -> LateColumn:
        if column.relation is None:
            return column
        relation = rows.relations[places[column.relation]]
        source = next(c for c in relation.columns if c.name == column.source.name)
        return replace(column, source=source, relation=relation.alias)

    return replace(late, columns=tuple(map(moved, late.columns)))


def _key(place: int, expr: Expr, scope: Scope) -> PlanColumn:
    name, found = _KEY.format(place), scope.bare(expr)
    loss = found.column.loss if found is not None else None
    if found is not None and found.column.time is not None:
        loss = Loss("GROUP BY without the window's bounds makes it ordinary", expr.span)
    return PlanColumn(name, infer(expr, scope), name, loss=loss)


def _time(time: PlanColumn, scope: Scope, window: str) -> tuple[str, str]:
    """Return alias and name of the rowtime, which stands beside the bounds of the windows."""
    relation = next(r for r in scope.relations if any(c.physical == window for c in r.columns))
    held = (time.physical, time.part)
    return relation.alias, next(c.name for c in relation.columns if (c.physical, c.part) == held)


def _without(relation: ScopeRelation, window: str) -> ScopeRelation:
    return replace(relation, columns=tuple(c for c in relation.columns if c.physical != window))


def _below(node: PlanNode, window: str) -> PlanNode:
    """Return a FROM without its SLIDE."""
    if isinstance(node, SlideRows):
        return node.input
    columns = tuple(c for c in node.columns if c.physical != window)
    if isinstance(node, Join):
        scope = replace(node.scope, relations=tuple(_without(r, window) for r in node.scope.relations))
        return replace(node, columns=columns, left=_below(node.left, window), scope=scope)
    assert isinstance(node, Aliased)
    return replace(node, columns=columns, input=_below(node.input, window))


def _relation(node: Slide, scope: Scope, window: str) -> ScopeRelation:
    """Return what the rest of the SELECT reads: the bounds under their names, keys and results."""
    bounds = tuple(c for r in scope.relations for c in r.columns if c.physical == window)
    return ScopeRelation(_ALIAS, (), (*bounds, *(c for c in node.columns if c.physical != _TIME)))


def _reading(block: Block, items: Sequence[Item], grouping: Grouping, calls: Sequence[Call]) -> Select:
    """Return the SELECT with columns in the place of keys, aggregates and bounds; HAVING is its WHERE."""
    scope, window = block.scope, grouping.window or ""
    names = {shape(c, scope): _RESULT.format(i) for i, c in enumerate(calls)}
    names |= {shape(e, scope): _KEY.format(i) for i, e in reversed(list(enumerate(grouping.expressions)))}

    def rule(node: Node) -> Node | None:
        if not isinstance(node, Expr):
            return None
        if isinstance(node, ColumnRef) and _is_bound(node, scope, window):
            return ColumnRef(node.span, (scope.find(node).column.name,))
        name = names.get(shape(node, scope)) if not isinstance(node, ColumnRef) or scope.has(node) else None
        return ColumnRef(node.span, (name,)) if name is not None else None

    expressions = [i.expr if i.expr is not None else _reference(i.found, i.span) for i in items]
    return replace(
        block.select,
        items=tuple(SelectItem(i.span, substitute(e, rule), i.name) for i, e in zip(items, expressions, strict=True)),
        distinct=False,
        from_=None,
        where=substitute(block.select.having, rule) if block.select.having is not None else None,
        group_by=None,
        having=None,
        emit=None,
    )


def _reference(found: Found | None, span: Span) -> ColumnRef:
    assert found is not None
    # By its alias where it has a qualifier: another relation may have a column of this name.
    return ColumnRef(span, (*found.relation.qualifier[-1:], found.column.name))
