"""Find the steps of a plan whose state nothing bounds: no watermark, window, interval, rank or time to live."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlext.dialect.ast.queries import GroupingSets
from sqlext.plan import nodes
from sqlext.plan.stateful import Stateful
from sqlext.source import Span
from sqlext_udfs.windows.policy import Global


@dataclass(frozen=True, slots=True)
class UnboundedState:
    """A step whose state grows with its input; ``span``: the clause that asks for it, where it has one."""

    what: str
    span: Span | None


def unbounded_states(plan: nodes.PlanNode) -> Iterator[UnboundedState]:
    """Yield the steps over streams that keep state for ever, the top first."""
    if plan.streaming:
        found = _unbounded(plan)
        if found is not None:
            yield found
    for node in plan.inputs:
        yield from unbounded_states(node)


def kept_for(ttl: int) -> str:
    """Return how long state with a time to live (ms) is kept."""
    return f"for {ttl} ms of processing time after the last row"


def _unbounded(node: nodes.PlanNode) -> UnboundedState | None:
    if isinstance(node, Stateful):
        return None if node.bound else UnboundedState(node.what, node.clause)
    if isinstance(node, nodes.Operator):
        return None if node.ttl is not None else UnboundedState("DISTINCT of whole rows", None)
    if not isinstance(node, nodes.Aggregate) or node.window is not None:
        return None
    policy = node.firing.policy if node.firing is not None else None
    if node.firing is not None and node.firing.ttl is not None:
        return None
    if policy is not None and (policy.once or not isinstance(policy.window, Global)):
        return None
    keys = node.group_by
    if keys:
        return UnboundedState(f"GROUP BY {', '.join(_text(k) for k in keys)} without a window", keys[0].span)
    # Without keys there is one row of accumulators; but rows that change are kept themselves.
    return UnboundedState("an aggregate of rows that change", None) if node.input.changelog else None


def _text(item: object) -> str:
    span = getattr(item, "span", None)
    kind = f"{item.kind} " if isinstance(item, GroupingSets) else ""
    return kind if span is None else span.one_line
