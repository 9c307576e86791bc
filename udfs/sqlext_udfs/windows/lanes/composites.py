"""Compile triggers made of others, for many groups at once.

The rules are those of ``triggers.composites`` and ``triggers.phase_nodes``.
"""

from __future__ import annotations

import numpy as np

from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.windows.lanes.columns import NONE, LaneMoment, Lanes
from sqlext_udfs.windows.lanes.nodes import LaneDeadline, LaneNode, Levels, least
from sqlext_udfs.windows.triggers.composites import PurgingNode, RepeatNode
from sqlext_udfs.windows.triggers.moment import FIRES, MAX, NOT
from sqlext_udfs.windows.triggers.phase_nodes import TimeoutNode, WatermarkNode


class _Composite(LaneNode):
    """Has parts; finished when ``_finishes`` says so."""

    def _finishes(self, g: Lanes) -> Bools:
        raise NotImplementedError

    def _update(self, g: Lanes, of: Bools) -> None:
        g.set_bits(of & self._finishes(g), self.node.finished)


class LaneAll(_Composite):
    """a AND b."""

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        for part in self.parts:
            part.on_row(g, t, of & ~part.done(g), count)

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        level, ready = np.full(len(g), FIRES), np.ones(len(g), np.bool_)
        for part in self.parts:
            done, of_part = part.done(g), part.ready(g, t)
            ready &= done | (of_part != NOT)
            level = np.where(done, level, np.maximum(level, of_part))
        return np.where(ready, level, NOT)

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        for part in self.parts:
            part.on_fire(g, t, of & ~part.done(g))
        self._update(g, of)

    def _finishes(self, g: Lanes) -> Bools:
        return np.asarray(np.logical_and.reduce([p.done(g) for p in self.parts]))


class LaneAny(_Composite):
    """a OR b."""

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        for part in self.parts:
            part.on_row(g, t, of & ~part.done(g), count)

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        return np.asarray(np.maximum.reduce([np.where(p.done(g), FIRES, p.ready(g, t)) for p in self.parts]))

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        # Beam: the part that fires goes on; the others forget the pane at hand, but not that they have finished.
        for part in self.parts:
            asked = of & ~part.done(g)
            ready = part.ready(g, t) != NOT
            part.on_fire(g, t, asked & ready)
            part.clear(g, asked & ~ready)
        self._update(g, of)

    def _finishes(self, g: Lanes) -> Bools:
        return np.asarray(np.logical_or.reduce([p.done(g) for p in self.parts]))


class LaneEach(_Composite):
    """a THEN b."""

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        for part, current in self._current(g):
            part.on_row(g, t, of & current, count)

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        return np.asarray(np.maximum.reduce([np.where(current, p.ready(g, t), NOT) for p, current in self._current(g)]))

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        for part, current in self._current(g):
            part.on_fire(g, t, of & current)
        self._update(g, of)

    def processing(self, g: Lanes) -> Ints:
        return least([np.where(current, p.processing(g), MAX) for p, current in self._current(g)], len(g))

    def event(self, g: Lanes, t: LaneMoment) -> Ints:
        return least([np.where(current, p.event(g, t), MAX) for p, current in self._current(g)], len(g))

    def _finishes(self, g: Lanes) -> Bools:
        return self.parts[-1].done(g)

    def _current(self, g: Lanes) -> list[tuple[LaneNode, Bools]]:
        """Return each part with the groups in which it is the first that has not finished."""
        before = np.ones(len(g), np.bool_)
        current = []
        for part in self.parts:
            done = part.done(g)
            current.append((part, before & ~done))
            before = before & done
        return current


class LaneUntil(_Composite):
    """a UNTIL b."""

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        for part in self.parts:
            part.on_row(g, t, of, count)

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        return np.asarray(np.maximum.reduce([p.ready(g, t) for p in self.parts]))

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        main, until = self.parts
        # UNTIL wins where both are ready: the pane is the last one.
        ends = of & (until.ready(g, t) != NOT)
        until.on_fire(g, t, ends)
        main.clear(g, ends)
        main.on_fire(g, t, of & ~ends)
        self._update(g, of)

    def _finishes(self, g: Lanes) -> Bools:
        return np.asarray(np.logical_or.reduce([p.done(g) for p in self.parts]))


class LaneWrap(_Composite):
    """REPEAT and PURGING: does what its part does."""

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        self.parts[0].on_row(g, t, of, count)

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        return self.parts[0].ready(g, t)

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        part = self.parts[0]
        if isinstance(self.node, PurgingNode):
            # Not at once: the pane is to be written with these contents first (M16).
            t.purge |= of
        part.on_fire(g, t, of)
        if isinstance(self.node, RepeatNode):
            part.reset(g, of & part.done(g))
        else:
            self._update(g, of)

    def _finishes(self, g: Lanes) -> Bools:
        return self.parts[0].done(g)


class LaneTimeout(LaneNode):
    """a TIMEOUT d."""

    def __init__(self, node: TimeoutNode, part: LaneNode) -> None:
        self._deadline = LaneDeadline(node.deadline, node.slot)
        super().__init__(node, part, self._deadline)
        self._of, self._timeout = part, node

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        self._of.on_row(g, t, of, count)
        deadlines = g.slots[self._timeout.slot]
        of = of if self._timeout.since_last else of & (deadlines == NONE)
        deadlines[of] = t.now + self._timeout.ms

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        return np.asarray(np.maximum.reduce([p.ready(g, t) for p in self.parts]))

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        # The part goes before the deadline, where both are ready.
        own = of & (self._of.ready(g, t) != NOT)
        over = of & ~own
        self._deadline.reset(g, own)
        self._of.on_fire(g, t, own)
        g.set_bits(own & self._of.done(g), self.node.finished)
        if self._timeout.keep:
            g.slots[self._timeout.slot][over] = MAX
            return
        self.reset(g, over)
        if self._timeout.finishes:
            g.set_bits(over, self.node.finished)


class LaneWatermark(LaneNode):
    """AFTER WATERMARK [EARLY e] [LATE l]."""

    def __init__(self, node: WatermarkNode, early: LaneNode | None, late: LaneNode | None) -> None:
        super().__init__(node, *(p for p in (early, late) if p is not None))
        self._early, self._late, self._watermark = early, late, node

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        over = self._over(g)
        if self._early is not None:
            self._early.on_row(g, t, of & ~over & ~t.ended(), count)
        if self._late is not None:
            self._late.on_row(g, t, of & over, count)

    def tick(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        for part, current in self._current(g):
            part.tick(g, t, of & current)

    def tock(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        for part, current in self._current(g):
            part.tock(g, t, of & current)

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        level = np.full(len(g), NOT)
        for part, current in self._current(g):
            level = np.where(current, part.ready(g, t), level)
        level = np.where(~self._over(g) & t.ended(), FIRES, level)
        return np.where(self.done(g), NOT, level)

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        over, ended = self._over(g), t.ended()
        on_time = of & ~over & ended
        self._again(self._late, g, t, of & over)
        self._again(self._early, g, t, of & ~over & ~ended)
        g.set_bits(on_time, self._watermark.over if self._late is not None else self.node.finished)
        if self._early is not None:
            self._early.reset(g, on_time)

    def processing(self, g: Lanes) -> Ints:
        return least([np.where(current, p.processing(g), MAX) for p, current in self._current(g)], len(g))

    def event(self, g: Lanes, t: LaneMoment) -> Ints:
        return least([np.where(current, p.event(g, t), MAX) for p, current in self._current(g)], len(g))

    def _over(self, g: Lanes) -> Bools:
        return np.asarray(g.bits & self._watermark.over != 0)

    def _current(self, g: Lanes) -> list[tuple[LaneNode, Bools]]:
        over = self._over(g)
        both = ((self._early, ~over), (self._late, over))
        return [(part, current) for part, current in both if part is not None]

    def _again(self, part: LaneNode | None, g: Lanes, t: LaneMoment, of: Bools) -> None:
        if part is None:
            return
        part.on_fire(g, t, of)
        done = of & part.done(g)
        if self._watermark.sticky:
            g.take_bits(done, part.node.finished)
        else:
            part.reset(g, done)
