"""Compile triggers that look at the batch clock or the watermark."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext_udfs.windows.triggers.moment import FIRES, FIRES_EMPTY, HOLDS, MAX, MIN, NOT, ROW, TriggerMoment
from sqlext_udfs.windows.triggers.nodes import Held, TriggerLayout, TriggerNode
from sqlext_udfs.windows.triggers.tree import Align, Delay


def moved_on(time: int, transforms: Sequence[Delay | Align]) -> int:
    """Return a deadline after DELAY and ALIGNED TO, in written order."""
    for transform in transforms:
        if isinstance(transform, Delay):
            time += transform.ms
        else:
            # Also below the offset to the next aligned time, where Beam goes one further (M15).
            time += -(time - transform.offset) % transform.period
    return time


class DeadlineNode(TriggerNode):
    """A deadline of the batch clock in a slot: MIN once it has passed, None while there is none."""

    has_clock_deadlines = True

    def __init__(self, layout: TriggerLayout) -> None:
        super().__init__(layout)
        self.slot = layout.slot("int")

    def tick(self, group: Held, moment: TriggerMoment) -> None:
        deadline = group.slots[self.slot]
        if deadline is not None and moment.due(deadline):
            group.slots[self.slot] = MIN

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        if group.slots[self.slot] != MIN:
            return NOT
        return HOLDS if moment.phase == ROW else FIRES

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        group.slots[self.slot] = None
        group.bits |= self.finished

    def clear(self, group: Held) -> None:
        group.slots[self.slot] = None

    def processing(self, group: Held) -> int:
        deadline = group.slots[self.slot]
        return MAX if deadline is None or deadline == MIN else int(deadline)


class DelayNode(DeadlineNode):
    """AFTER DELAY: the pane's first row sets the deadline; of merged sessions the earliest stays (M10)."""

    def __init__(self, layout: TriggerLayout, transforms: Sequence[Delay | Align]) -> None:
        super().__init__(layout)
        self.transforms = tuple(transforms)

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        if group.slots[self.slot] is None and not self.done(group):
            group.slots[self.slot] = moved_on(moment.now, self.transforms)

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        group.slots[self.slot] = min((d for d in (o.slots[self.slot] for o in olds) if d is not None), default=None)


class IdleNode(DeadlineNode):
    """AFTER IDLE: each row moves the deadline on (M11); ``of_query``: each row of the query."""

    def __init__(self, layout: TriggerLayout, ms: int, *, of_query: bool) -> None:
        super().__init__(layout)
        self.ms, self.of_query = ms, of_query

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        if not self.done(group):
            group.slots[self.slot] = moment.now + self.ms

    def tick(self, group: Held, moment: TriggerMoment) -> None:
        deadline = group.slots[self.slot]
        if self.of_query and deadline is not None and deadline != MIN:
            group.slots[self.slot] = max(deadline, moment.last_row + self.ms)
        super().tick(group, moment)

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        # The latest, unlike a delay: the last row of all parts moved it (M11).
        group.slots[self.slot] = max((d for d in (o.slots[self.slot] for o in olds) if d is not None), default=None)


class PeriodNode(TriggerNode):
    """EVERY d REPEAT and EVERY d ALIGNED [REPEAT]: deadlines of the batch clock that follow each other (M15)."""

    has_clock_deadlines = True

    def __init__(
        self,
        layout: TriggerLayout,
        ms: int,
        *,
        repeat: bool,
        end_margin: int | None,
        aligned: bool = False,
        transforms: Sequence[Delay | Align] = (),
    ) -> None:
        super().__init__(layout)
        self.ms, self.aligned, self.repeat, self.transforms = ms, aligned, repeat, tuple(transforms)
        self.end_margin = end_margin
        self.pending = layout.bit()
        self.slot = layout.slot("int")

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        if group.slots[self.slot] is None:
            group.slots[self.slot] = moment.now + self.ms - (moment.now % self.ms if self.aligned else 0)

    def tick(self, group: Held, moment: TriggerMoment) -> None:
        if moment.due(self.processing(group)):
            group.bits |= self.pending
            group.slots[self.slot] = self._next(group.slots[self.slot], moment) if self.repeat else None

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        if not group.bits & self.pending:
            return NOT
        if moment.phase == ROW:
            return HOLDS
        return FIRES_EMPTY if self.repeat else FIRES

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        group.bits &= ~self.pending

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        group.slots[self.slot] = min((d for d in (o.slots[self.slot] for o in olds) if d is not None), default=None)
        group.bits |= self.pending if any(o.bits & self.pending for o in olds) else 0

    def clear(self, group: Held) -> None:
        group.slots[self.slot] = None
        group.bits &= ~self.pending

    def processing(self, group: Held) -> int:
        period = group.slots[self.slot]
        if period is None:
            return MAX
        deadline = moved_on(period, self.transforms)
        # The end of a window of the clock has a pane of its own, as in Flink (FLINK-20443).
        return MAX if self.end_margin is not None and deadline >= group.end - self.end_margin else deadline

    def _next(self, period: int, moment: TriggerMoment) -> int:
        """Return the next period whose deadline is not due."""
        while moment.due(moved_on(period, self.transforms)):
            # Over all missed periods at once, however long no batch ran.
            period += self.ms * max((moment.now - moved_on(period, self.transforms)) // self.ms, 1)
        return period


class EventPeriodNode(TriggerNode):
    """EVERY d OF EVENT TIME: when the watermark passes multiples, at the window's end, and for late rows (M15).

    The first multiple is that after the first row that arrived, as in Flink's ContinuousEventTimeTrigger (2.3.0).
    """

    waits_for_end = True
    has_event_deadlines = True

    def __init__(self, layout: TriggerLayout, ms: int, *, repeat: bool) -> None:
        super().__init__(layout)
        self.ms, self.repeat = ms, repeat
        self.pending = layout.bit()
        self.slot = layout.slot("int")

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        if moment.rowtime is None or (moment.ended(group.end) and not moment.merging):
            return
        if group.slots[self.slot] is None:
            group.slots[self.slot] = moment.rowtime - moment.rowtime % self.ms + self.ms

    def tock(self, group: Held, moment: TriggerMoment) -> None:
        multiple = group.slots[self.slot]
        if multiple is None or multiple > moment.watermark or multiple >= moment.passing(group.end):
            return
        group.bits |= self.pending
        # Over all missed multiples at once (M4).
        missed = (moment.watermark - multiple) // self.ms
        group.slots[self.slot] = multiple + self.ms * (missed + 1)

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        new = bool(group.bits & self.pending) or moment.end_now
        if not new and not moment.ended(group.end):
            return NOT
        if moment.phase == ROW:
            return HOLDS
        return FIRES_EMPTY if new and self.repeat else FIRES

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        group.bits &= ~self.pending

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        group.slots[self.slot] = min((d for d in (o.slots[self.slot] for o in olds) if d is not None), default=None)
        group.bits |= self.pending if any(o.bits & self.pending for o in olds) else 0

    def clear(self, group: Held) -> None:
        group.slots[self.slot] = None
        group.bits &= ~self.pending

    def event(self, group: Held, moment: TriggerMoment) -> int:
        multiple = group.slots[self.slot]
        return MAX if multiple is None or multiple >= moment.passing(group.end) else int(multiple)
