"""Updating results as changelogs: what an operator above them reads."""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan.nodes import Aggregate, PlanNode
from sqlext.plan.panes import changed_groupings


def readable(node: PlanNode) -> PlanNode:
    """Return a relation whose rows, if they may change, say what they do to the result (``nodes.KIND``).

    A result that Spark updates by key is kept by an operator of ours instead, which takes back what it gave.
    """
    return changed_groupings(node, _retracting) if node.updating else node


def _retracting(grouping: Aggregate) -> Aggregate:
    if not grouping.updating:
        return grouping
    return replace(grouping, final=True, retracts=True, firing=grouping.retracting)
