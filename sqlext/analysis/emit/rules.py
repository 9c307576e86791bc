"""Refuse EMIT clauses that mean nothing, and note what users should know of accepted ones (EMIT clause, section 8).

The registered classes of USING TRIGGER and EVICT USING are looked up here, as they may be unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.analysis.emit.policy import is_constant
from sqlext.dialect.emit import nodes as e
from sqlext.errors import SqlExtError
from sqlext.user_functions import UserFunction, UserFunctions
from sqlext_udfs.windows.policy import Global, LimitedSession, Policy, Session, WindowKind
from sqlext_udfs.windows.triggers.rules import keeps_rows, not_mergeable
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterDelay,
    AfterWatermark,
    Delay,
    EveryAligned,
    EveryPeriod,
    Trigger,
    WindowClose,
    tree,
)

#: Name and qualified class of the triggers and evictors that a clause uses.
Used = tuple[tuple[str, str], ...]
_CLOSES = (e.AfterWatermark, e.WindowClose)
_OF_EVENT_TIME = (e.AfterWatermark, e.WindowClose, e.EveryEventTime)


def check_clause(clause: e.EmitClause, policy: Policy, source: str | None) -> None:
    """Check that a clause means something for its grouping.

    Args:
        clause: as written.
        policy: what it was understood as.
        source: the table whose watermark there is, None without one.

    Raises:
        SqlExtError: EMIT-102, EMIT-103, EMIT-104, EMIT-106, EMIT-113, EMIT-117.
    """
    windowed = not isinstance(policy.window, Global)
    event_time = windowed and not policy.processing_time
    if not windowed and any(isinstance(t, (AfterWatermark, WindowClose)) for t in tree(policy.trigger)):
        # The policy decides, as CONTINUE brings triggers of the input; the message points at a written one, if any.
        at = next((t for t in _triggers(clause.trigger) if isinstance(t, _CLOSES)), clause.trigger)
        message = "this GROUP BY has no window, so the watermark never ends it"
        hint = "EMIT EVERY 10s, EMIT EVERY 100 ROWS, or GROUP BY window_start, window_end of a window"
        raise SqlExtError("EMIT-103", message, span=at.span, hint=hint)
    for trigger in _triggers(clause.trigger):
        if isinstance(trigger, _OF_EVENT_TIME) and (source is None or (windowed and not event_time)):
            message = f"{_name(trigger)} needs an event-time column with a WATERMARK; the input declares none"
            raise SqlExtError("EMIT-102", message, span=trigger.span)
        if isinstance(trigger, (e.AfterDelay, e.EveryPeriod)):
            _check_alignment(trigger)
    if (policy.lateness or clause.late_table is not None) and not event_time:
        late = "lateness" if policy.lateness else "late_table"
        # Under ONCE the rows after its pane are late as well, with or without event time.
        if late == "lateness" or not clause.once:
            what = "ALLOW LATENESS" if late == "lateness" else "LATE DATA TO"
            message = f"{what} applies to event-time windows only"
            raise SqlExtError("EMIT-104", message, span=clause.place(late))
    if isinstance(policy.window, Session) and not_mergeable(policy.trigger) is not None:
        stays = next(t for t in _triggers(clause.trigger) if isinstance(t, (e.AfterDelta, e.Timeout)))
        message = f"{_name(stays)} does not support merging and cannot be used with SESSION windows"
        raise SqlExtError("EMIT-106", message, span=stays.span)
    if isinstance(policy.window, LimitedSession) and (policy.lateness or not policy.gives_one_pane):
        message = "sessions with a maximum length give one result, when the watermark has passed their end"
        hint = "where one ends is not known before: leave EMIT out, or the maximum"
        raise SqlExtError("EMIT-122", message, span=clause.span, hint=hint)
    if isinstance(clause.evictor, e.KeepDuration) and source is None:
        message = "KEEP LAST <duration> needs an event-time column (Flink's evictor then silently keeps everything)"
        raise SqlExtError("EMIT-117", message, span=clause.evictor.span)


def check_using(clause: e.EmitClause, window: WindowKind, functions: UserFunctions) -> Used:
    """Return the triggers and evictors that a clause uses.

    Raises:
        SqlExtError: EMIT-040 for an unknown one, EMIT-041 for a wrong number of arguments, EMIT-106 for a trigger
            that cannot merge over sessions.
    """
    used = []
    for trigger in (n for n in clause.trigger.walk() if isinstance(n, e.UsingTrigger)):
        constants = [a for a in trigger.arguments if is_constant(a)]
        found = _used("trigger", trigger, len(constants), functions)
        if isinstance(window, Session) and not found.merges:
            message = f"trigger `{found.name}` does not support merging and cannot be used with SESSION windows"
            raise SqlExtError("EMIT-106", message, span=trigger.span, hint="give its class on_merge(context, others)")
        used.append(found)
    if isinstance(clause.evictor, e.EvictUsing):
        used.append(_used("evictor", clause.evictor, len(clause.evictor.arguments), functions))
    return tuple(dict.fromkeys((f.name, f.implementation) for f in used))


def _used(kind: str, node: e.UsingTrigger | e.EvictUsing, count: int, functions: UserFunctions) -> UserFunction:
    try:
        found = functions.require("trigger" if kind == "trigger" else "evictor", node.name, "EMIT-040")
    except SqlExtError as error:
        raise error.at(node.span) from None
    wrong = found.check_count(count)
    if wrong is not None:
        hint = "columns and other expressions of a row go to on_row, not to the class" if kind == "trigger" else None
        raise SqlExtError("EMIT-041", wrong, span=node.span, hint=hint)
    return found


def notes(clause: e.EmitClause, policy: Policy, ordered: bool) -> Iterator[str]:
    """Yield what a user should know of a clause that is accepted; EXPLAIN shows it."""
    if keeps_rows(policy):
        yield "EMIT-105: rows are kept in state until the window expires; the aggregate is not incremental"
    if clause.once:
        yield "EMIT-109: rows that arrive after the trigger finished are dropped"
    exact = any(isinstance(t, AfterCount) and not t.at_least for t in tree(policy.trigger))
    if exact and not ordered:
        yield (
            "EMIT-112: the order of rows inside a micro-batch is not defined; panes of EVERY n ROWS may differ "
            "after a retry"
        )
    if isinstance(clause.evictor, e.KeepDuration) and clause.place("evictor").text.upper().startswith("LAST"):
        yield "LAST <duration> is measured from the newest row, not from now"


def period_notes(policy: Policy, interval: int) -> Iterator[str]:
    """Yield where a policy wants to fire more often than there are micro-batches, ``interval`` ms apart."""
    periods = (_period(t) for t in tree(policy.trigger))
    if any(p is not None and p < interval for p in periods):
        yield f"EMIT-115: fires at most once per micro-batch (interval {interval} ms)"


def _period(trigger: Trigger) -> int | None:
    if isinstance(trigger, (EveryPeriod, EveryAligned)):
        return trigger.ms
    return sum(t.ms for t in trigger.transforms if isinstance(t, Delay)) if isinstance(trigger, AfterDelay) else None


def _check_alignment(trigger: e.AfterDelay | e.EveryPeriod) -> None:
    for transform in trigger.transforms:
        if isinstance(transform, e.Align) and transform.offset >= transform.period:
            raise SqlExtError("EMIT-113", "OFFSET must be smaller than ALIGNED TO", span=transform.span)


def _triggers(trigger: e.Trigger) -> Iterator[e.Trigger]:
    yield from (n for n in trigger.walk() if isinstance(n, e.Trigger))


_NAMES: dict[type[e.Trigger], str] = {
    e.AfterWatermark: "AFTER WATERMARK",
    e.WindowClose: "ON WINDOW CLOSE",
    e.EveryEventTime: "EVERY <duration> OF EVENT TIME",
    e.AfterDelta: "AFTER DELTA",
    e.Timeout: "TIMEOUT",
}


def _name(trigger: e.Trigger) -> str:
    return _NAMES.get(type(trigger), "this trigger")
