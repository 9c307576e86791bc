"""Find how far ahead of the clock the rows of a relation may be."""

from __future__ import annotations

from sqlext.plan.base import walk
from sqlext.plan.nodes import PlanNode, Scan


def future_limit(node: PlanNode) -> int | None:
    """Return how far (ms) rowtimes may be ahead of the clock, the strictest of all scans; None if none says."""
    limits = (n.future for n in walk(node) if isinstance(n, Scan) and n.future is not None)
    return min(limits, default=None)
