"""The text of the nodes that operators of ours keep: each kind in a file of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlext.plan.current_rows import CurrentRows
from sqlext.plan.joins import StreamJoin
from sqlext.plan.matching import Match
from sqlext.plan.over import Over
from sqlext.plan.ranking import Rank
from sqlext.plan.stateful import Stateful
from sqlext.plan.watermark_column import WatermarkColumn
from sqlext.rewrite.operators.current_rows import current_rows_sql
from sqlext.rewrite.operators.joins import stream_join_sql
from sqlext.rewrite.operators.matching import match_sql
from sqlext.rewrite.operators.over import over_sql
from sqlext.rewrite.operators.ranking import rank_sql
from sqlext.rewrite.operators.watermark_column import watermark_column_sql

if TYPE_CHECKING:
    from sqlext.rewrite.script.renderer import Renderer

_TEXTS: dict[type[Stateful], Callable[[Any, Renderer], str]] = {
    CurrentRows: current_rows_sql,
    Match: match_sql,
    Over: over_sql,
    Rank: rank_sql,
    StreamJoin: stream_join_sql,
    WatermarkColumn: watermark_column_sql,
}


def operator_sql(node: Stateful, renderer: Renderer) -> str:
    """Return a node as a query over the view of its operator: its physical columns, hidden ones included."""
    return _TEXTS[type(node)](node, renderer)
