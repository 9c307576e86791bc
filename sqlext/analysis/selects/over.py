"""Which operator computes a call with OVER."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.over.calls import OverCall, Prepared, aliased
from sqlext.analysis.over.functions import bind_over
from sqlext.analysis.relations.state_ttl import setting_ttl
from sqlext.analysis.selects.ranking import RANKINGS, bind_rank
from sqlext.analysis.types.inference import infer
from sqlext.plan import nodes
from sqlext.plan.columns import PlanColumn


def bind_over_calls(calls: Sequence[OverCall], rows: Prepared, env: Environment) -> Prepared:
    """Return rows with a column for the result of each call.

    Raises:
        SqlExtError: OVER-... for what is wrong with a call, JOIN-006 for a time to live that is no duration.
    """
    if not rows.node.streaming:
        ours = [c for c in calls if c.call.distinct]
        return bind_over(ours, _by_spark([c for c in calls if c not in ours], rows))
    rows = bind_over([c for c in calls if c.call.function not in RANKINGS], rows, ttl=setting_ttl(env))
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
