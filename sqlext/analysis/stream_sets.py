"""UNION, INTERSECT, EXCEPT and DISTINCT of rows that change, or that wait for each other: groupings by all columns.

``a INTERSECT b`` are the groups that have rows of both sides, ``a EXCEPT b`` those with rows of the first side alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlext.analysis.outputs import OutputBuilder
from sqlext.analysis.scope import Found, Scope, ScopeRelation
from sqlext.dialect.expression_nodes import Literal
from sqlext.dialect.queries import parse_query_text
from sqlext.dialect.query_nodes import Select
from sqlext.plan import nodes
from sqlext.plan.columns import PlanColumn
from sqlext.source import Span
from sqlext.types import INT

if TYPE_CHECKING:
    from sqlext.analysis.queries import QueryBinder

_SIDE = "side"
_HAVING = {
    "UNION": "",
    "INTERSECT": f"HAVING COUNT(*) FILTER (WHERE {_SIDE} = 0) > 0 AND COUNT(*) FILTER (WHERE {_SIDE} = 1) > 0",
    "EXCEPT": f"HAVING COUNT(*) FILTER (WHERE {_SIDE} = 0) > 0 AND COUNT(*) FILTER (WHERE {_SIDE} = 1) = 0",
}
_ALIAS = "__set"


def each_once(queries: QueryBinder, op: str, branches: Sequence[nodes.PlanNode], span: Span) -> nodes.PlanNode:
    """Return each different row of a set operation once.

    Args:
        queries: binds the grouping.
        op: ``UNION`` (of one branch: DISTINCT), ``INTERSECT`` or ``EXCEPT``.
        branches: of plain columns, the same in all.
        span: where the operation stands.
    """
    from sqlext.analysis.selects import SelectBinder

    tagged = [_with_side(b, i, queries, span) for i, b in enumerate(branches)]
    columns = tagged[0].columns
    whole = nodes.SetQuery(columns, "UNION ALL", tuple(tagged)) if len(tagged) > 1 else tagged[0]
    names = ", ".join(c.name for c in columns[:-1])
    text = f"SELECT {names} FROM x GROUP BY {names} {_HAVING[op]}"
    body = parse_query_text(text, queries.env.mode, op).body
    assert isinstance(body, Select)
    scope = Scope((ScopeRelation(_ALIAS, (), columns),), queries.env.mode, queries.env.zone)
    node = SelectBinder(queries).bound(replace(body, from_=None), nodes.Aliased(columns, whole, _ALIAS), scope)
    shown = tuple(
        replace(c, name=first.name, type=first.type) for c, first in zip(node.columns, branches[0].columns, strict=True)
    )
    return replace(node, columns=shown)


def _with_side(branch: nodes.PlanNode, side: int, queries: QueryBinder, span: Span) -> nodes.PlanNode:
    """Return a branch's columns as c0, c1, ... and, last, which side it is."""
    relation = ScopeRelation("__b", (), branch.columns)
    scope = Scope((relation,), queries.env.mode, queries.env.zone)
    builder = OutputBuilder(scope)
    for i, column in enumerate(branch.columns):
        builder.add(f"c{i}", None, Found(relation, column, ()))
    builder.add(_SIDE, Literal(span, "NUMBER", str(side)), None)
    columns = (*builder.columns[:-1], PlanColumn(_SIDE, INT.not_null(), builder.columns[-1].physical))
    below = nodes.Aliased(branch.columns, branch, "__b")
    return nodes.Project(columns, below, scope, tuple(builder.outputs))
