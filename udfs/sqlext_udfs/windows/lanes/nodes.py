"""Compile triggers for many groups at once: each class does for lanes what its namesake node does for one group.

A node here is made from one there (``triggers.nodes``, ``triggers.time_nodes``), and has its bits and slots. ``g`` are
the groups, ``t`` is where the step is, and ``of`` says which groups a method is about.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.windows.lanes.columns import NONE, LaneMoment, Lanes
from sqlext_udfs.windows.triggers.moment import FIRES, FIRES_EMPTY, MAX, MIN, NOT
from sqlext_udfs.windows.triggers.nodes import CountNode, TriggerNode
from sqlext_udfs.windows.triggers.time_nodes import DelayNode, EventPeriodNode, IdleNode, PeriodNode
from sqlext_udfs.windows.triggers.tree import Align, Delay

Levels = npt.NDArray[np.int64]
# A watermark above every time, to which a period can be added.
_FAR = 1 << 62


class LaneNode:
    """A trigger that never fires; all others build on it.

    Args:
        node: the node for one group, whose bits and slots it has.
        parts: the triggers inside this one.
    """

    def __init__(self, node: TriggerNode, *parts: LaneNode) -> None:
        self.node = node
        self.parts = parts
        self.bits = node.own_bits
        for part in parts:
            self.bits |= part.bits

    def done(self, g: Lanes) -> Bools:
        """Return which have finished."""
        return np.asarray(g.bits & self.node.finished != 0)

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        """Take note of rows."""

    def tick(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        """Take note that the batch clock has moved."""
        for part in self.parts:
            part.tick(g, t, of)

    def tock(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        """Take note that the watermark has moved."""
        for part in self.parts:
            part.tock(g, t, of)

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        """Return NOT, HOLDS, FIRES or FIRES_EMPTY for each group."""
        return np.full(len(g), NOT)

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        """Go on after a pane."""

    def clear(self, g: Lanes, of: Bools) -> None:
        """Forget the pane at hand."""
        for part in self.parts:
            part.clear(g, of)

    def reset(self, g: Lanes, of: Bools) -> None:
        """Start afresh."""
        self.clear(g, of)
        g.take_bits(of, self.bits)

    def processing(self, g: Lanes) -> Ints:
        """Return the next deadlines of the batch clock; MAX for none."""
        return least([p.processing(g) for p in self.parts], len(g))

    def event(self, g: Lanes, t: LaneMoment) -> Ints:
        """Return the next deadlines of the watermark, besides the window's end; MAX for none."""
        return least([p.event(g, t) for p in self.parts], len(g))


class LaneCount(LaneNode):
    """AFTER AT LEAST n ROWS."""

    def __init__(self, node: CountNode) -> None:
        super().__init__(node)
        self._n, self._slot = node.n, node.slot

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        of = of & ~self.done(g)
        g.slots[self._slot][of] += count[of]

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        return np.where(g.slots[self._slot] >= self._n, FIRES, NOT)

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        self.clear(g, of)
        g.set_bits(of, self.node.finished)

    def clear(self, g: Lanes, of: Bools) -> None:
        g.slots[self._slot][of] = 0


class LaneDeadline(LaneNode):
    """A deadline of the batch clock: MIN once it has passed, NONE while there is none."""

    def __init__(self, node: TriggerNode, slot: int) -> None:
        super().__init__(node)
        self.slot = slot

    def tick(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        deadlines = g.slots[self.slot]
        # MIN says that it has passed: the trigger stays ready until a pane is made, whatever the clock does.
        deadlines[of & (deadlines != NONE) & t.due(deadlines)] = MIN

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        return np.where(g.slots[self.slot] == MIN, FIRES, NOT)

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        self.clear(g, of)
        g.set_bits(of, self.node.finished)

    def clear(self, g: Lanes, of: Bools) -> None:
        g.slots[self.slot][of] = NONE

    def processing(self, g: Lanes) -> Ints:
        deadlines = g.slots[self.slot]
        return np.where((deadlines == NONE) | (deadlines == MIN), MAX, deadlines)


class LaneDelay(LaneDeadline):
    """AFTER DELAY: the pane's first row sets the deadline."""

    def __init__(self, node: DelayNode) -> None:
        super().__init__(node, node.slot)
        self._transforms = node.transforms

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        deadlines = g.slots[self.slot]
        deadlines[of & (deadlines == NONE) & ~self.done(g)] = moved_on(np.int64(t.now), self._transforms)


class LaneIdle(LaneDeadline):
    """AFTER IDLE: each row moves the deadline on."""

    def __init__(self, node: IdleNode) -> None:
        super().__init__(node, node.slot)
        self._ms = node.ms

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        g.slots[self.slot][of & ~self.done(g)] = t.now + self._ms


class LanePeriod(LaneNode):
    """EVERY d REPEAT and EVERY d ALIGNED [REPEAT]."""

    def __init__(self, node: PeriodNode) -> None:
        super().__init__(node)
        self.of = node
        self.bits |= node.pending

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        periods = g.slots[self.of.slot]
        aligned = t.now % self.of.ms if self.of.aligned else 0
        periods[of & (periods == NONE)] = t.now + self.of.ms - aligned

    def tick(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        come = of & t.due(self.processing(g))
        g.set_bits(come, self.of.pending)
        periods = g.slots[self.of.slot]
        periods[come] = self._next(periods[come], t) if self.of.repeat else NONE

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        return np.where(g.bits & self.of.pending != 0, FIRES_EMPTY if self.of.repeat else FIRES, NOT)

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        g.take_bits(of, self.of.pending)

    def clear(self, g: Lanes, of: Bools) -> None:
        g.slots[self.of.slot][of] = NONE
        g.take_bits(of, self.of.pending)

    def processing(self, g: Lanes) -> Ints:
        periods = g.slots[self.of.slot]
        deadlines = moved_on(np.where(periods == NONE, 0, periods), self.of.transforms)
        # NONE is a very small number: it must not look like a deadline that has passed.
        nothing = periods == NONE
        # A window of the clock has a pane at its end anyway (FLINK-20443).
        if self.of.end_margin is not None:
            nothing |= deadlines >= g.end - self.of.end_margin
        return np.where(nothing, MAX, deadlines)

    def _next(self, periods: Ints, t: LaneMoment) -> Ints:
        while (due := t.due(deadlines := moved_on(periods, self.of.transforms))).any():
            forward = self.of.ms * np.maximum((t.now - deadlines) // self.of.ms, 1)
            periods = np.where(due, periods + forward, periods)
        return periods


class LaneEventPeriod(LaneNode):
    """EVERY d OF EVENT TIME."""

    def __init__(self, node: EventPeriodNode) -> None:
        super().__init__(node)
        self.of = node
        self.bits |= node.pending

    def on_row(self, g: Lanes, t: LaneMoment, of: Bools, count: Ints) -> None:
        if t.rowtime is not None:
            multiples, ms = g.slots[self.of.slot], self.of.ms
            of = of & (multiples == NONE) & ~t.ended()
            multiples[of] = t.rowtime[of] - t.rowtime[of] % ms + ms

    def tock(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        multiples, ms = g.slots[self.of.slot], self.of.ms
        # Behind the window's end no multiple counts, so the watermark need not be looked at from there on.
        watermark = np.minimum(t.passing, min(t.watermark, _FAR))
        come = of & (multiples != NONE) & (multiples <= t.watermark) & (multiples < t.passing)
        g.set_bits(come, self.of.pending)
        multiples[come] += ms * ((watermark[come] - multiples[come]) // ms + 1)

    def ready(self, g: Lanes, t: LaneMoment) -> Levels:
        new = (g.bits & self.of.pending != 0) | t.end_now
        fires = np.where(new & self.of.repeat, FIRES_EMPTY, FIRES)
        return np.where(new | t.ended(), fires, NOT)

    def on_fire(self, g: Lanes, t: LaneMoment, of: Bools) -> None:
        g.take_bits(of, self.of.pending)

    def clear(self, g: Lanes, of: Bools) -> None:
        g.slots[self.of.slot][of] = NONE
        g.take_bits(of, self.of.pending)

    def event(self, g: Lanes, t: LaneMoment) -> Ints:
        multiples = g.slots[self.of.slot]
        return np.where((multiples == NONE) | (multiples >= t.passing), MAX, multiples)


def moved_on(times: Ints | np.int64, transforms: Sequence[Delay | Align]) -> Ints:
    """Return deadlines after DELAY and ALIGNED TO, in written order."""
    made = np.asarray(times)
    for transform in transforms:
        if isinstance(transform, Delay):
            made = made + transform.ms
        else:
            made = made + -(made - transform.offset) % transform.period
    return made


def least(columns: Sequence[Ints], rows: int) -> Ints:
    """Return the least of each row; MAX for no columns."""
    return np.minimum.reduce(columns) if columns else np.full(rows, MAX)
