"""Render Top-N and deduplication: rows go in, those in range come out."""

from __future__ import annotations

from sqlext.dialect.ast.queries import OrderItem
from sqlext.plan.nodes import KIND
from sqlext.plan.ranking import Rank
from sqlext.plan.scope import Scope
from sqlext.quoting import identifier
from sqlext.rewrite.expressions.columns import instant
from sqlext.rewrite.operators.step import SpecifiedStep
from sqlext.rewrite.relations.operator_input import InputColumns, OperatorInput
from sqlext.rewrite.relations.rendering import Rendering
from sqlext_udfs.ranking.specification import Emission

_NUMBER = "__number"


def rank_sql(node: Rank, renderer: Rendering) -> str:
    """Return the query of the rows in range."""
    (below,) = node.sources
    rows = InputColumns()
    rows.texts += [renderer.expr(e, node.scope) for e in node.partition]
    if node.window is not None:
        window = identifier(node.window.physical)
        rows.texts += [f"unix_millis({window}.start)", f"unix_millis({window}.end)"]
    keys = len(rows.texts)
    columns = below.physical_columns()
    out = tuple(rows.place(identifier(c)) for c in columns if c != KIND)
    order = tuple(sort_key(o, rows, node.scope, renderer) for o in node.order)
    # In one batch no row comes late, so the first row is known where it is read, as in any Top-1.
    emission = Emission.CHANGES if _never_late(renderer) and node.emission is Emission.FIRST else node.emission
    time = None
    if emission is Emission.WINDOW:
        # The end of the window, which is the last key.
        time = keys - 1
    elif emission is Emission.FIRST and node.time is not None:
        time = rows.place(f"unix_millis({instant(node.time)})")
    specification = (
        ("keys", keys),
        ("out", out),
        ("order", order),
        ("ranking", node.ranking.value),
        ("first", node.first),
        ("last", node.last),
        ("numbered", node.numbered),
        ("emission", emission.value),
        ("time", time),
        ("kind", rows.place(KIND) if below.changelog else None),
        ("latest_first", node.latest_first),
        ("ttl", node.ttl),
    )
    names = tuple(c for c in columns if c != KIND)
    operated = SpecifiedStep(node, specification, (*names, _NUMBER)).over(renderer, OperatorInput(below, rows.texts))
    type_ = node.columns[-1].type
    value = str(node.last) if node.first == node.last else _NUMBER
    number = f"CAST({value} AS {type_.spark() if type_ else 'BIGINT'}) AS {identifier(node.number)}"
    shown = [*(identifier(c) for c in names), number, *node.hidden]
    return f"SELECT {', '.join(shown)} FROM {operated}"


def _never_late(renderer: Rendering) -> bool:
    """Whether all rows are one step: who takes them step by step asks for rows as they come, not packed."""
    return renderer.at_once and renderer.packs


def sort_key(item: OrderItem, rows: InputColumns, scope: Scope, renderer: Rendering) -> tuple[int, bool, bool]:
    """Return an item of ORDER BY; Flink and Spark both take NULL for the least value."""
    nulls_first = item.nulls == "FIRST" if item.nulls else not item.descending
    return rows.place(renderer.expr(item.expr, scope)), item.descending, nulls_first
