"""``EMIT CONTINUE``: a grouping over panes fires as its input did (EMIT clause, section 3, rule M12)."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.emit.policy import Number, policy_of
from sqlext.dialect.emit.nodes import ContinueTrigger, DefaultTrigger, EmitClause
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.explain import walk
from sqlext_udfs.windows.policy import Policy, WindowKind
from sqlext_udfs.windows.triggers.rules import continuation


def clause_policy(
    clause: EmitClause, node: nodes.PlanNode, window: WindowKind, number: Number, *, processing_time: bool
) -> Policy:
    """Return the policy of a clause over its input.

    Raises:
        SqlExtError: EMIT-110 for CONTINUE over an input that has no EMIT of its own.
    """
    if not isinstance(clause.trigger, ContinueTrigger):
        return policy_of(clause, window, number, processing_time=processing_time)
    plain = replace(clause, trigger=DefaultTrigger(clause.trigger.span))
    policy = policy_of(plain, window, number, processing_time=processing_time)
    return replace(policy, trigger=continuation(_input_policy(clause, node).trigger))


def _input_policy(clause: EmitClause, node: nodes.PlanNode) -> Policy:
    for below in walk(node):
        if isinstance(below, nodes.Aggregate) and below.firing is not None and below.emit:
            return below.firing.policy
    raise SqlExtError(
        "EMIT-110",
        "CONTINUE needs an input with its own EMIT",
        span=clause.trigger.span,
        hint="write EMIT ... DISCARDING in the sub-query or view that this SELECT reads",
    )
