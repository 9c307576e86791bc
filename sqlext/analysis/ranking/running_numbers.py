"""Turn ranks by time that have no filter into functions OVER: each row keeps its number."""

from __future__ import annotations

from sqlext.analysis.over.aggregations import merged
from sqlext.analysis.over.frames import frame_of
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import PlanNode
from sqlext.plan.over import Framed, Over
from sqlext.plan.ranking import Rank


def with_running_numbers(plan: PlanNode) -> PlanNode:
    """Return a plan in which numbers by time that nobody filters are given out with their rows, which are final.

    Raises:
        SqlExtError: OVER-110 for a frame.
    """
    return plan.transform(_numbered)


def _numbered(node: PlanNode) -> PlanNode:
    if not isinstance(node, Rank) or node.last is not None or node.window is not None or node.sources[0].changelog:
        return node
    time = _time(node)
    if (node.order and time is None) or node.latest_first:
        return node
    numbers = (Framed(node.call, frame_of(node.call), node.number),)
    made = Over(
        node.columns,
        node.sources,
        scope=node.scope,
        functions=numbers,
        partition=node.partition,
        time=time,
        ttl=node.ttl,
    )
    # One operator, and one state, for all functions over the same window.
    return merged(made)


def _time(rank: Rank) -> PlanColumn | None:
    """Return the rowtime that is all of ORDER BY, ascending; the order of arrival has none."""
    if len(rank.order) != 1 or rank.order[0].descending:
        return None
    found = rank.scope.bare(rank.order[0].expr)
    return found.column if found is not None and found.column.is_rowtime else None
