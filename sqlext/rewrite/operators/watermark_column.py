"""Render CURRENT_WATERMARK: rows pass through an operator that knows the watermark."""

from __future__ import annotations

from sqlext.plan.nodes import KIND
from sqlext.plan.watermark_column import WATERMARK, WatermarkColumn
from sqlext.quoting import identifier
from sqlext.rewrite.operators.step import SpecifiedStep
from sqlext.rewrite.relations.operator_input import InputColumns, OperatorInput
from sqlext.rewrite.relations.rendering import Rendering


def watermark_column_sql(node: WatermarkColumn, renderer: Rendering) -> str:
    """Return the query of the rows with their watermark as an instant."""
    (below,) = node.sources
    # No column of the rows says where they go: those of one key would part, and come out in another order.
    rows = InputColumns(["0"])
    names = tuple(c for c in below.physical_columns() if c != KIND)
    specification = (
        ("keys", len(rows.texts)),
        ("out", tuple(rows.place(identifier(c)) for c in names)),
        ("kind", rows.place(KIND) if below.changelog else None),
    )
    operated = SpecifiedStep(node, specification, (*names, WATERMARK)).over(
        renderer, OperatorInput(below, rows.texts, in_order=True)
    )
    stamp = f"timestamp_millis({WATERMARK}) AS {WATERMARK}"
    return f"SELECT {', '.join([*(identifier(c) for c in names), stamp, *node.hidden])} FROM {operated}"
