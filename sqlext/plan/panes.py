"""Find the panes of a plan that reach its end, and in which form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlext.dialect.ast.expressions import Call
from sqlext.plan.changelog_functions import FromChangelog, ToChangelog
from sqlext.plan.firing import Firing
from sqlext.plan.nodes import Aggregate, Output, PlanNode, Project, SetQuery
from sqlext.plan.parts import own_parts
from sqlext.plan.stateful import Stateful
from sqlext_udfs.windows.policy import Session

#: Nodes whose rows are no panes of the groupings below them.
_OPAQUE = (Stateful, ToChangelog, FromChangelog)


def last_groupings(plan: PlanNode) -> Iterator[Aggregate]:
    """Yield the groupings whose rows are a plan's rows: those with no other one, or operator, above them."""
    if isinstance(plan, Aggregate):
        yield plan
        return
    if isinstance(plan, _OPAQUE):
        return
    for node in plan.inputs:
        yield from last_groupings(node)


def has_clause(plan: PlanNode) -> bool:
    """Whether an EMIT clause says when the rows of a plan come."""
    return any(a.emit for a in last_groupings(plan))


def untold(plan: PlanNode, *functions: str) -> Iterator[Firing]:
    """Yield the groupings that give each pane as a row, where no function says at the end of the plan which pane."""
    if isinstance(plan, SetQuery):
        for branch in plan.branches:
            yield from untold(branch, *functions)
    elif not _telling(plan, functions):
        yield from (a.firing for a in last_groupings(plan) if a.firing is not None and a.firing.panes == "each")


def _telling(plan: PlanNode, functions: tuple[str, ...]) -> frozenset[str]:
    """Return the physical columns that hold what the functions say."""
    if isinstance(plan, Aggregate):
        return frozenset(o.physical for o in plan.outputs if _calls(o, functions))
    if isinstance(plan, Project):
        below = _telling(plan.input, functions)
        columns = ((o.physical, o.handed_on) for o in plan.outputs)
        return frozenset(p for p, column in columns if column is not None and column.physical in below)
    return _telling(plan.inputs[0], functions) if len(plan.inputs) == 1 else frozenset()


def _calls(output: Output, functions: tuple[str, ...]) -> bool:
    parts = own_parts(output.expr) if output.expr is not None else ()
    return any(isinstance(p, Call) and p.function in functions for p in parts)


def as_changelog(plan: PlanNode) -> PlanNode:
    """Return a plan whose rows say what they do to the result, where they take back what they replace."""

    def rule(grouping: Aggregate) -> Aggregate:
        retracting = grouping.firing is not None and grouping.firing.policy.mode == "RETRACTING"
        shown = any(_calls(o, ("ROW_KIND",)) for o in grouping.outputs)
        return replace(grouping, final=True, retracts=True) if retracting and not shown else grouping

    return changed_groupings(plan, rule)


def merged_sessions_removed(plan: PlanNode) -> PlanNode:
    """Return a plan that takes back what it gave of sessions that are merged away, for a sink that keeps keys."""

    def rule(grouping: Aggregate) -> Aggregate:
        firing = grouping.firing
        if firing is None or not grouping.updating or not isinstance(firing.policy.window, Session):
            return grouping
        return replace(grouping, firing=replace(firing, policy=replace(firing.policy, mode="RETRACTING")))

    return changed_groupings(plan, rule)


def changed_groupings(plan: PlanNode, rule: Callable[[Aggregate], Aggregate]) -> PlanNode:
    """Return a plan with ``last_groupings`` changed."""
    if isinstance(plan, Aggregate):
        return rule(plan)
    if isinstance(plan, _OPAQUE):
        return plan
    inputs = tuple(changed_groupings(i, rule) for i in plan.inputs)
    return plan.with_inputs(inputs) if inputs else plan
