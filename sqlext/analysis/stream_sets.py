"""UNION, INTERSECT, EXCEPT and DISTINCT of rows that change, or that wait for each other: groupings by all columns.

``a INTERSECT b`` are the groups that have rows of both sides, ``a EXCEPT b`` those with rows of the first side alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlext.analysis.scope import Scope, ScopeRelation
from sqlext.dialect.queries import parse_query_text
from sqlext.dialect.query_nodes import Select
from sqlext.plan import nodes

if TYPE_CHECKING:
    from sqlext.analysis.queries import QueryBinder

_SIDE = "side"
_HAVING = {
    "UNION": "",
    "INTERSECT": f"HAVING COUNT(*) FILTER (WHERE {_SIDE} = 0) > 0 AND COUNT(*) FILTER (WHERE {_SIDE} = 1) > 0",
    "EXCEPT": f"HAVING COUNT(*) FILTER (WHERE {_SIDE} = 0) > 0 AND COUNT(*) FILTER (WHERE {_SIDE} = 1) = 0",
}
_ALIAS = "__set"


def each_once(queries: QueryBinder, op: str, branches: Sequence[nodes.PlanNode]) -> nodes.PlanNode:
    """Return each different row of a set operation once.

    Args:
        queries: binds the grouping.
        op: ``UNION`` (of one branch: DISTINCT), ``INTERSECT`` or ``EXCEPT``.
        branches: of plain columns, the same in all.
    """
    tagged = [_with_side(b, i, queries, op) for i, b in enumerate(branches)]
    columns = tagged[0].columns
    whole = nodes.SetQuery(columns, "UNION ALL", tuple(tagged)) if len(tagged) > 1 else tagged[0]
    names = ", ".join(c.name for c in columns[:-1])
    node = _bound(queries, f"SELECT {names} FROM x GROUP BY {names} {_HAVING[op]}", whole, op)
    shown = (
        replace(c, name=first.name, type=first.type) for c, first in zip(node.columns, branches[0].columns, strict=True)
    )
    return replace(node, columns=tuple(shown))


def _with_side(branch: nodes.PlanNode, side: int, queries: QueryBinder, op: str) -> nodes.PlanNode:
    """Return a branch's columns as c0, c1, ... and, last, which side it is."""
    renamed = tuple(replace(c, name=f"c{i}") for i, c in enumerate(branch.columns))
    names = ", ".join(c.name for c in renamed)
    return _bound(queries, f"SELECT {names}, {side} AS {_SIDE} FROM x", replace(branch, columns=renamed), op)


def _bound(queries: QueryBinder, text: str, below: nodes.PlanNode, op: str) -> nodes.PlanNode:
    """Return a SELECT over a relation, which the text calls x."""
    from sqlext.analysis.selects import SelectBinder

    body = parse_query_text(text, queries.env.mode, op).body
    assert isinstance(body, Select)
    scope = Scope((ScopeRelation(_ALIAS, (), below.columns),), queries.env.mode, queries.env.zone)
    return SelectBinder(queries).bound(replace(body, from_=None), nodes.Aliased(below.columns, below, _ALIAS), scope)
