"""Take the calls with OVER out of a SELECT: operators below it compute them.

The rows of FROM, filtered by WHERE, become one relation of plain columns. Operators add a column for each call. The
SELECT then reads these columns in place of the calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.names.substitution import substitute
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.relations.materialisation import materialised
from sqlext.analysis.relations.outputs import OutputBuilder
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Node, OverSpec, Star
from sqlext.dialect.ast.queries import Select
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.columns import PlanColumn
from sqlext.plan.scope import Found, Scope, ScopeRelation, Shape, own_parts, shape
from sqlext.source import Span

_ALIAS = "__in"
#: The name of the result of each call.
_RESULT = "__over_{}"


@dataclass(frozen=True)
class OverCall:
    """A call with its window; calls that mean the same are one.

    Attributes:
        over: with the parts that a named window gives.
        name: of the physical column of its result.
    """

    call: Call
    over: OverSpec
    name: str


@dataclass(frozen=True)
class Prepared:
    """The rows that calls are computed of.

    Attributes:
        node: one relation; its columns are those of all relations in FROM.
        scope: in which the SELECT's own names mean its columns.
    """

    #: The qualifier of results.
    RESULTS: ClassVar[str] = "__over"

    node: nodes.PlanNode
    scope: Scope

    def with_results(self, node: nodes.PlanNode, columns: Sequence[PlanColumn]) -> Prepared:
        """Return it over an operator that has added columns."""
        known = [r for r in self.scope.relations if r.qualifier != (self.RESULTS,)]
        before = [c for r in self.scope.relations if r.qualifier == (self.RESULTS,) for c in r.columns]
        results = (*before, *columns)
        # All names are merged: only the qualifier reaches a result, so that * does not give it to the user.
        added = ScopeRelation(_ALIAS, (self.RESULTS,), results, frozenset(c.name for c in results))
        return Prepared(node, replace(self.scope, relations=(*known, added)))

    def without_times(self, env: Environment, reason: str, span: Span) -> Prepared:
        """Return it with values in place of time attributes and windows: its rows come out at no certain time."""
        node = materialised(self.node, env, reason, span)
        # It is no time attribute that was lost on the way either: nobody may take it for one again.
        columns = iter(replace(c, shown=None) for c in node.columns)
        relations = [replace(r, columns=tuple(next(columns) for _ in r.columns)) for r in self.scope.relations]
        return Prepared(node, replace(self.scope, relations=tuple(relations)))


def over_calls(expressions: Sequence[Expr], select: Select, scope: Scope) -> tuple[OverCall, ...]:
    """Return the calls with OVER of some expressions.

    Raises:
        SqlExtError: OVER-001 for a named window that is not defined.
    """
    found: dict[Shape, OverCall] = {}
    for call in (p for e in expressions for p in _calls(e)):
        assert call.over is not None
        over = _resolved(call.over, select)
        resolved = replace(call, over=over)
        found.setdefault(shape(resolved, scope), OverCall(resolved, over, _RESULT.format(len(found))))
    return tuple(found.values())


def prepared(
    node: nodes.PlanNode,
    scope: Scope,
    select: Select,
    *,
    filtered: bool = True,
    kept: frozenset[tuple[str, str]] = frozenset(),
) -> Prepared:
    """Return the rows of a FROM, as one relation of the columns that the SELECT looks at.

    Args:
        filtered: whether they are those for which WHERE holds; the rest of the SELECT alone looks at them then.
        kept: alias and name of columns that are looked at besides.
    """
    builder = OutputBuilder(scope)
    relations = []
    used = _used_columns(replace(select, where=None) if filtered else select, scope) | kept
    for relation in scope.relations:
        first = len(builder.columns)
        for column in relation.columns:
            # These rows are kept in state, so columns that nobody reads are left out.
            if (relation.alias, column.name) in used:
                builder.add(column.name, None, Found(relation, column, ()))
        # Qualifiers stay, so that the names of the SELECT go on meaning the same columns.
        relations.append(replace(relation, alias=_ALIAS, columns=tuple(builder.columns[first:])))
    where = select.where if filtered else None
    project = nodes.Project(tuple(builder.columns), node, scope, tuple(builder.outputs), where)
    return Prepared(project, replace(scope, relations=tuple(relations)))


def _used_columns(select: Select, scope: Scope) -> set[tuple[str, str]]:
    """Return alias and name of each column that a SELECT looks at after its FROM: state holds no others."""
    parts = own_parts(replace(select, from_=None))
    found = (scope.find(p) for p in parts if isinstance(p, ColumnRef) and scope.has(p))
    used = {(f.relation.alias, f.column.name) for f in found}
    for star in (i.expr for i in select.items if isinstance(i.expr, Star)):
        named = (
            r for r in scope.relations if not star.qualifier or r.answers_to(star.qualifier, scope.mode == "spark")
        )
        used |= {(r.alias, c.name) for r in named for c in r.columns}
    return used


def aliased(rows: Prepared) -> nodes.PlanNode:
    """Return the relation under the name by which its scope knows it."""
    return nodes.Aliased(rows.node.columns, rows.node, _ALIAS)


def with_results_read(select: Select, calls: Sequence[OverCall], scope: Scope) -> Select:
    """Return the SELECT with every call replaced by the column of its result, and WHERE done."""
    names = {shape(c.call, scope): c.name for c in calls}

    def rule(node: Node) -> Node | None:
        if not isinstance(node, Call) or node.over is None:
            return None
        resolved = replace(node, over=_resolved(node.over, select))
        return ColumnRef(node.span, (Prepared.RESULTS, names[shape(resolved, scope)]))

    items = tuple(
        replace(item, expr=substitute(item.expr, rule), alias=item.alias or _name(item.expr, i))
        for i, item in enumerate(select.items)
    )
    qualify = substitute(select.qualify, rule) if select.qualify is not None else None
    # QUALIFY filters by results, so it is the WHERE of this SELECT; the user's own was asked below.
    return replace(select, items=items, where=qualify, qualify=None, windows=())


def with_windows_written_out(block: Block, _: Binding) -> Block:
    """Return a block whose select list names no window: what each one says is there instead.

    Raises:
        SqlExtError: OVER-001 for a named window that is not defined.
    """

    def rule(node: Node) -> Node | None:
        if not isinstance(node, Call) or node.over is None or node.over.name is None:
            return None
        return replace(node, over=_resolved(node.over, select))

    select = block.select
    items = tuple(replace(i, expr=substitute(i.expr, rule)) for i in select.items)
    return replace(block, select=replace(select, items=items, windows=()))


def with_aliases_in_qualify(block: Block, _: Binding) -> Block:
    """Return a block whose QUALIFY names no alias of its select list: what the alias stands for is there instead."""
    select, scope = block.select, block.scope
    if select.qualify is None:
        return block
    aliased_ = {i.alias: i.expr for i in select.items if i.alias is not None}

    def rule(node: Node) -> Node | None:
        if not isinstance(node, ColumnRef) or len(node.parts) != 1 or scope.has(node):
            return None
        return aliased_.get(node.parts[0])

    return replace(block, select=replace(select, qualify=substitute(select.qualify, rule)))


def has_over(select: Select) -> bool:
    """Whether a SELECT has calls with OVER, or QUALIFY, which is a condition on them."""
    return select.qualify is not None or any(True for i in select.items for _ in _calls(i.expr))


def needs_a_step(select: Select) -> bool:
    """Whether calls with OVER are computed below their SELECT also where rows are all there."""
    return select.qualify is not None or any(c.distinct for i in select.items for c in _calls(i.expr))


def window_expressions(select: Select) -> Iterator[Expr]:
    """Yield what the windows of a SELECT are partitioned and ordered by."""
    of_items = (c.over for i in select.items for c in _calls(i.expr))
    of_qualify = (c.over for c in (_calls(select.qualify) if select.qualify is not None else ()))
    for over in (*of_items, *of_qualify, *(w.over for w in select.windows)):
        if over is not None:
            yield from over.partition_by
            yield from (o.expr for o in over.order_by)


def _name(expr: Expr, place: int) -> str | None:
    """Return the name that Flink gives a column without one, where a call is all of it."""
    return f"EXPR${place}" if isinstance(expr, Call) and expr.over is not None else None


def _calls(expr: Expr) -> Iterator[Call]:
    yield from (p for p in own_parts(expr) if isinstance(p, Call) and p.over is not None)


def _resolved(over: OverSpec, select: Select) -> OverSpec:
    """Return a window with what the named one that it refers to says."""
    if over.name is None:
        return over
    named = next((w for w in select.windows if w.name == over.name), None)
    if named is None:
        message = f"there is no window `{over.name}` here"
        raise SqlExtError("OVER-001", message, span=over.span, hint=f"WINDOW {over.name} AS (...) defines it")
    base = _resolved(named.over, select)
    return replace(
        base,
        span=over.span,
        name=None,
        partition_by=over.partition_by or base.partition_by,
        order_by=over.order_by or base.order_by,
        frame=over.frame or base.frame,
    )
