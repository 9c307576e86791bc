"""Answer what follows from a trigger alone: whether it finishes, merges, looks at rows, and how it continues."""

from __future__ import annotations

from sqlext_udfs.windows.policy import Global, Policy, Session
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterDelay,
    AfterDelta,
    AfterIdle,
    AfterWatermark,
    AllOf,
    AnyOf,
    Case,
    EachOf,
    EveryAligned,
    EveryEventTime,
    EveryPeriod,
    EveryRow,
    Purging,
    Repeat,
    SameBatch,
    Timeout,
    Trigger,
    Until,
    Using,
    When,
    tree,
)

# Finished once they have fired.
_FINISH_BY_THEMSELVES = (AfterCount, AfterDelay, AfterIdle, AfterDelta, When, SameBatch)
# A grouping over their panes fires with each batch that brings some.
_FIRE_WITH_THEIR_BATCH = (EveryPeriod, EveryAligned, EveryEventTime)
# The order and the values of single rows matter to them.
_LOOK_AT_ROWS = (AfterDelta, When, Case, Using)
# They have deadlines of the batch clock.
_USE_CLOCK = (AfterDelay, EveryPeriod, EveryAligned, AfterIdle, Timeout, Using)


def can_finish(trigger: Trigger) -> bool:
    """Return whether a trigger can come to its end, so that ONCE means something (EMIT-017)."""
    if isinstance(trigger, _FINISH_BY_THEMSELVES):
        return True
    if isinstance(trigger, AfterWatermark):
        return trigger.late is None
    if isinstance(trigger, AllOf | EachOf):
        return all(can_finish(t) for t in trigger.of)
    if isinstance(trigger, AnyOf):
        return any(can_finish(t) for t in trigger.of)
    if isinstance(trigger, Until):
        return can_finish(trigger.main) or can_finish(trigger.until)
    if isinstance(trigger, Timeout | Purging):
        return can_finish(trigger.of)
    return False


def continuation(trigger: Trigger) -> Trigger:
    """Return the trigger of a grouping over the panes of this one: ``EMIT CONTINUE`` (EMIT.md section 3, M12)."""
    # Beam's getContinuationTrigger: the counting is done, and each pane that comes is worth one.
    if isinstance(trigger, AfterCount):
        return AfterCount(1, trigger.at_least)
    if isinstance(trigger, AfterDelay | AfterIdle):
        return SameBatch()
    if isinstance(trigger, _FIRE_WITH_THEIR_BATCH):
        return EveryRow()
    if isinstance(trigger, AfterDelta | When):
        return AfterCount(1)
    if isinstance(trigger, Case | Using):
        return Repeat(AfterCount(1))
    if isinstance(trigger, Timeout):
        return AnyOf((continuation(trigger.of), SameBatch()))
    return _continued_parts(trigger)


def _continued_parts(trigger: Trigger) -> Trigger:
    if isinstance(trigger, AfterWatermark):
        early, late = (None if t is None else continuation(t) for t in (trigger.early, trigger.late))
        return AfterWatermark(early, late, trigger.delay, trigger.timeout)
    if isinstance(trigger, AllOf):
        return AllOf(tuple(continuation(t) for t in trigger.of))
    if isinstance(trigger, AnyOf):
        return AnyOf(tuple(continuation(t) for t in trigger.of))
    if isinstance(trigger, EachOf):
        return Repeat(AnyOf(tuple(continuation(t) for t in trigger.of)))
    if isinstance(trigger, Until):
        return Repeat(Until(continuation(trigger.main), continuation(trigger.until)))
    if isinstance(trigger, Purging):
        return Purging(continuation(trigger.of))
    return Repeat(continuation(trigger.of)) if isinstance(trigger, Repeat) else trigger


def batch_insensitive(policy: Policy) -> bool:
    """Return whether rows of one key, window and micro-batch may be combined into one element before the engine.

    Not where a trigger counts or looks at single rows, an evictor needs them, or the pane's time is one of theirs.
    """
    if policy.evictor is not None or policy.pane_timestamp != "END_OF_WINDOW":
        return False
    # Whether a row belongs to a closed session, and which multiple comes first, is asked before sessions merge.
    by_event_time = any(isinstance(t, EveryEventTime) for t in tree(policy.trigger))
    if isinstance(policy.window, Session) and (policy.once or by_event_time):
        return False
    return not any(
        isinstance(t, _LOOK_AT_ROWS) or (isinstance(t, AfterCount) and not t.at_least) for t in tree(policy.trigger)
    )


def keeps_rows(policy: Policy) -> bool:
    """Return whether each row is kept in state, so that aggregates are not incremental (EMIT-105)."""
    return policy.evictor is not None


def not_mergeable(trigger: Trigger) -> Trigger | None:
    """Return a part that cannot be used with sessions (EMIT-106). A registered one can if its class has on_merge."""
    return next((t for t in tree(trigger) if isinstance(t, AfterDelta | Timeout)), None)


def uses_watermark(policy: Policy) -> bool:
    """Return whether the watermark means anything to a policy."""
    if policy.processing_time:
        return False
    return not isinstance(policy.window, Global) or any(isinstance(t, EveryEventTime) for t in tree(policy.trigger))


def ends_with_input(policy: Policy) -> bool:
    """Return whether a policy without the watermark has panes to give when a bounded input ends (M14, M19)."""
    if uses_watermark(policy) or policy.processing_time:
        return False
    return policy.trigger != EveryRow() and policy.final_pane != "NEVER" and not policy.once


def uses_clock(policy: Policy) -> bool:
    """Return whether a policy asks for the batch clock, so that its query must run batches without data (M3)."""
    if policy.processing_time or policy.timeout is not None:
        return True
    return any(isinstance(t, _USE_CLOCK) for t in tree(policy.trigger))
