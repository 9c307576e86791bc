"""Compiled triggers made of others, with Beam's rules on what is finished and what starts afresh (2.73)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.udfs.core.moment import FIRES, HOLDS, MAX, NOT, ROW, Moment
from sqlext.udfs.core.trigger_nodes import DeadlineNode, Held, Layout, Node


class AllNode(Node):
    """a AND b: remembers which parts have been ready, because none forgets before all fire."""

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        for part in self.parts:
            if not part.done(group):
                part.on_row(group, moment, count)

    def ready(self, group: Held, moment: Moment) -> int:
        level = FIRES if moment.phase != ROW else HOLDS
        for part in self.parts:
            if not part.done(group):
                of_part = part.ready(group, moment)
                if not of_part:
                    return NOT
                level = max(level, of_part)
        return level

    def on_fire(self, group: Held, moment: Moment) -> None:
        for part in self.parts:
            if not part.done(group):
                part.on_fire(group, moment)
        self._update(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        super().merge(group, olds, moment)
        self._update(group)

    def _update(self, group: Held) -> None:
        if all(part.done(group) for part in self.parts):
            group.bits |= self.finished


class AnyNode(Node):
    """a OR b: the others forget their pane when one fires."""

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        for part in self.parts:
            if not part.done(group):
                part.on_row(group, moment, count)

    def ready(self, group: Held, moment: Moment) -> int:
        # A finished part is there only under EARLY and LATE with early_composite = 'sticky' (M20), or after a merge.
        finished = HOLDS if moment.phase == ROW else FIRES
        return max(finished if part.done(group) else part.ready(group, moment) for part in self.parts)

    def on_fire(self, group: Held, moment: Moment) -> None:
        for part in self.parts:
            if part.done(group):
                continue
            if part.ready(group, moment):
                part.on_fire(group, moment)
            else:
                part.clear(group)
        self._update(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        super().merge(group, olds, moment)
        self._update(group)

    def _update(self, group: Held) -> None:
        if any(part.done(group) for part in self.parts):
            group.bits |= self.finished


class EachNode(Node):
    """a THEN b. On sessions all parts look at all rows, because a merge may take a step back (EMIT.md 9, Beam 12)."""

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        for part in self.parts if moment.merging else self._current(group):
            part.on_row(group, moment, count)

    def ready(self, group: Held, moment: Moment) -> int:
        return max((part.ready(group, moment) for part in self._current(group)), default=NOT)

    def on_fire(self, group: Held, moment: Moment) -> None:
        for part in self._current(group):
            part.on_fire(group, moment)
        if moment.merging:
            self.clear(group)
        self._update(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        before_finished = True
        for part in self.parts:
            if before_finished:
                part.merge(group, olds, moment)
                before_finished = part.done(group)
            else:
                part.reset(group)
        self._update(group)

    def processing(self, group: Held) -> int:
        return min((part.processing(group) for part in self._current(group)), default=MAX)

    def event(self, group: Held, moment: Moment) -> int:
        return min((part.event(group, moment) for part in self._current(group)), default=MAX)

    def _current(self, group: Held) -> tuple[Node, ...]:
        return next(((part,) for part in self.parts if not part.done(group)), ())

    def _update(self, group: Held) -> None:
        if self.parts[-1].done(group):
            group.bits |= self.finished


class UntilNode(Node):
    """a UNTIL b: b sees all rows since the trigger started, not since the last pane (EMIT.md 9, Beam 11)."""

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        for part in self.parts:
            part.on_row(group, moment, count)

    def ready(self, group: Held, moment: Moment) -> int:
        return max(part.ready(group, moment) for part in self.parts)

    def on_fire(self, group: Held, moment: Moment) -> None:
        main, until = self.parts
        if until.ready(group, moment):
            until.on_fire(group, moment)
            main.clear(group)
        else:
            main.on_fire(group, moment)
        self._update(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        super().merge(group, olds, moment)
        self._update(group)

    def _update(self, group: Held) -> None:
        if any(part.done(group) for part in self.parts):
            group.bits |= self.finished


class WrapNode(Node):
    """Does what its part does."""

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        self.parts[0].on_row(group, moment, count)

    def ready(self, group: Held, moment: Moment) -> int:
        return self.parts[0].ready(group, moment)

    def on_fire(self, group: Held, moment: Moment) -> None:
        self.parts[0].on_fire(group, moment)
        self._update(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        super().merge(group, olds, moment)
        self._update(group)

    def _update(self, group: Held) -> None:
        if self.parts[0].done(group):
            group.bits |= self.finished


class RepeatNode(WrapNode):
    """REPEAT (a)."""

    def _update(self, group: Held) -> None:
        if self.parts[0].done(group):
            self.parts[0].reset(group)


class PurgingNode(WrapNode):
    """a PURGING: asked to fire only when ``a`` was ready, so a pane of a TIMEOUT around it does not purge (M16)."""

    def on_fire(self, group: Held, moment: Moment) -> None:
        moment.purge = True
        super().on_fire(group, moment)


class TimeoutNode(Node):
    """a TIMEOUT d: Flink's ProcessingTimeoutTrigger (2.3.0)."""

    def __init__(self, layout: Layout, part: Node, ms: int, *, since_last: bool, keep: bool, finishes: bool) -> None:
        super().__init__(layout, part, DeadlineNode(layout))
        self.of, self.deadline = self.parts
        self.slot = self.deadline.slot  # type: ignore[attr-defined]
        self.ms, self.since_last, self.keep, self.finishes = ms, since_last, keep, finishes

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        self.of.on_row(group, moment, count)
        if self.since_last or group.slots[self.slot] is None:
            group.slots[self.slot] = moment.now + self.ms

    def ready(self, group: Held, moment: Moment) -> int:
        return max(part.ready(group, moment) for part in self.parts)

    def on_fire(self, group: Held, moment: Moment) -> None:
        self.deadline.reset(group)
        if self.of.ready(group, moment):
            self.of.on_fire(group, moment)
            group.bits |= self.finished if self.of.done(group) else 0
        elif not self.keep:
            self.of.reset(group)
            group.bits |= self.finished if self.finishes else 0


class WatermarkNode(Node):
    """AFTER WATERMARK [EARLY e] [LATE l]: its own bit says that the on-time pane is over and LATE goes on."""

    waits_for_end = True

    def __init__(self, layout: Layout, early: Node | None, late: Node | None, *, sticky: bool) -> None:
        super().__init__(layout, *(p for p in (early, late) if p is not None))
        self.early, self.late, self.sticky = early, late, sticky
        self.over = layout.bit()
        self.own_bits |= self.over

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        over = group.bits & self.over
        if self.early is not None and not over and not moment.ended(group.end):
            self.early.on_row(group, moment, count)
        if self.late is not None and (over or moment.merging):
            self.late.on_row(group, moment, count)

    def tick(self, group: Held, moment: Moment) -> None:
        for part in self._current(group):
            part.tick(group, moment)

    def tock(self, group: Held, moment: Moment) -> None:
        for part in self._current(group):
            part.tock(group, moment)

    def ready(self, group: Held, moment: Moment) -> int:
        if group.bits & self.finished:
            return NOT
        if not group.bits & self.over and moment.ended(group.end):
            # Late rows give a pane once per micro-batch, not one each.
            return HOLDS if moment.phase == ROW else FIRES
        return max((part.ready(group, moment) for part in self._current(group)), default=NOT)

    def on_fire(self, group: Held, moment: Moment) -> None:
        if group.bits & self.over:
            self._again(self.late, group, moment)
            return
        if not moment.ended(group.end):
            self._again(self.early, group, moment)
        else:
            group.bits |= self.over if self.late is not None else self.finished
            if self.early is not None:
                self.early.reset(group)
        if self.late is not None and moment.merging:
            self.late.clear(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        over = self.finished | self.over
        if all(old.bits & over for old in olds) and moment.ended(group.end):
            group.bits |= self.finished if self.late is None else self.over
            if self.late is not None:
                self.late.merge(group, olds, moment)
        elif self.early is not None:
            self.early.merge(group, olds, moment)

    def processing(self, group: Held) -> int:
        return min((part.processing(group) for part in self._current(group)), default=MAX)

    def event(self, group: Held, moment: Moment) -> int:
        return min((part.event(group, moment) for part in self._current(group)), default=MAX)

    def _current(self, group: Held) -> tuple[Node, ...]:
        part = self.late if group.bits & self.over else self.early
        return () if part is None else (part,)

    def _again(self, part: Node | None, group: Held, moment: Moment) -> None:
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
