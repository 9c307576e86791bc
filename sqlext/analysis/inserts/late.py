"""The INSERT into a late table that stands beside a query: its rows come out of the same operator."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.inserts.bound import LATE_ROWS, Assignment, BoundInsert, side_insert
from sqlext.analysis.names.environment import Environment
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn
from sqlext.plan.explain import walk
from sqlext.plan.firing import LateColumn, LateRows
from sqlext.plan.nodes import Aggregate, Aliased, PlanNode, Project


def late_insert(plan: PlanNode, env: Environment) -> BoundInsert | None:
    """Return where the late rows of a query go, None if it keeps none.

    Late rows travel to the end of the query beside its own. Only SELECT and WHERE can let them pass.

    Raises:
        SqlExtError: EMIT-118 if another step stands above the grouping that finds rows late.
    """
    found = [late for node in walk(plan) if (late := _late(node)) is not None]
    if not found:
        return None
    top = plan
    while isinstance(top, (Project, Aliased)):
        top = top.input
    if len(found) > 1 or _late(top) is None:
        raise SqlExtError(
            "EMIT-118",
            "LATE DATA TO must stand in the last grouping of a query: no join, set operation or grouping above it",
            span=found[0].span,
            hint="INSERT the grouping's rows into a table, and read that in a query of its own",
        )
    late = found[0]
    columns = {c.name: c for c in late.table.columns}
    assignments = tuple(Assignment(columns[c.name], _carried(c)) for c in late.columns)
    return side_insert(LATE_ROWS, late.table, plan, assignments, late.span, env)


def _late(node: PlanNode) -> LateRows | None:
    return node.firing.late if isinstance(node, Aggregate) and node.firing is not None else None


def _carried(column: LateColumn) -> PlanColumn:
    """Return the column of a late row on its way: under the name that the late table has for it."""
    return column.source if column.relation is None else replace(column.source, physical=column.name)
