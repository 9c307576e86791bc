"""Tell whether rows that came late can be missed in the state of a query."""

from __future__ import annotations

from sqlext.plan.base import PlanNode, walk
from sqlext.plan.grouping import Aggregate
from sqlext.plan.joins import JoinBound, StreamJoin
from sqlext.plan.nodes import AssignWindows, WindowKind
from sqlext.plan.over import WindowedOver
from sqlext.plan.ranking import Rank
from sqlext.plan.stateful import Stateful


def judges_rows(plan: PlanNode) -> bool:
    """Whether state that is still there can differ by a row that came late.

    It cannot by windows of a length that is given: the window of a late row is over, and its state is gone.
    """
    states = [node for node in walk(plan) if isinstance(node, Stateful) and node.keeps_state and node.event_time]
    sessions = any(isinstance(node, AssignWindows) and node.spec.kind is WindowKind.SESSION for node in walk(plan))
    return (sessions and bool(states)) or not all(map(_of_windows, states))


def _of_windows(node: Stateful) -> bool:
    match node:
        case Aggregate():
            return node.by.window is not None
        case Rank():
            return node.window is not None
        case StreamJoin():
            return node.bounded is JoinBound.WINDOW
        case _:
            return isinstance(node, WindowedOver)
