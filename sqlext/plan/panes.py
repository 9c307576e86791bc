"""Find the groupings whose rows are a plan's rows: which panes come out, what holds their key, how they are read on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlext.dialect.ast.expressions import Call
from sqlext.plan.base import KEY_ALL, KEY_SET, PlanNode
from sqlext.plan.changelog_functions import FromChangelog, ToChangelog
from sqlext.plan.firing import Firing
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import Aliased, Output, Project, SetQuery, WindowKind
from sqlext.plan.scope import own_parts, shape
from sqlext.plan.stateful import Operator
from sqlext_udfs.windows.policy import Session

#: Nodes whose rows are no panes of the groupings below them.
_OPAQUE = (Operator, ToChangelog, FromChangelog)
#: The bounds that name a window among those of its kind; of others each one does.
_NAMING = {
    WindowKind.CUMULATE: (("end",), ("time",)),
    WindowKind.SESSION: (("start", "end"), ("start", "time")),
}


def last_groupings(plan: PlanNode) -> Iterator[Aggregate]:
    """Yield the groupings whose rows are a plan's rows: those with no other one, or operator, above them."""
    if isinstance(plan, Aggregate):
        yield plan
        return
    if isinstance(plan, _OPAQUE):
        return
    for node in plan.inputs:
        yield from last_groupings(node)


def last_firings(plan: PlanNode) -> Iterator[Firing]:
    """Yield how operators of ours keep ``last_groupings``."""
    yield from (a.kept for a in last_groupings(plan) if a.kept is not None)


def has_clause(plan: PlanNode) -> bool:
    """Whether an EMIT clause says when the rows of a plan come."""
    return any(a.firing is not None and a.firing.emit for a in last_groupings(plan))


def untold(plan: PlanNode, *functions: str) -> Iterator[Firing]:
    """Yield the groupings that give each pane as a row, where no function says at the end of the plan which pane."""
    if isinstance(plan, SetQuery):
        for branch in plan.branches:
            yield from untold(branch, *functions)
    elif not _telling(plan, functions):
        yield from (f for f in last_firings(plan) if f.panes == "each")


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
        retracting = grouping.kept is not None and grouping.kept.policy.mode == "RETRACTING"
        shown = any(_calls(o, ("ROW_KIND",)) for o in grouping.outputs)
        return replace(grouping, retracts=True) if retracting and not shown else grouping

    return changed_groupings(plan, rule)


def merged_sessions_removed(plan: PlanNode) -> PlanNode:
    """Return a plan that takes back what it gave of sessions that are merged away, for a sink that keeps keys."""

    def rule(grouping: Aggregate) -> Aggregate:
        firing = grouping.kept
        if firing is None or not grouping.updating or not isinstance(firing.policy.window, Session):
            return grouping
        # Only RETRACTING gives -D for a session that another one has taken in (rule M13 of EMIT).
        return replace(grouping, firing=replace(firing, policy=replace(firing.policy, mode="RETRACTING")))

    return changed_groupings(plan, rule)


def readable(node: PlanNode) -> PlanNode:
    """Return a relation whose rows, if they may change, say what they do to the result (``nodes.KIND``).

    A result that Spark updates by key is kept by an operator of ours instead, which takes back what it gave.
    """
    return changed_groupings(node, Aggregate.read_on) if node.updating else node


def changed_groupings(plan: PlanNode, rule: Callable[[Aggregate], Aggregate]) -> PlanNode:
    """Return a plan with ``last_groupings`` changed."""
    if isinstance(plan, Aggregate):
        return rule(plan)
    if isinstance(plan, _OPAQUE):
        return plan
    inputs = tuple(changed_groupings(i, rule) for i in plan.inputs)
    return plan.with_inputs(inputs) if inputs else plan


def visible_key(plan: PlanNode) -> tuple[str, ...] | None:
    """Return the physical columns that hold the whole key of an updating result, None if one is not shown."""
    key, grouping = _key(plan), plan
    while isinstance(grouping, (Aliased, Project)):
        grouping = grouping.input
    assign = grouping.assignment() if isinstance(grouping, Aggregate) else None
    if not key or assign is None:
        return key
    shown = {c.window_bound for c in plan.columns if c.physical == key[-1]}
    naming = _NAMING.get(assign.spec.kind, (("start",), ("end",), ("time",)))
    return key if any(shown.issuperset(n) for n in naming) else None


def _key(plan: PlanNode) -> tuple[str, ...] | None:
    """Return the physical columns of the key, that of the window last."""
    if isinstance(plan, Aliased):
        return _key(plan.input)
    if isinstance(plan, Project):
        below = _key(plan.input)
        if below is None:
            return None
        names = {o.handed_on.physical: o.physical for o in plan.outputs if o.handed_on is not None}
        return tuple(names[b] for b in below) if all(b in names for b in below) else None
    if not isinstance(plan, Aggregate) or KEY_SET in plan.by.hidden or KEY_ALL in plan.by.hidden:
        return None
    keys = {o.physical: o.expr for o in plan.outputs if o.physical in plan.by.hidden}
    shown = {
        shape(o.expr, plan.scope): o.physical for o in plan.outputs if o.expr is not None and o.physical not in keys
    }
    # A key is shown if the user selects an expression of its shape, under whatever name.
    found = [shown.get(shape(e, plan.scope)) for e in keys.values() if e is not None]
    if plan.by.window is not None:
        found.append(plan.by.window if any(c.physical == plan.by.window for c in plan.columns) else None)
    return None if None in found else tuple(f for f in found if f is not None)
