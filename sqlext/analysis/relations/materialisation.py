"""Convert the columns of a relation to plain values: no window struct, no instant behind a wall clock."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast.expressions import ColumnRef
from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.nodes import Aliased, Output, PlanNode, Project
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.source import Span

_ALIAS = "__m"


def materialised(node: PlanNode, env: Environment, reason: str, span: Span) -> PlanNode:
    """Return ``node`` with every column computed to its value; time attributes are lost for ``reason``."""
    if all(c.part is Part.VALUE and c.time is None for c in node.columns):
        return node
    # Numbered, as two columns of a result may have one name.
    numbered = tuple(replace(c, name=f"__{i}") for i, c in enumerate(node.columns))
    scope = Scope((ScopeRelation(_ALIAS, (_ALIAS,), numbered),), env.mode, env.zone)
    outputs = []
    columns: list[PlanColumn] = []
    for i, column in enumerate(node.columns):
        outputs.append(Output(f"{column.name}_{i}", ColumnRef(span, (_ALIAS, f"__{i}"))))
        plain = replace(column.plain(reason, span), shown=column.time or column.shown)
        columns.append(replace(plain, physical=f"{column.name}_{i}", part=Part.VALUE))
    return Project(tuple(columns), Aliased(numbered, node, _ALIAS), scope, tuple(outputs))
