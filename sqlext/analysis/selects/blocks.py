"""SELECT blocks to Project and Aggregate nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlext.analysis.emit.firing import Grouped, find_firing
from sqlext.analysis.functions.panes import PANE_COLUMNS
from sqlext.analysis.joins.semi import with_semi_joins
from sqlext.analysis.joins.sub_queries import misplaced_sub_query, with_sub_queries
from sqlext.analysis.names.registered import refuse_static, with_registered
from sqlext.analysis.over.calls import (
    aliased,
    has_over,
    needs_a_step,
    over_calls,
    prepared,
    with_aliases_in_qualify,
    with_results_read,
    without_window_names,
)
from sqlext.analysis.over.choice import bind_over_calls
from sqlext.analysis.over.functions import misplaced
from sqlext.analysis.over.grouped import split_grouped
from sqlext.analysis.relations.changelogs import readable, window_of_changes
from sqlext.analysis.relations.extended import extended
from sqlext.analysis.relations.outputs import OutputBuilder
from sqlext.analysis.selects.from_clause import RelationBinder
from sqlext.analysis.selects.grouping import Grouping, check_grouped, find_grouping, is_grouped
from sqlext.analysis.selects.ranking import with_limits
from sqlext.analysis.selects.sets import distinct_rows
from sqlext.analysis.selects.watermark_column import with_current_watermark
from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.inference import infer
from sqlext.analysis.windows.functions import assign_windows
from sqlext.analysis.windows.legacy import NAMES, LegacyWindow, find_legacy_window, replace_legacy_window
from sqlext.analysis.windows.session_gaps import with_gap
from sqlext.analysis.windows.session_rows import session_rows
from sqlext.dialect.ast.expressions import (
    Call,
    ColumnRef,
    Exists,
    Expr,
    FieldAccess,
    InQuery,
    Literal,
    Node,
    Paren,
    ScalarQuery,
    Star,
)
from sqlext.dialect.ast.queries import Select
from sqlext.dialect.emit.printing import emit_text
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.firing import Firing
from sqlext.plan.parts import own_parts
from sqlext.plan.scope import Found, Scope, ScopeRelation
from sqlext.plan.windows import WindowKind
from sqlext.source import Span

if TYPE_CHECKING:
    from sqlext.analysis.selects.queries import QueryBinder


#: A join of FROM as one relation.
_JOINED = "__joined"


@dataclass(frozen=True)
class Item:
    """An item of the select list, stars expanded: an expression, or a column found by a star."""

    name: str
    expr: Expr | None
    found: Found | None
    span: Span


class SelectBinder:
    """Binds one SELECT block."""

    def __init__(self, queries: QueryBinder) -> None:
        self.queries = queries
        self.mode = queries.env.mode

    def bind(self, select: Select) -> nodes.PlanNode:
        """Return its plan.

        Raises:
            SqlExtError: NAME-..., TYPE-..., TIME-..., WINDOW-..., JOIN-... for what is wrong.
        """
        select = with_registered(select, self.queries.env.functions)
        node, scope = self._from(select)
        select, node, scope = with_semi_joins(self.queries, select, node, scope)
        select, node, scope = with_sub_queries(self.queries, select, node, scope)
        legacy = find_legacy_window(select, scope)
        if legacy is not None and not isinstance(node, nodes.Aliased):  # a join with a static side
            node, relations, _ = extended(node, scope.relations, (), scope, _JOINED)
            scope = replace(scope, relations=tuple(relations))
            legacy = find_legacy_window(select, scope)
        if legacy is not None:
            select = replace_legacy_window(select, legacy, scope)
            node, scope = _assign_legacy(node, scope, legacy)
        return self.bound(select, node, scope)

    def bound(self, select: Select, node: nodes.PlanNode, scope: Scope) -> nodes.PlanNode:
        """Return the plan of a SELECT over a FROM."""
        if select.distinct and is_grouped(select, self.mode):
            groups = self.bound(replace(select, distinct=False), node, scope)
            return distinct_rows(self.queries, groups, "SELECT DISTINCT compares values", select.span)
        select = with_aliases_in_qualify(select, scope)
        select, node, scope = with_current_watermark(select, node, scope)
        select, node = with_limits(select, node, scope)
        if has_over(select) and (node.streaming or needs_a_step(select)):
            if is_grouped(select, self.mode):
                return self._over_grouped(select, node, scope)
            select, node, scope = self._with_over(select, node, scope)
            select, node = with_limits(select, node, scope)  # what was QUALIFY
        elif select.windows:
            select = without_window_names(select)
        items = self._items(select, scope)
        self._check(select, items, scope, node)
        grouping = find_grouping(select, [i.expr for i in items], scope)
        if grouping is None or not node.streaming:
            _check_no_panes(select if grouping is None else replace(select, emit=None), items)
        if grouping is None:
            plain = self._project(select, items, scope, node)
            if not select.distinct:
                return plain
            return distinct_rows(self.queries, plain, "SELECT DISTINCT compares values", select.span)
        return self._aggregate(select, items, scope, node, grouping)

    def _over_grouped(self, select: Select, node: nodes.PlanNode, scope: Scope) -> nodes.PlanNode:
        grouped, outer = split_grouped(select, scope)
        below = self.bound(grouped, node, scope)
        relation = ScopeRelation("__g", (), below.columns)
        return self.bound(outer, nodes.Aliased(below.columns, below, "__g"), replace(scope, relations=(relation,)))

    def _with_over(self, select: Select, node: nodes.PlanNode, scope: Scope) -> tuple[Select, nodes.PlanNode, Scope]:
        """Return a SELECT that reads the results of its calls with OVER, and a FROM that has them."""
        for expr in (*(i.expr for i in select.items), *(e for e in (select.where, select.qualify) if e is not None)):
            if not isinstance(expr, Star):
                infer(expr, scope)
        rows = prepared(session_rows(node), scope, select)
        expressions = [*(i.expr for i in select.items), *([select.qualify] if select.qualify is not None else [])]
        calls = over_calls(expressions, select, rows.scope)
        read = with_results_read(select, calls, rows.scope)
        rows = bind_over_calls(calls, rows, self.queries.env)
        return read, aliased(rows), rows.scope

    def _from(self, select: Select) -> tuple[nodes.PlanNode, Scope]:
        relations = RelationBinder(self.queries, select)
        if select.from_ is None:
            return nodes.OneRow(()), relations.scope()
        return relations.bind(select.from_), relations.scope()

    def _items(self, select: Select, scope: Scope) -> list[Item]:
        items: list[Item] = []
        for i, item in enumerate(select.items):
            if isinstance(item.expr, Star):
                items += _expand(item.expr, scope)
                continue
            found = scope.bare(item.expr)
            name = item.alias or _natural_name(item.expr) or f"EXPR${i}"
            items.append(Item(name, item.expr, found, item.span))
        return items

    def _check(self, select: Select, items: list[Item], scope: Scope, node: nodes.PlanNode) -> None:
        """Check what holds for every SELECT: types, places of aggregates, what streams cannot do."""
        expressions = [i.expr for i in items if i.expr is not None]
        for expr in (*expressions, *(e for e in (select.where, select.having) if e is not None)):
            infer(expr, scope)
            self._check_expression(expr, node)
        for expr in expressions:
            if self.mode == "flink" and isinstance(expr, Literal) and expr.kind == "NULL":
                raise SqlExtError("TYPE-020", "NULL has no type here", span=expr.span, hint="CAST(NULL AS STRING)")
        if select.where is not None:
            for call in _aggregates(select.where, self.mode):
                raise SqlExtError("WINDOW-009", f"{call.name} cannot stand in WHERE", span=call.span, hint="use HAVING")

    def _check_expression(self, expr: Expr, node: nodes.PlanNode) -> None:
        for part in own_parts(expr):
            if isinstance(part, (InQuery, Exists, ScalarQuery)) and self.queries.bind_inside(part.query).streaming:
                raise misplaced_sub_query(part)
            if isinstance(part, Call) and part.over is not None and node.streaming:
                raise misplaced(part)

    def _project(self, select: Select, items: list[Item], scope: Scope, node: nodes.PlanNode) -> nodes.PlanNode:
        node = session_rows(node)
        builder = OutputBuilder(scope)
        for item in items:
            builder.add(item.name, item.expr, item.found)
        return nodes.Project(tuple(builder.columns), node, scope, tuple(builder.outputs), select.where)

    def _aggregate(
        self, select: Select, items: list[Item], scope: Scope, node: nodes.PlanNode, grouping: Grouping
    ) -> nodes.PlanNode:
        node = readable(node)
        if node.changelog and (select.emit is not None or grouping.window is not None):
            emit = select.emit
            raise window_of_changes(emit.span, "EMIT") if emit is not None else window_of_changes(select.span)
        for item in items:
            if item.expr is not None:
                check_grouped(item.expr, grouping, scope, self.mode)
        if select.having is not None:
            check_grouped(select.having, grouping, scope, self.mode)
        builder = OutputBuilder(scope)
        for item in items:
            keep = item.found is not None and grouping.keeps(item.found)
            if keep or item.expr is not None:
                builder.add(item.name, item.expr, item.found if keep else None, grouped=not keep)
            else:
                assert item.found is not None
                reference = ColumnRef(item.span, (item.found.relation.alias, item.found.column.name))
                builder.add(item.name, reference, None, grouped=True)
        if self._sessions_of_others(node, grouping):
            node = session_rows(node)
        grouped = _grouped(select, items, scope, node, grouping)
        firing = self._firing(grouped)
        keys: tuple[str, ...] = ()
        final = grouping.window is not None or not node.streaming
        if firing is not None:
            final = firing.panes != "last"
        if not final:
            windowed = grouping.window is not None
            keys = builder.add_keys(grouping.expressions, has_sets=grouping.has_sets, windowed=windowed)
        session_key = _session_key(node, grouping) if node.streaming and firing is None else None
        return nodes.Aggregate(
            tuple(builder.columns),
            node,
            scope,
            tuple(builder.outputs),
            grouping.items,
            grouping.window,
            session_key,
            select.where,
            select.having,
            final,
            keys,
            firing,
            emit_text(select.emit) if select.emit is not None else "",
            retracting=None if final else find_firing(grouped, self.queries.env, read_on=True),
            combining=self._combining(grouped) if firing is None else None,
        )

    def _firing(self, grouped: Grouped) -> Firing | None:
        """Return what an operator of ours does for a grouping, None where Spark's own do."""
        if grouped.node.streaming:
            return find_firing(grouped, self.queries.env)
        refuse_static(tuple(grouped.aggregates()))
        return None

    def _combining(self, grouped: Grouped) -> Firing | None:
        """Return what an operator of ours would do for groups that Spark's own can keep as well."""
        if not grouped.node.streaming or (grouped.assign is None and grouped.grouping.window is not None):
            return None
        return find_firing(grouped, self.queries.env, combined=True)

    def _sessions_of_others(self, node: nodes.PlanNode, grouping: Grouping) -> bool:
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


def _grouped(select: Select, items: list[Item], scope: Scope, node: nodes.PlanNode, grouping: Grouping) -> Grouped:
    expressions = [i.expr for i in items if i.expr is not None]
    assign = nodes.window_function(node) if grouping.window is not None else None
    return Grouped(select, node, scope, grouping, expressions, assign)


def _session_key(node: nodes.PlanNode, grouping: Grouping) -> str | None:
    """Return the constant key that a session without keys needs in Spark, None for other windows."""
    assign = _assignment(node, grouping.window)
    if assign is None or assign.spec.kind is not WindowKind.SESSION or assign.by_rows:
        return None
    return assign.time.physical if not grouping.expressions else None


def _check_no_panes(select: Select, items: list[Item]) -> None:
    """Refuse EMIT and what a pane says of itself where nothing is grouped."""
    if select.emit is not None:
        message = "EMIT needs a GROUP BY or a window in the same SELECT; this SELECT has no state to emit"
        raise SqlExtError("EMIT-101", message, span=select.emit.span)
    for expr in (i.expr for i in items if i.expr is not None):
        for part in own_parts(expr):
            if isinstance(part, Call) and part.function in PANE_COLUMNS:
                message = f"{part.function}() is only available where EMIT applies"
                raise SqlExtError("EMIT-111", message, span=part.span)


def _assign_legacy(node: nodes.PlanNode, scope: Scope, window: LegacyWindow) -> tuple[nodes.PlanNode, Scope]:
    assert isinstance(node, nodes.Aliased)
    if node.updating:
        raise window_of_changes(window.call.span)
    below = node.input if window.spec.gap is None else with_gap(node, window.call.args[1], scope)
    assigned = assign_windows(below, window.time, window.spec, NAMES)
    start, end, window_time = assigned.columns[-3:]
    # TUMBLE_ROWTIME is nullable in Flink, the window_time of a table function is not (DESCRIBE shows it).
    nullable = replace(window_time, type=window_time.type.as_nullable() if window_time.type else None)
    added = (start, end, nullable)
    columns = (*node.columns, *added)
    first, *others = scope.relations  # several where the relation is a join of streams
    return (
        nodes.Aliased(columns, replace(assigned, columns=columns), node.alias),
        replace(scope, relations=(replace(first, columns=(*first.columns, *added)), *others)),
    )


def _assignment(node: nodes.PlanNode, window: str | None) -> nodes.AssignWindows | None:
    while not isinstance(node, nodes.AssignWindows):
        if len(node.inputs) != 1 or isinstance(node, nodes.Aggregate):
            return None
        node = node.inputs[0]
    return node if window is not None else None


def _expand(star: Star, scope: Scope) -> list[Item]:
    relations: tuple[ScopeRelation, ...] = scope.relations
    if star.qualifier:
        relations = tuple(r for r in relations if r.answers_to(star.qualifier, scope.mode == "spark"))
        if not relations:
            raise SqlExtError("NAME-002", f"there is no `{'.'.join(star.qualifier)}` here", span=star.span)
    if not relations:
        raise SqlExtError("NAME-003", "* needs a FROM", span=star.span)
    return [
        Item(c.name, None, Found(r, c, ()), star.span)
        for r in relations
        for c in r.columns
        if c.name not in NAMES and (star.qualifier or c.name not in r.merged)
    ]


def _natural_name(expr: Expr) -> str | None:
    if isinstance(expr, Paren):
        return _natural_name(expr.operand)
    if isinstance(expr, ColumnRef):
        return None if expr.parts[-1] in NAMES else expr.parts[-1]
    return expr.name if isinstance(expr, FieldAccess) else None


def _aggregates(expr: Node, mode: str) -> list[Call]:
    return [n for n in own_parts(expr) if isinstance(n, Call) and is_aggregate(n, mode)]
