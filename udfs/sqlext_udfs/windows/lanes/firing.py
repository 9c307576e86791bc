"""Fire the panes of many groups at once, in the order of a step: ``groups.firing`` on columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.groups.group import BEGAN_LATE, CLOSED, DONE, END_SEEN, WRITTEN
from sqlext_udfs.windows.lanes.columns import NONE, LaneMoment, Lanes
from sqlext_udfs.windows.lanes.nodes import LaneNode, Levels
from sqlext_udfs.windows.panes.rows import EARLY, LATE, ON_TIME
from sqlext_udfs.windows.triggers.moment import FIRES, FIRES_EMPTY, MAX


@dataclass(frozen=True, slots=True)
class LanePanes:
    """Panes of one phase, at most one for each group.

    Attributes:
        lane: the group.
        index, spec, timing, first, last: what PANE_...() give; timing is a number.
        whole: whether all that the group holds is in it; else there is nothing in it.
    """

    lane: Ints
    index: Ints
    spec: Ints
    timing: Ints
    first: Bools
    last: Bools
    whole: Bools


class LaneFiring:
    """Make the panes of a step.

    Args:
        plan: the policy.
        root: its trigger.
        g: the groups; they are changed here.
        t: where the step is; it is changed here.

    Attributes:
        panes: in the order in which they are to be written.
        leftover: rows that FINAL PANE NEVER threw away.
    """

    def __init__(self, plan: CompiledPolicy, root: LaneNode, g: Lanes, t: LaneMoment) -> None:
        self._policy, self._program, self._lateness = plan.policy, plan.program, plan.lateness
        self._root, self._g, self._t = root, g, t
        self.panes: list[LanePanes] = []
        self.leftover = 0

    def after_rows(self, of: Bools) -> None:
        """Let groups fire that rows have come to."""
        self._ask(of & ~self._g.closed)

    def by_clock(self) -> None:
        """Let due deadlines of the batch clock fire."""
        # A tick moves each deadline beyond the clock, so this ends (M4: once, however many periods were missed).
        while (due := self._t.due(self.processing())).any():
            self._root.tick(self._g, self._t, due)
            self._ask(due)

    def by_watermark(self, watermark: int) -> None:
        """Let deadlines of the watermark fire: continuous, on-time, expiry."""
        self._t.watermark = watermark
        # All deadlines up to the watermark pass in one round for a group, the end and the expiry included (M8).
        while (due := ~self._g.gone & (self.event() <= watermark)).any():
            self._pass(due)

    def event(self) -> Ints:
        """Return the watermark (ms) at which something happens to each group."""
        g, t = self._g, self._t
        expiry = self._expiry()
        deadline = expiry
        if self._program.waits_for_end:
            deadline = np.where(g.has(END_SEEN), deadline, np.minimum(deadline, t.passing))
        if self._program.has_event_deadlines:
            deadline = np.minimum(deadline, self._root.event(g, t))
        return np.where(g.closed, expiry, deadline)

    def processing(self) -> Ints:
        """Return the batch clock (ms) at which something happens to each group; MAX for never."""
        if not self._program.has_clock_deadlines:
            return np.full(len(self._g), MAX)
        return np.where(self._g.closed, MAX, self._root.processing(self._g))

    def _expiry(self) -> Ints:
        passing = self._t.passing
        return np.where(passing > MAX - self._lateness, MAX, passing + self._lateness)

    def _pass(self, of: Bools) -> None:
        g, t = self._g, self._t
        ended = of & t.ended()
        t.end_now = ended & ~g.has(END_SEEN)
        g.set_flags(ended, END_SEEN)
        expired = of & (self._expiry() <= t.watermark)
        asked = of & ~g.closed
        self._root.tock(g, t, asked)
        level = self._root.ready(g, t)
        fires = asked & (level >= FIRES)
        self._fire(fires, level, expired)
        self._closing(asked & ~fires & expired)
        t.end_now = np.zeros(len(g), np.bool_)
        g.gone |= expired

    def _ask(self, of: Bools) -> None:
        level = self._root.ready(self._g, self._t)
        self._fire(of & (level >= FIRES), level, np.zeros(len(self._g), np.bool_))

    def _fire(self, of: Bools, level: Levels, expired: Bools) -> None:
        if not of.any():
            return
        g, t, policy = self._g, self._t, self._policy
        self._root.on_fire(g, t, of)
        finished = of & self._root.done(g)
        timing = self._timing()
        last = expired | finished
        worth = (g.rows > 0) | ((level == FIRES_EMPTY) & g.held)
        if policy.empty_on_time_pane:
            worth |= timing == ON_TIME
        if policy.final_pane == "ALWAYS":
            worth |= (timing == LATE) & last
        self._write(of & worth, timing, last)
        g.set_flags(of & (timing != EARLY), DONE)
        # After the pane is written: it still has the contents that are purged.
        self._empty(of & t.purge)
        t.purge[:] = False
        self._close(finished)

    def _closing(self, of: Bools) -> None:
        g, policy = self._g, self._policy
        if policy.final_pane == "NEVER":
            self.leftover += int(g.rows[of].sum())
            return
        timing = self._timing()
        may_be_empty = np.where(timing == ON_TIME, policy.empty_on_time_pane, policy.final_pane == "ALWAYS")
        self._write(of & ((g.rows > 0) | may_be_empty), timing, np.ones(len(g), np.bool_))

    def _timing(self) -> Ints:
        late = np.where(self._g.has(DONE | BEGAN_LATE), LATE, ON_TIME)
        return np.where(self._t.ended(), late, EARLY)

    def _write(self, of: Bools, timing: Ints, last: Bools) -> None:
        g = self._g
        lane = np.flatnonzero(of)
        if not len(lane):
            return
        index, when = g.index[lane], timing[lane]
        spec = np.where(when == EARLY, -1, g.spec[lane])
        self.panes.append(LanePanes(lane, index, spec, when, index == 0, last[lane], g.held[lane]))
        g.index[lane] += 1
        g.spec[lane] += when != EARLY
        g.flags[lane] |= WRITTEN
        g.rows[lane] = 0
        if self._policy.mode == "DISCARDING":
            self._empty(of)

    def _empty(self, of: Bools) -> None:
        self._g.held[of] = False
        self._g.rows[of] = 0

    def _close(self, of: Bools) -> None:
        if not of.any():
            return
        g = self._g
        self._empty(of)
        g.flags[of] |= CLOSED
        g.bits[of] = 0
        for slot, initial in zip(g.slots, initial_slots(self._program.initial), strict=True):
            slot[of] = initial


def initial_slots(initial: tuple[object, ...]) -> list[int]:
    """Return what slots begin with, NONE for nothing."""
    return [NONE if value is None else int(str(value)) for value in initial]
