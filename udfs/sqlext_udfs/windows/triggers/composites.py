"""Compile triggers that are made of others, with Beam's rules on what finishes and what starts afresh (2.73)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext_udfs.windows.triggers.moment import FIRES, HOLDS, MAX, NOT, ROW, TriggerMoment
from sqlext_udfs.windows.triggers.nodes import Held, TriggerNode


class AllNode(TriggerNode):
    """a AND b: fires when all parts are ready; a part that was ready stays so until all fire."""

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        for part in self.parts:
            if not part.done(group):
                part.on_row(group, moment, count)

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        # Parts that have all finished hold at once, but a row alone does not begin a pane for them.
        level = FIRES if moment.phase != ROW else HOLDS
        for part in self.parts:
            if not part.done(group):
                of_part = part.ready(group, moment)
                if not of_part:
                    return NOT
                level = max(level, of_part)
        return level

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        for part in self.parts:
            if not part.done(group):
                part.on_fire(group, moment)
        self._update(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        super().merge(group, olds, moment)
        self._update(group)

    def _update(self, group: Held) -> None:
        if all(part.done(group) for part in self.parts):
            group.bits |= self.finished


class AnyNode(TriggerNode):
    """a OR b: the others forget their pane when one fires."""

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        for part in self.parts:
            if not part.done(group):
                part.on_row(group, moment, count)

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        # A finished part is there only under EARLY and LATE with early_composite = 'sticky' (M20), or after a merge.
        finished = HOLDS if moment.phase == ROW else FIRES
        return max(finished if part.done(group) else part.ready(group, moment) for part in self.parts)

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        for part in self.parts:
            if part.done(group):
                continue
            if part.ready(group, moment):
                part.on_fire(group, moment)
            else:
                part.clear(group)
        self._update(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        super().merge(group, olds, moment)
        self._update(group)

    def _update(self, group: Held) -> None:
        if any(part.done(group) for part in self.parts):
            group.bits |= self.finished


class EachNode(TriggerNode):
    """a THEN b. On sessions all parts look at all rows, because a merge may take a step back (EMIT.md 9, Beam 12)."""

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        # A part whose turn has not come sees no rows, but on sessions.
        for part in self.parts if moment.merging else self._current(group):
            part.on_row(group, moment, count)

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        return max((part.ready(group, moment) for part in self._current(group)), default=NOT)

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        for part in self._current(group):
            part.on_fire(group, moment)
        # On sessions later parts have seen rows of this pane too: they begin afresh with the next one.
        if moment.merging:
            self.clear(group)
        self._update(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
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

    def event(self, group: Held, moment: TriggerMoment) -> int:
        return min((part.event(group, moment) for part in self._current(group)), default=MAX)

    def _current(self, group: Held) -> tuple[TriggerNode, ...]:
        return next(((part,) for part in self.parts if not part.done(group)), ())

    def _update(self, group: Held) -> None:
        if self.parts[-1].done(group):
            group.bits |= self.finished


class UntilNode(TriggerNode):
    """a UNTIL b: b sees all rows since the trigger started, not since the last pane (EMIT.md 9, Beam 11)."""

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        for part in self.parts:
            part.on_row(group, moment, count)

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        return max(part.ready(group, moment) for part in self.parts)

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        main, until = self.parts
        if until.ready(group, moment):
            until.on_fire(group, moment)
            # Beam: the part that did not fire forgets its pane; UNTIL finishes the whole.
            main.clear(group)
        else:
            main.on_fire(group, moment)
        self._update(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        super().merge(group, olds, moment)
        self._update(group)

    def _update(self, group: Held) -> None:
        if any(part.done(group) for part in self.parts):
            group.bits |= self.finished


class WrapNode(TriggerNode):
    """A trigger around one part, which does what the part does."""

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        self.parts[0].on_row(group, moment, count)

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        return self.parts[0].ready(group, moment)

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        self.parts[0].on_fire(group, moment)
        self._update(group)

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        super().merge(group, olds, moment)
        self._update(group)

    def _update(self, group: Held) -> None:
        if self.parts[0].done(group):
            group.bits |= self.finished


class RepeatNode(WrapNode):
    """REPEAT (a): the part starts afresh when it has finished, so this never finishes."""

    def _update(self, group: Held) -> None:
        if self.parts[0].done(group):
            self.parts[0].reset(group)


class PurgingNode(WrapNode):
    """a PURGING: asked to fire only when ``a`` was ready, so a pane of a TIMEOUT around it does not purge (M16)."""

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        # The engine purges after it has written the pane.
        moment.purge = True
        super().on_fire(group, moment)
