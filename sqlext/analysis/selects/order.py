"""Bind ORDER BY, LIMIT and OFFSET.

A stream is sorted by time, or its first rows are a Top-N of all rows. ``SELECT a FROM t ORDER BY b`` computes ``b`` as
a further column of the SELECT and leaves it out again above the sorting.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.ranking.first_rows import first_rows
from sqlext.analysis.relations.outputs import OutputBuilder
from sqlext.analysis.types.calls import is_aggregate
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr
from sqlext.dialect.ast.queries import Query, Select, SelectItem
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.columns import Time
from sqlext.plan.over import Over
from sqlext.plan.panes import readable
from sqlext.plan.scope import Found, Scope, own_parts

_KEY = "__sort_{}"


def ordered_stream(query: Query, node: nodes.PlanNode, scope: Scope) -> nodes.PlanNode:
    """Return a query's rows in time, or its first rows.

    Args:
        query: with ORDER BY, LIMIT or OFFSET.
        node: its rows.
        scope: of their columns.

    Raises:
        SqlExtError: ORDER-001 for an order that only the end of the stream would give, ORDER-002 for a limit that is
            no number.
    """
    (relation,) = scope.relations
    # Ranks of rows that change must see each one taken back.
    below = nodes.Aliased(node.columns, readable(node), relation.alias)
    return _sorted(query, below, scope) if query.limit is None else _first(query, below, scope)


def _sorted(query: Query, below: nodes.PlanNode, scope: Scope) -> nodes.PlanNode:
    """Flink: "Sort on a non-time-attribute field is not supported"; nor is OFFSET without an end."""
    item = query.order_by[0] if query.order_by else None
    found = scope.bare(item.expr) if item is not None else None
    time = found.column if found is not None else None
    if item is None or time is None or time.time is None or item.descending or below.changelog or query.offset:
        raise SqlExtError(
            "ORDER-001",
            "a stream can be sorted by a time attribute, forward; this order needs its end",
            span=item.expr.span if item is not None else query.span,
            hint="add LIMIT n for the first n rows; SET 'execution.runtime-mode' = 'batch' sorts all of them",
        )
    if time.time is Time.PROCTIME:  # rows come in that order
        return below
    # An OVER aggregation gives its rows in the order of their time; without functions it is a sort.
    return Over(below.columns, (below,), scope=scope, functions=(), time=time)


def _first(query: Query, below: nodes.PlanNode, scope: Scope) -> nodes.PlanNode:
    rank = first_rows(query, below, scope)
    relation = scope.relations[0]
    builder = OutputBuilder(scope)
    for column in below.columns:
        builder.add(column.name, None, Found(relation, column, ()))
    top = nodes.Aliased(rank.columns, rank, relation.alias)
    return nodes.Project(tuple(builder.columns), top, scope, tuple(builder.outputs))


def with_hidden_keys(query: Query, scope: Scope) -> Query | None:
    """Return the query with its hidden sort keys as further columns, None if all keys are columns that come out.

    Args:
        scope: of the columns that come out.
    """
    body = query.body
    # A further column would make more rows distinct, and a set operation has none to add.
    if not isinstance(body, Select) or body.distinct:
        return None
    items, order_by = list(body.items), []
    for i, order in enumerate(query.order_by):
        if _comes_out(order.expr, scope):
            order_by.append(order)
            continue
        name = _KEY.format(i)
        items.append(SelectItem(order.expr.span, order.expr, name))
        order_by.append(replace(order, expr=ColumnRef(order.expr.span, (name,))))
    if len(items) == len(body.items):
        return None
    return replace(query, body=replace(body, items=tuple(items)), order_by=tuple(order_by))


def without_hidden_keys(node: nodes.PlanNode, width: int, scope: Scope) -> nodes.PlanNode:
    """Return the first ``width`` columns of a sorted relation, in its order."""
    (relation,) = scope.relations
    builder = OutputBuilder(scope)
    for column in node.columns[:width]:
        builder.add(column.name, None, Found(relation, column, ()))
    aliased = nodes.Aliased(node.columns, node, relation.alias)
    return nodes.Project(tuple(builder.columns), aliased, scope, tuple(builder.outputs))


def _comes_out(expr: Expr, scope: Scope) -> bool:
    parts = tuple(own_parts(expr))
    aggregates = any(isinstance(p, Call) and is_aggregate(p, scope.mode) for p in parts)
    return not aggregates and all(scope.has(p) for p in parts if isinstance(p, ColumnRef))
