"""Compile triggers that go through phases: before and after a timeout, or before and after the window's end."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext_udfs.windows.triggers.moment import FIRES, HOLDS, MAX, NOT, ROW, TriggerMoment
from sqlext_udfs.windows.triggers.nodes import Held, TriggerLayout, TriggerNode
from sqlext_udfs.windows.triggers.time_nodes import DeadlineNode


class TimeoutNode(TriggerNode):
    """a TIMEOUT d: Flink's ProcessingTimeoutTrigger (2.3.0).

    KEEPING STATE keeps that of TIMEOUT itself too: it does not run again before ``a`` fires, unless SINCE LAST ROW.
    """

    def __init__(
        self, layout: TriggerLayout, part: TriggerNode, ms: int, *, since_last: bool, keep: bool, finishes: bool
    ) -> None:
        self.of, self.deadline = part, DeadlineNode(layout)
        super().__init__(layout, self.of, self.deadline)
        self.slot = self.deadline.slot
        self.ms, self.since_last, self.keep, self.finishes = ms, since_last, keep, finishes

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        self.of.on_row(group, moment, count)
        if self.since_last or group.slots[self.slot] is None:
            group.slots[self.slot] = moment.now + self.ms

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        return max(part.ready(group, moment) for part in self.parts)

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        # The part goes before the deadline, where both are ready.
        if self.of.ready(group, moment):
            self.deadline.reset(group)
            self.of.on_fire(group, moment)
            group.bits |= self.finished if self.of.done(group) else 0
        elif self.keep:
            # Beyond every clock: it does not run again before the part fires (KEEPING STATE).
            group.slots[self.slot] = MAX
        else:
            self.reset(group)
            group.bits |= self.finished if self.finishes else 0


class WatermarkNode(TriggerNode):
    """AFTER WATERMARK [EARLY e] [LATE l]: its own bit says that the on-time pane is over and LATE goes on."""

    waits_for_end = True

    def __init__(
        self, layout: TriggerLayout, early: TriggerNode | None, late: TriggerNode | None, *, sticky: bool
    ) -> None:
        super().__init__(layout, *(p for p in (early, late) if p is not None))
        self.early, self.late, self.sticky = early, late, sticky
        self.over = layout.bit()
        self.own_bits |= self.over

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        over = group.bits & self.over
        # A session may grow, and EARLY and LATE go on or come back: then both look at all rows.
        if self.early is not None and (moment.merging or not (over or moment.ended(group.end))):
            self.early.on_row(group, moment, count)
        if self.late is not None and (over or moment.merging):
            self.late.on_row(group, moment, count)

    def tick(self, group: Held, moment: TriggerMoment) -> None:
        for part in self._current(group):
            part.tick(group, moment)

    def tock(self, group: Held, moment: TriggerMoment) -> None:
        for part in self._current(group):
            part.tock(group, moment)

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        if group.bits & self.finished:
            return NOT
        if not group.bits & self.over and moment.ended(group.end):
            # Late rows give a pane once per micro-batch, not one each.
            return HOLDS if moment.phase == ROW else FIRES
        return max((part.ready(group, moment) for part in self._current(group)), default=NOT)

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        if group.bits & self.over:
            self._again(self.late, group, moment)
            if self.early is not None and moment.merging:
                self.early.clear(group)
            return
        if not moment.ended(group.end):
            self._again(self.early, group, moment)
        else:
            group.bits |= self.over if self.late is not None else self.finished
            if self.early is not None:
                self.early.reset(group)
        if self.late is not None and moment.merging:
            self.late.clear(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        over = self.finished | self.over
        # One that ended before its first row came asks at the end of this step; it does not make the others begin anew.
        asked = [old for old in olds if old.bits & over or not moment.ended(old.end)]
        if asked and all(old.bits & over for old in asked) and moment.ended(group.end):
            group.bits |= self.finished if self.late is None else self.over
            if self.late is not None:
                self.late.merge(group, olds, moment)
        if self.early is not None:
            self.early.merge(group, olds, moment)

    def processing(self, group: Held) -> int:
        return min((part.processing(group) for part in self._current(group)), default=MAX)

    def event(self, group: Held, moment: TriggerMoment) -> int:
        return min((part.event(group, moment) for part in self._current(group)), default=MAX)

    def _current(self, group: Held) -> tuple[TriggerNode, ...]:
        # EARLY until the on-time pane, LATE after it (M9).
        part = self.late if group.bits & self.over else self.early
        return () if part is None else (part,)

    def _again(self, part: TriggerNode | None, group: Held, moment: TriggerMoment) -> None:
        if part is None:
            return
        part.on_fire(group, moment)
        if not part.done(group):
            return
        if self.sticky:
            # Beam puts back the bit of EARLY and LATE themselves, not those of what they are made of (M20).
            group.bits &= ~part.finished
        else:
            part.reset(group)
