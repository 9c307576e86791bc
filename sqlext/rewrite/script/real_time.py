"""Tell whether a query can run in Spark's real-time mode: its rows go through as they come, in no micro-batches.

Spark's mode knows no state, no ``foreachBatch`` and no readers in Python (``RealTimeModeAllowlist`` of Spark 4.2).
"""

from __future__ import annotations

from sqlext.analysis.inserts.bound import APPEND, BoundInsert
from sqlext.capabilities import REAL_TIME as MODE
from sqlext.capabilities import has
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.plan.base import walk
from sqlext.plan.nodes import Aliased, PlanNode, Project, Scan
from sqlext.rewrite.script.model import SparkScript
from sqlext.settings import REAL_TIME, Settings, parse_duration

#: Ms that a batch lasts at least; Spark's ``spark.sql.streaming.realTimeMode.minBatchDuration``.
_LEAST = 5_000


def asked_for(settings: Settings) -> int | None:
    """Return how many ms a batch of real-time mode is to last, None where it was not asked for."""
    return parse_duration(settings.get(REAL_TIME) or "")


def require_real_time(insert: BoundInsert, script: SparkScript, batch: int, *, ends: bool) -> None:
    """Refuse a query that cannot run in real-time mode; arguments as of ``why_not``.

    Raises:
        SqlExtError: OPT-041.
    """
    reason = why_not(insert, script, batch, ends=ends)
    if reason is not None:
        message = f"the query cannot run in real-time mode: {reason}"
        raise SqlExtError(
            "OPT-041", message, span=insert.span, hint=f"RESET '{REAL_TIME}' lets it run in micro-batches"
        )


def told(insert: BoundInsert, script: SparkScript, batch: int, *, ends: bool) -> str:
    """Return how rows come to a sink, for EXPLAIN; arguments as of ``why_not``."""
    reason = why_not(insert, script, batch, ends=ends)
    if reason is not None:
        return f"real-time mode is not possible: {reason}"
    return f"real-time mode: rows go through as they come, at least once; the place is noted each {batch} ms"


def why_not(insert: BoundInsert, script: SparkScript, batch: int, *, ends: bool) -> str | None:
    """Return what keeps a query from real-time mode, None if nothing does.

    Args:
        batch: ms that a batch is to last.
        ends: whether its input has an end.
    """
    if not has(MODE):
        return f"this Spark has none, Spark {MODE.since} has"
    if batch < _LEAST:
        return f"a batch lasts at least {_LEAST} ms, not {batch}"
    if ends or not script.streaming:
        return "its input has an end"
    return _of_plan(insert.plan) or _of_target(insert) or _of_script(script)


def _of_plan(plan: PlanNode) -> str | None:
    nodes = list(walk(plan))
    other = next((node for node in nodes if not isinstance(node, (Scan, Aliased, Project))), None)
    if other is not None:
        return f"it has more than SELECT and WHERE over one topic ({type(other).__name__})"
    for scan in (node for node in nodes if isinstance(node, Scan)):
        if reason := connector_of(scan.table).not_real_time(scan.table, written=False):
            return f"`{scan.table.name.name}`: {reason}"
    return None


def _of_target(insert: BoundInsert) -> str | None:
    if insert.mode != APPEND or insert.overwrite:
        return "its rows replace others"
    reason = connector_of(insert.table).not_real_time(insert.table, written=True)
    return f"`{insert.table.name.name}`: {reason}" if reason else None


def _of_script(script: SparkScript) -> str | None:
    if script.sides:
        return f"rows go to `{script.sides[0].table.name.name}` beside its own"
    if script.kept or script.heartbeat:
        return "its watermark is moved by rows of a second source"
    return "Python works on its rows" if script.runs_python else None
