"""Compile triggers that look at rows: DELTA, WHEN, CASE and USING TRIGGER."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from sqlext_udfs.windows.triggers.hooks import Action, Condition, TriggerContext, UserTrigger
from sqlext_udfs.windows.triggers.moment import FIRES, FIRES_EMPTY, MAX, MIN, NOT, TriggerMoment
from sqlext_udfs.windows.triggers.nodes import Held, TriggerLayout, TriggerNode
from sqlext_udfs.windows.triggers.tree import AfterDelta


class DeltaNode(TriggerNode):
    """AFTER DELTA: Flink's DeltaTrigger. The first row only sets the reference, a NULL does nothing.

    The reference outlives firings and purges; it is the last row before this trigger started again.
    """

    def __init__(self, layout: TriggerLayout, trigger: AfterDelta) -> None:
        super().__init__(layout)
        self.threshold, self.absolute, self.column = trigger.threshold, trigger.absolute, trigger.column
        self.moved = layout.bit()
        self.reference = layout.slot("float")
        self.last = layout.slot("float")

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        value = moment.value(self.column)
        if isnan(value):
            return
        reference = group.slots[self.reference]
        group.slots[self.last] = value
        if reference is None:
            group.slots[self.reference] = value
            return
        delta = abs(value - reference) if self.absolute else value - reference
        if delta > self.threshold and not self.done(group):
            group.bits |= self.moved

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        return FIRES if group.bits & self.moved else NOT

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        self.clear(group)
        group.bits |= self.finished

    def clear(self, group: Held) -> None:
        group.bits &= ~self.moved
        # The next delta is measured from the last row before the trigger starts again.
        group.slots[self.reference] = group.slots[self.last]


class WhenNode(TriggerNode):
    """WHEN: the aggregate is that of the contents, so it begins again when they are emptied, not at a pane."""

    def __init__(self, layout: TriggerLayout, condition: Condition, columns: tuple[int, ...]) -> None:
        super().__init__(layout)
        self.condition, self.columns = condition, columns
        self.slot = layout.slot("json")

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        state = group.slots[self.slot]
        values = tuple(moment.value(c) for c in self.columns)
        group.slots[self.slot] = self.condition.add(self.condition.start() if state is None else state, values)

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        if self.done(group) or group.slots[self.slot] is None:
            return NOT
        return FIRES if self.condition.holds(group.slots[self.slot]) else NOT

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        group.bits |= self.finished

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        state = None
        for of_old in (old.slots[self.slot] for old in olds):
            both = state is not None and of_old is not None
            state = self.condition.merge(state, of_old) if both else (of_old if state is None else state)
        group.slots[self.slot] = state

    def clear(self, group: Held) -> None:
        """Keep the aggregate: it belongs to the contents."""

    def emptied(self, group: Held) -> None:
        group.slots[self.slot] = None


class ActionNode(TriggerNode):
    """CASE and USING: an action that was asked for is remembered until it is done."""

    def __init__(self, layout: TriggerLayout) -> None:
        super().__init__(layout)
        self.fire, self.purge = layout.bit(), layout.bit()

    def take(self, group: Held, moment: TriggerMoment, action: Action) -> None:
        """Do an action: a purge at once, a firing when the trigger is asked."""
        # A purge takes back a firing that was asked for: what it was to show is gone.
        if action == Action.PURGE:
            moment.purge = True
            group.bits &= ~(self.fire | self.purge)
        elif action & Action.FIRE:
            group.bits |= self.fire | (self.purge if action & Action.PURGE else 0)

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        moment.purge = moment.purge or bool(group.bits & self.purge)
        group.bits &= ~(self.fire | self.purge)

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        for old in olds:
            group.bits |= old.bits & (self.fire | self.purge)

    def clear(self, group: Held) -> None:
        group.bits &= ~(self.fire | self.purge)


class CaseNode(ActionNode):
    """CASE ... END: each row carries its action."""

    def __init__(self, layout: TriggerLayout, column: int) -> None:
        super().__init__(layout)
        self.column = column

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        value = moment.value(self.column)
        if not isnan(value):
            self.take(group, moment, Action(int(value)))

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        return FIRES if group.bits & self.fire else NOT


class UsingNode(ActionNode):
    """USING TRIGGER: a registered class. It may fire with nothing new. Its state is one JSON object."""

    has_clock_deadlines = True
    has_event_deadlines = True

    def __init__(self, layout: TriggerLayout, trigger: UserTrigger, columns: tuple[int, ...]) -> None:
        super().__init__(layout)
        self.trigger, self.columns = trigger, columns
        self.slot = layout.slot("json")

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        context = self._context(group, moment)
        values = tuple(moment.value(c) for c in self.columns)
        action = self.trigger.on_row(moment.rowtime, values, context)
        self._keep(group, context)
        self.take(group, moment, action)

    def tick(self, group: Held, moment: TriggerMoment) -> None:
        context = self._context(group, moment)
        for time in sorted(t for t in context.processing_timers if moment.due(t)):
            context.processing_timers.discard(time)
            self.take(group, moment, self.trigger.on_processing_time(time, context))
        self._keep(group, context)

    def tock(self, group: Held, moment: TriggerMoment) -> None:
        context = self._context(group, moment)
        for time in sorted(t for t in context.event_timers if t <= moment.watermark):
            context.event_timers.discard(time)
            self.take(group, moment, self.trigger.on_event_time(time, context))
        self._keep(group, context)

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        # As Flink's FIRE: a user's trigger may fire a window to which nothing new has come.
        return FIRES_EMPTY if group.bits & self.fire else NOT

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        super().merge(group, olds, moment)
        context = self._context(group, moment)
        self.trigger.on_merge(context, [self._context(old, moment) for old in olds])
        self._keep(group, context)

    def clear(self, group: Held) -> None:
        super().clear(group)
        if group.slots[self.slot] is not None:
            context = self._context(group, None)
            self.trigger.clear(context)
            self._keep(group, context)

    def processing(self, group: Held) -> int:
        return min((group.slots[self.slot] or {}).get("p", ()), default=MAX)

    def event(self, group: Held, moment: TriggerMoment) -> int:
        return min((group.slots[self.slot] or {}).get("e", ()), default=MAX)

    def _context(self, group: Held, moment: TriggerMoment | None) -> TriggerContext:
        kept = group.slots[self.slot] or {}
        bounded = group.end != MAX
        return TriggerContext(
            start=group.start if bounded else None,
            end=group.end if bounded else None,
            now=moment.now if moment else MIN,
            watermark=moment.watermark if moment and moment.watermark != MIN else None,
            state=kept.get("s", {}),
            event_timers=set(kept.get("e", ())),
            processing_timers=set(kept.get("p", ())),
        )

    def _keep(self, group: Held, context: TriggerContext) -> None:
        # None where nothing is kept: so a group may be back in its first state, and forgotten.
        kept = {"s": context.state, "e": sorted(context.event_timers), "p": sorted(context.processing_timers)}
        group.slots[self.slot] = {name: value for name, value in kept.items() if value} or None
