"""Sessions whose rows are looked at one by one."""

from __future__ import annotations

from dataclasses import replace

from sqlext.plan import nodes
from sqlext.plan.windows import WindowKind


def session_rows(node: nodes.PlanNode) -> nodes.PlanNode:
    """Return a FROM in which the rows of a session are looked at one by one, if it has sessions."""
    inner = node.input if isinstance(node, nodes.Aliased) else node
    if not isinstance(inner, nodes.AssignWindows) or inner.spec.kind is not WindowKind.SESSION:
        return node
    rows = replace(inner, by_rows=True)
    return replace(node, input=rows) if isinstance(node, nodes.Aliased) else rows
