"""Compile a query that is handed on as a DataFrame: its rowtimes stay event time to Spark.

A rowtime comes out as the instant that Spark's watermark counts in. It is a TIMESTAMP even where the user's type is
TIMESTAMP(3), whose wall clock is read as UTC.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.names.environment import Environment
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import PlanNode, TagTime
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.expressions.columns import default_outputs, instant
from sqlext.rewrite.script.begun import BY_SPARK
from sqlext.rewrite.script.model import SparkScript, SqlView, Step, TagView

_VIEW = "sqlext_frame"


def frame_script(plan: PlanNode, env: Environment) -> SparkScript:
    """Return the script of a query whose result goes on as a DataFrame."""
    names = [name for _, name in default_outputs(plan, env.zone)]
    times = [name for name, column in zip(names, plan.columns, strict=True) if _is_event_time(column, plan)]
    outputs = tuple(
        (instant(column) if column.is_rowtime else text, name)
        for (text, name), column in zip(default_outputs(plan, env.zone), plan.columns, strict=True)
    )
    return _tagged(script_of(_waiting(plan), env, outputs, end=InputEnd.CATCH_UP, begun=BY_SPARK), times)


def _waiting(plan: PlanNode) -> PlanNode:
    """Return the plan with marks of event time on top, so that the scans below get their watermarks."""
    for physical in dict.fromkeys(c.physical for c in plan.columns if _is_event_time(c, plan)):
        plan = TagTime(plan.columns, plan, physical)
    return plan


def _is_event_time(column: PlanColumn, plan: PlanNode) -> bool:
    return plan.streaming and column.is_rowtime


def _tagged(script: SparkScript, times: list[str]) -> SparkScript:
    """Return the script with these columns of its query marked: an expression has lost the mark."""
    if not times:
        return script
    steps: list[Step] = [SqlView(_VIEW, script.query)]
    steps += [TagView(f"{_VIEW}_{i}", steps[-1].view, name) for i, name in enumerate(times)]
    return replace(script, steps=(*script.steps, *steps), query=f"SELECT * FROM {steps[-1].view}")
