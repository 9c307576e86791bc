"""Say which part of an EMIT clause lets the panes of each phase come out."""

from __future__ import annotations

from dataclasses import replace

from sqlext.dialect.emit.nodes import AfterWatermark, DefaultTrigger, EmitClause
from sqlext.dialect.emit.printing import trigger_text
from sqlext.plan.firing import Phases
from sqlext_udfs.windows.policy import Global, Policy


def phases_of(clause: EmitClause | None, policy: Policy) -> Phases:
    """Return the trigger of early panes, of those on time, and of late ones, as they are written.

    Args:
        clause: None where there is none: then by the default, or by SET.
        policy: what it means.
    """
    if clause is None or isinstance(clause.trigger, DefaultTrigger):
        every = _default(policy)
        return Phases(every, every, every)
    trigger = clause.trigger
    every = trigger_text(trigger)
    if not isinstance(trigger, AfterWatermark):
        return Phases(every, every, every)
    plain = trigger_text(replace(trigger, early=None, late=None))
    early = f"EARLY {trigger_text(trigger.early)}" if trigger.early is not None else every
    late = f"LATE {trigger_text(trigger.late)}" if trigger.late is not None else every
    return Phases(early, plain, late)


def _default(policy: Policy) -> str:
    if isinstance(policy.window, Global):
        return "EVERY ROW (the default)"
    return (
        "the end of the window by the clock (the default)"
        if policy.processing_time
        else "AFTER WATERMARK (the default)"
    )


def by_settings() -> Phases:
    """Return the triggers where ``table.exec.emit.*`` says them."""
    return Phases(
        "'table.exec.emit.early-fire.delay'", "AFTER WATERMARK (the default)", "'table.exec.emit.late-fire.delay'"
    )


def of_batch() -> Phases:
    """Return what there is in place of a trigger over rows that stand still."""
    return Phases(*["batch mode: one result, of all rows"] * len(Phases._fields))
