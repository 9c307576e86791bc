"""Add computed columns to a relation of FROM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.relations.outputs import OutputBuilder
from sqlext.dialect.ast.expressions import Expr
from sqlext.plan import nodes
from sqlext.plan.columns import PlanColumn
from sqlext.plan.scope import Found, Scope, ScopeRelation


def extended(
    node: nodes.PlanNode,
    relations: Sequence[ScopeRelation],
    computed: Sequence[tuple[str, Expr]],
    names: Scope,
    alias: str,
) -> tuple[nodes.PlanNode, list[ScopeRelation], tuple[PlanColumn, ...]]:
    """Return a relation with computed columns, its names as it gives them, and these columns.

    Args:
        node: the relation.
        relations: its names.
        computed: name and expression of each further column.
        names: what the expressions' names mean; has ``relations`` first.
        alias: under which the result is known.
    """
    builder = OutputBuilder(names)
    for name, expr in computed:
        builder.add(name, expr, None)
    for relation in relations:
        for column in relation.columns:
            builder.add(column.name, None, Found(relation, column, ()))
    project = nodes.Project(tuple(builder.columns), node, names, tuple(builder.outputs))
    # Computed columns come first: * gives the columns of USING before all others.
    place = len(computed)
    known = []
    for relation in relations:
        own = tuple(builder.columns[place : place + len(relation.columns)])
        known.append(replace(relation, alias=alias, columns=own))
        place += len(relation.columns)
    return nodes.Aliased(project.columns, project, alias), known, tuple(builder.columns[: len(computed)])
