"""Render the current rows of a table: records go in, changes come out."""

from __future__ import annotations

from sqlext.plan.current_rows import CurrentRows
from sqlext.plan.nodes import KIND, POSITION
from sqlext.quoting import identifier
from sqlext.rewrite.operators.step import SpecifiedStep
from sqlext.rewrite.relations.operator_input import InputColumns, OperatorInput
from sqlext.rewrite.relations.rendering import Rendering


def current_rows_sql(node: CurrentRows, renderer: Rendering) -> str:
    """Return the query of the changes."""
    (below,) = node.sources
    rows = InputColumns([identifier(name) for name in node.primary])
    names = tuple(c for c in below.physical_columns() if c not in below.hidden)
    specification = (
        ("keys", len(node.primary)),
        ("out", tuple(rows.place(identifier(c)) for c in names)),
        ("kind", rows.place(KIND)),
        ("position", rows.place(POSITION)),
        ("ttl", node.ttl),
    )
    operated = SpecifiedStep(node, specification, names).over(renderer, OperatorInput(below, rows.texts))
    return f"SELECT {', '.join([*(identifier(c) for c in names), *node.hidden])} FROM {operated}"
