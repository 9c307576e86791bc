"""Panes: when a group gives one, what is in it and what it is called (rules M4 to M9, M16 to M19)."""

from __future__ import annotations

from sqlext.udfs.core.moment import EVENT, FIRES, FIRES_EMPTY, MAX, STEP, TIME, Moment, later
from sqlext.udfs.core.policy import Policy
from sqlext.udfs.core.trigger_program import Program
from sqlext.udfs.core.window_evictors import Eviction
from sqlext.udfs.core.window_group import CLOSED, DONE, END_SEEN, WRITTEN, WindowGroup
from sqlext.udfs.core.window_rows import EARLY, LATE, ON_TIME, Panes


class Firing:
    """Makes the panes of a step.

    Attributes:
        panes, ended, leftover: as in ``Decisions``.
    """

    def __init__(self, policy: Policy, program: Program, eviction: Eviction | None, moment: Moment) -> None:
        self.policy, self.root, self.initial = policy, program.root, program.initial
        self.waits_for_end = program.waits_for_end
        self.eviction, self.moment = eviction, moment
        self.lateness = 0 if policy.processing_time else policy.lateness
        self.panes = Panes.empty()
        self.ended: list[tuple[int, int, int]] = []
        self.leftover = 0

    # When.

    def ask(self, group: WindowGroup) -> None:
        """Make a pane if the trigger fires in this phase."""
        self.purge(group)
        level = self.root.ready(group, self.moment)
        if level >= FIRES:
            self._fire(group, level, expired=False)

    def purge(self, group: WindowGroup) -> None:
        """Throw the contents away if a trigger asked for it."""
        if self.moment.purge:
            self.moment.purge = False
            self.empty(group)

    def after_rows(self, group: WindowGroup) -> None:
        """Do what is tested once per step and group."""
        if not group.closed:
            self.moment.phase = STEP
            self.ask(group)

    def by_clock(self, group: WindowGroup, now: int) -> None:
        """Let due deadlines of the batch clock fire (M2, M4)."""
        moment = self.moment
        moment.phase = TIME
        while not group.closed and moment.due(deadline := self.root.processing(group)):
            if moment.each:
                moment.now = deadline + (1 if moment.strict else 0)
            self.root.tick(group, moment)
            self.ask(group)
            moment.now = now

    def by_watermark(self, group: WindowGroup, watermark: int, before: int) -> None:
        """Let deadlines of the watermark fire in time order: continuous, on-time, expiry (M7)."""
        moment = self.moment
        moment.phase = EVENT
        while not group.gone and (deadline := self.event_deadline(group)) <= watermark:
            each = moment.each and group.end != MAX
            self._pass(group, deadline if each else watermark)
        moment.watermark = before

    def event_deadline(self, group: WindowGroup) -> int:
        """Return the watermark at which something happens to a group."""
        deadline = self.expiry(group)
        if group.closed:
            return deadline
        if self.waits_for_end and not group.flags & END_SEEN:
            deadline = min(deadline, self.moment.passing(group.end))
        return min(deadline, self.root.event(group, self.moment))

    def processing_deadline(self, group: WindowGroup) -> int:
        """Return the batch clock at which something happens to a group."""
        return MAX if group.closed else self.root.processing(group)

    def expiry(self, group: WindowGroup) -> int:
        """Return the watermark at which a group goes (M8)."""
        return later(self.moment.passing(group.end), self.lateness)

    def close_idle(self, group: WindowGroup) -> None:
        """Give the last pane of a window that no row has come to for long (AND TIMEOUT), and remember it."""
        if not group.closed:
            self.moment.phase = EVENT
            self._closing(group, LATE if group.flags & DONE else ON_TIME)
            self._close(group)

    # What.

    def _pass(self, group: WindowGroup, watermark: int) -> None:
        moment = self.moment
        moment.watermark = watermark
        moment.end_now = moment.ended(group.end) and not group.flags & END_SEEN
        group.flags |= END_SEEN if moment.ended(group.end) else 0
        expired = watermark >= self.expiry(group)
        if not group.closed:
            self.root.tock(group, moment)
            self.purge(group)
            level = self.root.ready(group, moment)
            if level >= FIRES:
                self._fire(group, level, expired=expired)
            elif expired:
                self._closing(group, self._timing(group))
        moment.end_now = False
        if expired:
            self._end(group)
            group.gone = True

    def _fire(self, group: WindowGroup, level: int, *, expired: bool) -> None:
        self.root.on_fire(group, self.moment)
        finished = self.root.done(group)
        timing = self._timing(group)
        last = expired or finished
        if (
            group.rows
            or (level == FIRES_EMPTY and group.held)
            or (timing == ON_TIME and self.policy.empty_on_time_pane)
            or (timing == LATE and last and self.policy.final_pane == "ALWAYS")
        ):
            self._write(group, timing, last=last)
        if timing != EARLY:
            group.flags |= DONE
        self.purge(group)
        if finished:
            self._close(group)

    def _closing(self, group: WindowGroup, timing: int) -> None:
        if self.policy.final_pane == "NEVER":
            self.leftover += group.rows
            return
        may_be_empty = self.policy.empty_on_time_pane if timing == ON_TIME else self.policy.final_pane == "ALWAYS"
        if group.rows or may_be_empty:
            self._write(group, timing, last=True)

    def _timing(self, group: WindowGroup) -> int:
        if not self.moment.ended(group.end):
            return EARLY
        return LATE if group.flags & DONE else ON_TIME

    def _write(self, group: WindowGroup, timing: int, *, last: bool) -> None:
        if self.eviction is not None and not self.policy.evict_after:
            self._evict(group, self.eviction)
        panes, based = self.panes, group.last_pane >= 0
        panes.key.append(group.key)
        panes.start.append(group.start)
        panes.end.append(group.end)
        panes.retract.append(False)
        panes.base.append(group.last_pane)
        panes.segments.append(tuple(group.held[group.last_length :] if based else group.held))
        panes.index.append(group.index)
        panes.non_speculative_index.append(-1 if timing == EARLY else group.spec)
        panes.timing.append(timing)
        panes.is_first.append(group.index == 0)
        panes.is_last.append(last)
        panes.timestamp.append(self._timestamp(group))
        panes.written_before.append(bool(group.flags & WRITTEN))
        self._written(group, timing)

    def _written(self, group: WindowGroup, timing: int) -> None:
        group.index += 1
        group.spec += timing != EARLY
        group.flags |= WRITTEN
        group.rows, group.current = 0, None
        group.earliest = group.latest = None
        group.last_pane, group.last_length = len(self.panes) - 1, len(group.held)
        if self.policy.mode == "DISCARDING":
            self.empty(group)
        elif self.eviction is not None:
            if self.policy.evict_after:
                self._evict(group, self.eviction)
            group.last_pane, group.last_length = -1, 0

    def _evict(self, group: WindowGroup, eviction: Eviction) -> None:
        group.held = eviction.staying(group.held, group.marks)
        group.marks = {s: group.marks[s] for s in group.held}

    def _timestamp(self, group: WindowGroup) -> int | None:
        if group.end == MAX:
            return None
        chosen = {"EARLIEST": group.earliest, "LATEST": group.latest}.get(self.policy.pane_timestamp)
        return group.end - 1 if chosen is None else chosen

    # What goes.

    def retract(self, group: WindowGroup) -> None:
        """Take back what was written of a session that is gone, under its old bounds (M13)."""
        if not group.flags & WRITTEN:
            return
        self.ended.append((group.key, group.start, group.end))
        if self.policy.mode == "RETRACTING":
            panes = self.panes
            panes.key.append(group.key)
            panes.start.append(group.start)
            panes.end.append(group.end)
            panes.retract.append(True)
            panes.base.append(-1)
            panes.segments.append(())
            panes.index.append(group.index - 1)
            panes.non_speculative_index.append(group.spec - 1)
            panes.timing.append(EARLY)
            panes.is_first.append(False)
            panes.is_last.append(False)
            panes.timestamp.append(None)
            panes.written_before.append(True)

    def empty(self, group: WindowGroup) -> None:
        """Throw the contents away, and what a trigger knows of them."""
        group.empty()
        self.root.emptied(group)

    def _close(self, group: WindowGroup) -> None:
        self._end(group)
        self.empty(group)
        group.flags |= CLOSED
        group.bits, group.slots = 0, list(self.initial)

    def _end(self, group: WindowGroup) -> None:
        if group.flags & WRITTEN and not group.closed:
            self.ended.append((group.key, group.start, group.end))
