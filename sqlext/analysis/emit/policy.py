"""Translate an EMIT clause into the policy of an operator.

The trigger tree stays; where the clause has expressions, the policy has their numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlext.analysis.emit.conditions import condition_json
from sqlext.dialect.ast.expressions import Literal, NamedArgument, Node, Unary, is_literal
from sqlext.dialect.emit import nodes as e
from sqlext.errors import SqlExtError
from sqlext.plan.base import PlanNode, walk
from sqlext.plan.grouping import Aggregate
from sqlext.plan.scope import Scope
from sqlext_udfs.windows import policy as p
from sqlext_udfs.windows.triggers import tree as t
from sqlext_udfs.windows.triggers.rules import continuation

#: Gives the number of a value of each row: an expression, or the action of a CASE.
Number = Callable[[Node], int]


def policy_of(
    clause: e.EmitClause, window: p.WindowKind, number: Number, scope: Scope, *, processing_time: bool = False
) -> p.Policy:
    """Return the policy of a clause.

    Args:
        clause: with a trigger of its own (no CONTINUE).
        window: the windows of the grouping.
        number: registers what triggers and evictors look at.
        scope: of the rows.
        processing_time: whether the windows are of processing time.
    """
    binder = _Binder(number, window, scope, processing_time)
    mode: Any = clause.mode or ("RETRACTING" if clause.output == "CHANGELOG" else "ACCUMULATING")
    panes: Any = {"ALWAYS": "ALWAYS", "IF NOT EMPTY": "IF_NOT_EMPTY", "NEVER": "NEVER"}
    # Beam's default: TimestampCombiner.END_OF_WINDOW.
    stamps: Any = (clause.pane_timestamp or "END OF WINDOW").replace(" ", "_")
    options: Any = dict(clause.options)
    return p.Policy(
        window,
        binder.trigger(clause.trigger),
        processing_time=processing_time,
        once=clause.once,
        mode=mode,
        lateness=clause.lateness or 0,
        on_time_pane=panes[clause.on_time_pane] if clause.on_time_pane else None,
        # Beam's default: ClosingBehavior.FIRE_IF_NON_EMPTY.
        final_pane=panes[clause.final_pane or "IF NOT EMPTY"],
        pane_timestamp=stamps,
        evictor=binder.evictor(clause.evictor) if clause.evictor is not None else None,
        evict_after=clause.evictor is not None and not clause.evictor.before,
        options=p.Options(**options),
    )


def clause_policy(
    clause: e.EmitClause, node: PlanNode, window: p.WindowKind, number: Number, scope: Scope, *, processing_time: bool
) -> p.Policy:
    """Return the policy of a clause over its input; with CONTINUE it fires as the input did (rule M12).

    Raises:
        SqlExtError: EMIT-110 for CONTINUE over an input that has no EMIT of its own.
    """
    if not isinstance(clause.trigger, e.ContinueTrigger):
        return policy_of(clause, window, number, scope, processing_time=processing_time)
    plain = replace(clause, trigger=e.DefaultTrigger(clause.trigger.span))
    policy = policy_of(plain, window, number, scope, processing_time=processing_time)
    return replace(policy, trigger=continuation(_input_policy(clause, node).trigger))


def _input_policy(clause: e.EmitClause, node: PlanNode) -> p.Policy:
    for below in walk(node):
        if isinstance(below, Aggregate) and below.kept is not None and below.kept.emit:
            return below.kept.policy
    raise SqlExtError(
        "EMIT-110",
        "CONTINUE needs an input with its own EMIT",
        span=clause.trigger.span,
        hint="write EMIT ... DISCARDING in the sub-query or view that this SELECT reads",
    )


class _Binder:
    def __init__(self, number: Number, window: p.WindowKind, scope: Scope, processing_time: bool) -> None:
        self.number = number
        self.scope = scope
        self.window = window
        self.processing_time = processing_time

    def trigger(self, node: e.Trigger) -> t.Trigger:
        """Return a trigger of the clause as one of the operator."""
        made: t.Trigger = _TRIGGERS[type(node)](node, self)
        return made

    def optional(self, node: e.Trigger | None) -> t.Trigger | None:
        return None if node is None else self.trigger(node)

    def parts(self, nodes: tuple[e.Trigger, ...]) -> tuple[t.Trigger, ...]:
        return tuple(self.trigger(n) for n in nodes)

    def condition(self, node: e.When) -> t.When:
        text, columns = condition_json(node.condition, self.number, self.scope)
        return t.When(text, columns)

    def arguments(self, nodes: tuple[Node, ...]) -> tuple[t.Argument, ...]:
        return tuple(_constant(n) for n in nodes)

    def evictor(self, node: e.Evictor) -> p.Evictor:
        """Return an evictor of the clause as one of the operator."""
        if isinstance(node, e.KeepRows):
            return p.KeepCount(node.n)
        if isinstance(node, e.KeepDuration):
            return p.KeepTime(node.ms)
        if isinstance(node, e.KeepDelta):
            return p.KeepDelta(float(node.threshold), node.absolute, self.number(node.expression))
        return p.KeepUsing(node.name, self.arguments(node.arguments))


def _transforms(transforms: tuple[e.Transform, ...]) -> tuple[t.Delay | t.Align, ...]:
    return tuple(t.Delay(x.ms) if isinstance(x, e.Delay) else t.Align(x.period, x.offset) for x in transforms)


def _using(node: e.UsingTrigger, binder: _Binder) -> t.Trigger:
    constants = tuple(a for a in node.arguments if is_constant(a))
    columns = tuple(binder.number(a) for a in node.arguments if not is_constant(a))
    return t.Using(node.name, binder.arguments(constants), columns)


def is_constant(node: Node) -> bool:
    """Whether an argument is the same for all rows: it goes to the class, others to its ``on_row``."""
    if isinstance(node, NamedArgument):
        return is_constant(node.value)
    return is_literal(node)


def _constant(node: Node) -> t.Argument:
    if isinstance(node, NamedArgument):
        return _constant(node.value)
    if isinstance(node, Unary) and isinstance(node.operand, Literal):
        value = _constant(node.operand)
        return -value if node.op == "-" and isinstance(value, (int, float)) else value
    if not isinstance(node, Literal):
        raise SqlExtError("EMIT-030", "this must be a constant", span=node.span)
    if node.kind == "NUMBER":
        return int(node.value) if node.value.isdigit() else float(node.value)
    if node.kind == "BOOLEAN":
        return node.value == "TRUE"
    return None if node.kind == "NULL" else node.value


_TRIGGERS: dict[type[e.Trigger], Callable[[Any, _Binder], t.Trigger]] = {
    e.AfterCount: lambda n, b: t.AfterCount(n.n, n.at_least),
    e.EveryRow: lambda n, b: t.EveryRow(),
    e.AfterDelay: lambda n, b: t.AfterDelay(_transforms(n.transforms)),
    e.EveryPeriod: lambda n, b: t.EveryPeriod(n.ms, _transforms(n.transforms)),
    e.EveryAligned: lambda n, b: t.EveryAligned(n.ms, n.repeat),
    e.EveryEventTime: lambda n, b: t.EveryEventTime(n.ms, n.repeat),
    e.AfterIdle: lambda n, b: t.AfterIdle(n.ms, n.of_query),
    e.AfterDelta: lambda n, b: t.AfterDelta(float(n.threshold), n.absolute, b.number(n.expression)),
    e.When: lambda n, b: b.condition(n),
    e.CaseTrigger: lambda n, b: t.Case(b.number(n)),
    e.UsingTrigger: _using,
    e.AfterWatermark: lambda n, b: t.AfterWatermark(b.optional(n.early), b.optional(n.late), n.delay or 0, n.timeout),
    e.WindowClose: lambda n, b: t.WindowClose(n.delay or 0, n.timeout),
    e.Never: lambda n, b: t.Never(),
    e.AllOf: lambda n, b: t.AllOf(b.parts(n.parts)),
    e.AnyOf: lambda n, b: t.AnyOf(b.parts(n.parts)),
    e.EachOf: lambda n, b: t.EachOf(b.parts(n.parts)),
    e.Until: lambda n, b: t.Until(b.trigger(n.main), b.trigger(n.until)),
    e.Repeat: lambda n, b: t.Repeat(b.trigger(n.of)),
    e.Timeout: lambda n, b: t.Timeout(b.trigger(n.of), n.ms, n.since_last_row, n.keep_state),
    e.Purging: lambda n, b: t.Purging(b.trigger(n.of)),
    e.DefaultTrigger: lambda n, b: p.default_trigger(b.window),
}
