"""Render a column's value, by how the relation below holds it."""

from __future__ import annotations

from sqlext.connectors.formats.conversions import instant_to_wall, wall_to_instant
from sqlext.plan.columns import Part, PlanColumn, unique_names
from sqlext.plan.nodes import KIND, PlanNode
from sqlext.quoting import identifier
from sqlext_udfs.kernel.row_kinds import INSERT

#: One instant per micro-batch: Spark replaces it by the batch's own time (CurrentBatchTimestamp).
CLOCK = "current_timestamp()"
ONE_MILLI = "INTERVAL '0.001' SECOND"


def held(column: PlanColumn, alias: str = "") -> str:
    """Return the physical column, qualified."""
    return f"{identifier(alias)}.{identifier(column.physical)}" if alias else identifier(column.physical)


def instant(column: PlanColumn, alias: str = "") -> str:
    """Return a rowtime as the instant that Spark counts with."""
    text = held(column, alias)
    # Flink's window_time is the last millisecond inside the window.
    return f"({text}.end - {ONE_MILLI})" if column.window_bound == "time" else text


def as_type_of(column: PlanColumn, common: PlanColumn, zone: str) -> str:
    """Return a rowtime as the instant that stands for it in a column of ``common``'s type.

    A TIMESTAMP is held as the instant that its wall clock is in UTC, and a TIMESTAMP_LTZ as itself.
    """
    root, wanted = (c.type.root if c.type is not None else None for c in (column, common))
    if root == wanted or zone == "UTC":
        return instant(column)
    if wanted == "TIMESTAMP":
        return wall_to_instant(f"CAST({instant(column)} AS TIMESTAMP_NTZ)", zone)
    return f"CAST({instant_to_wall(instant(column), zone)} AS TIMESTAMP)"


def restored_instant(column: PlanColumn, zone: str) -> str:
    """Return the instant of a rowtime that is an ordinary value now: inside a query a TIMESTAMP is read as UTC."""
    text = value(column, zone)
    return text if column.type is not None and column.type.root == "TIMESTAMP_LTZ" else wall_to_instant(text, zone)


def value(column: PlanColumn, zone: str, alias: str = "") -> str:
    """Return a column's value in the user's type; the text is atomic."""
    text = held(column, alias)
    part = column.part
    if part is Part.VALUE:
        return text
    if part is Part.INSTANT:
        return instant_to_wall(text, zone)
    if part is Part.PROCTIME:
        return CLOCK
    if part in (Part.START, Part.END):
        return instant_to_wall(f"{text}.{column.window_bound}", zone)
    if part in (Part.LOCAL_START, Part.LOCAL_END):
        return f"CAST({text}.{column.window_bound} AS TIMESTAMP_NTZ)"
    if part in (Part.WALL_START, Part.WALL_END):
        return f"{text}.wall_{column.window_bound}"
    ltz = column.type is not None and column.type.root == "TIMESTAMP_LTZ"
    return instant(column, alias) if ltz else instant_to_wall(instant(column, alias), zone)


def kind_of(node: PlanNode) -> str:
    """Return the select item that says what a row of a relation does to a result."""
    return KIND if node.changelog else f"CAST({INSERT} AS TINYINT) AS {KIND}"


def default_outputs(plan: PlanNode, zone: str) -> tuple[tuple[str, str], ...]:
    """Return text and name of a plan's columns; a name that stands twice gets a number behind it."""
    names = unique_names(column.name for column in plan.columns)
    return tuple((value(column, zone), name) for column, name in zip(plan.columns, names, strict=True))
