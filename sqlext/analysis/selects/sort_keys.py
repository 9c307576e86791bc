"""ORDER BY what SELECT does not give out: ``SELECT a FROM t ORDER BY b``, ``ORDER BY t.a``, ``ORDER BY SUM(x)``.

Such a key is computed as a further column of the SELECT and left out again above the sorting.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.relations.outputs import OutputBuilder
from sqlext.analysis.types.calls import is_aggregate
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr
from sqlext.dialect.ast.queries import Query, Select, SelectItem
from sqlext.plan import nodes
from sqlext.plan.parts import own_parts
from sqlext.plan.scope import Found, Scope

_KEY = "__sort_{}"


def with_hidden_keys(query: Query, scope: Scope) -> Query | None:
    """Return the query with its hidden sort keys as further columns, None if all keys are columns that come out.

    Args:
        scope: of the columns that come out.
    """
    body = query.body
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
