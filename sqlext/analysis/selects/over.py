"""Compute the calls with OVER of a SELECT below it, each by its operator."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.over.aggregations import bind_over
from sqlext.analysis.over.calls import (
    OverCall,
    Prepared,
    aliased,
    over_calls,
    prepared,
    window_expressions,
    with_results_read,
)
from sqlext.analysis.over.running import bind_running, goes_by_value
from sqlext.analysis.ranking.top_n import RANKINGS, bind_rank
from sqlext.analysis.ranking.windowed import bind_windowed, of_windows
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.relations.state_ttl import setting_ttl
from sqlext.analysis.types.inference import infer, infer_condition
from sqlext.analysis.windows.sessions import session_rows
from sqlext.dialect.ast.expressions import Star
from sqlext.plan import nodes
from sqlext.plan.columns import PlanColumn


def with_over(block: Block, binding: Binding) -> Block:
    """Return a block that reads the results of its calls with OVER; what was QUALIFY is WHERE then.

    Raises:
        SqlExtError: OVER-... for what is wrong with a call, JOIN-006 for a time to live that is no duration.
    """
    select, scope = block.select, block.scope
    conditions = tuple(e for e in (select.where, select.qualify) if e is not None)
    for item in select.items:
        if not isinstance(item.expr, Star):
            infer(item.expr, scope)
    for expr in conditions:
        infer_condition(expr, scope)
    for expr in window_expressions(select):
        infer(expr, scope)
    rows = prepared(session_rows(block.node), scope, select)
    expressions = [*(i.expr for i in select.items), *([select.qualify] if select.qualify is not None else [])]
    calls = over_calls(expressions, select, rows.scope)
    read = with_results_read(select, calls, rows.scope)
    rows = _computed(calls, rows, binding.env)
    return Block(read, aliased(rows), rows.scope)


def _computed(calls: Sequence[OverCall], rows: Prepared, env: Environment) -> Prepared:
    """Return rows with a column for the result of each call."""
    if not rows.node.streaming:
        ours = [c for c in calls if c.call.distinct]
        return bind_over(ours, _by_spark([c for c in calls if c not in ours], rows), env)
    ttl = setting_ttl(env)
    if windowed := of_windows(calls, rows):
        rows = bind_windowed(windowed, rows)
        calls = [c for c in calls if c not in windowed]
    others = [c for c in calls if c.call.function not in RANKINGS]
    by_value = [c for c in others if goes_by_value(c, rows.scope)]
    # Functions by time want rows that stay, so they come before those whose results change.
    rows = bind_over([c for c in others if c not in by_value], rows, env, ttl=ttl)
    rows = bind_running(by_value, rows, ttl)
    for call in calls:
        if call.call.function in RANKINGS:
            rows = bind_rank(call, rows, env)
    return rows


def _by_spark(calls: Sequence[OverCall], rows: Prepared) -> Prepared:
    """Return static rows with the results that Spark computes; it has no DISTINCT OVER."""
    if not calls:
        return rows
    results = [PlanColumn(c.name, infer(c.call, rows.scope), c.name) for c in calls]
    handed_on = [nodes.Output(p, None, PlanColumn(p, None, p), "__in") for p in rows.node.physical_columns()]
    computed = [nodes.Output(c.name, c.call) for c in calls]
    columns = (*rows.node.columns, *results)
    below = aliased(rows)
    node = nodes.Project(columns, below, rows.scope, (*handed_on, *computed))
    return rows.with_results(node, results)
