"""Say which part of an EMIT clause lets the panes of each phase come out."""

from __future__ import annotations

import re

from sqlext.dialect.emit.nodes import AfterWatermark, DefaultTrigger, EmitClause, Trigger
from sqlext.plan.firing import Phases
from sqlext_udfs.windows.policy import Global, Policy

#: Where the early and the late part of AFTER WATERMARK begin.
_PARTS = re.compile(r"\s+(?:EARLY|LATE)\b", re.IGNORECASE)


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
    every = trigger.span.one_line
    if not isinstance(trigger, AfterWatermark):
        return Phases(every, every, every)
    late = _part("LATE", trigger.late, trigger)
    lateness = dict(clause.places).get("lateness")
    if trigger.late is None and lateness is not None:  # each row that comes then, by default
        late = f"{every} {lateness.one_line}"
    return Phases(_part("EARLY", trigger.early, trigger), _PARTS.split(every)[0], late)


def _part(word: str, part: Trigger | None, whole: Trigger) -> str:
    # Other systems have one phrase for all of it.
    if part is None or part.span.start == whole.span.start:
        return whole.span.one_line
    return f"{word} {part.span.one_line}"


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
