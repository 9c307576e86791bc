"""Bind sessions whose rows are seen one by one: Spark's ``session_window`` cannot express them."""

from __future__ import annotations

from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import AssignWindows, PlanNode, WindowKind
from sqlext.plan.windows.session_rows import SessionRows


def session_rows(node: PlanNode) -> PlanNode:
    """Return rows that are looked at one by one: where they are in sessions, an operator tells them in which."""
    if isinstance(node, Aggregate):  # its sessions are its own
        return node
    if isinstance(node, AssignWindows):
        if node.spec.kind is not WindowKind.SESSION or isinstance(node, SessionRows):
            return node
        # Spark's session_window only aggregates: it tells no row which session it is in.
        return SessionRows(node.columns, node.input, node.spec, node.time, node.physical, node.custom, node.written)
    inputs = tuple(session_rows(i) for i in node.inputs)
    return node if all(a is b for a, b in zip(inputs, node.inputs, strict=True)) else node.with_inputs(inputs)
