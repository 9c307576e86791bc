"""Fire the panes of a group, in the order of a step (rules M2, M4, M6 to M9, M16, M18)."""

from __future__ import annotations

from sqlext_udfs.windows.evictors import Eviction
from sqlext_udfs.windows.groups.group import BEGAN_LATE, CLOSED, DONE, END_SEEN, WRITTEN, WindowGroup
from sqlext_udfs.windows.groups.writing import PaneWriter
from sqlext_udfs.windows.panes.rows import EARLY, LATE, ON_TIME
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.triggers.moment import EVENT, FIRES, FIRES_EMPTY, MAX, STEP, TIME, TriggerMoment, later
from sqlext_udfs.windows.triggers.program import TriggerProgram


class GroupFiring:
    """Make the panes of a step.

    Args:
        policy: what to do.
        program: its compiled trigger.
        eviction: its evictor; None without one.
        moment: where the step is; it is changed here.

    Attributes:
        writer: where the panes go.
        leftover: as in ``PaneDecisions``.
    """

    def __init__(
        self, policy: Policy, program: TriggerProgram, eviction: Eviction | None, moment: TriggerMoment
    ) -> None:
        self.policy, self.root, self.initial = policy, program.root, program.initial
        self.program = program
        self.moment = moment
        self.lateness = 0 if policy.processing_time else policy.lateness
        self.writer = PaneWriter(policy, program.root, eviction)
        self.leftover = 0

    # When.

    def ask(self, group: WindowGroup) -> None:
        """Make a pane if the trigger fires in this phase."""
        self.purge(group)
        # HOLDS is not enough: its condition holds, but no pane begins in this phase (M7).
        level = self.root.ready(group, self.moment)
        if level >= FIRES:
            self._fire(group, level, expired=False)

    def purge(self, group: WindowGroup) -> None:
        """Throw the contents away if a trigger asked for it."""
        if self.moment.purge:
            self.moment.purge = False
            self.writer.empty(group)

    def after_rows(self, group: WindowGroup) -> None:
        """Do what is tested once per step and group."""
        if not group.closed:
            self.moment.phase = STEP
            self.ask(group)

    def by_clock(self, group: WindowGroup, now: int) -> None:
        """Let due deadlines of the batch clock fire (M2, M4)."""
        moment = self.moment
        moment.phase = TIME
        while moment.due(deadline := self.processing_deadline(group)):
            # Fired one by one, each missed deadline sees the clock of its own time.
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
            # Flink's way (missed_firings = 'each'): one pane for each deadline that the watermark has jumped over.
            each = moment.each and group.end != MAX
            self._pass(group, deadline if each else watermark)
        # The clock phase of the next group goes by the old watermark again (M7).
        moment.watermark = before

    def event_deadline(self, group: WindowGroup) -> int:
        """Return the watermark (ms) at which something happens to a group."""
        deadline = self.expiry(group)
        # Closed by ONCE, it only waits for its expiry: until then its rows are told from late ones (M18).
        if group.flags & CLOSED:
            return deadline
        if self.program.waits_for_end and not group.flags & END_SEEN:
            deadline = min(deadline, self.moment.passing(group.end))
        return min(deadline, self.root.event(group, self.moment)) if self.program.has_event_deadlines else deadline

    def processing_deadline(self, group: WindowGroup) -> int:
        """Return the batch clock (ms) at which something happens to a group; MAX for never."""
        if not self.program.has_clock_deadlines or group.flags & CLOSED:
            return MAX
        return self.root.processing(group)

    def expiry(self, group: WindowGroup) -> int:
        """Return the watermark (ms) at which a group goes (M8)."""
        return later(self.moment.passing(group.end), self.lateness)

    def close_idle(self, group: WindowGroup) -> None:
        """Give the last pane of a window that no row has come to for long (AND TIMEOUT), and remember it."""
        if not group.closed:
            self.moment.phase = EVENT
            self._closing(group, LATE if group.flags & (DONE | BEGAN_LATE) else ON_TIME)
            self._close(group)

    # What.

    def _pass(self, group: WindowGroup, watermark: int) -> None:
        moment = self.moment
        moment.watermark = watermark
        # Before the flag is set, which tells later calls that the end has been seen.
        moment.end_now = moment.ended(group.end) and not group.flags & END_SEEN
        group.flags |= END_SEEN if moment.ended(group.end) else 0
        expired = watermark >= self.expiry(group)
        if not group.closed:
            self.root.tock(group, moment)
            self.purge(group)
            level = self.root.ready(group, moment)
            if level >= FIRES:
                self._fire(group, level, expired=expired)
            # Without a firing, what is left comes out in the closing pane (M8).
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
            self.writer.write(group, timing, last=last)
        # An on-time pane that was not written counts as done too (M9).
        if timing != EARLY:
            group.flags |= DONE
        self.purge(group)
        if finished:
            self._close(group)

    def _closing(self, group: WindowGroup, timing: int) -> None:
        # Rows in no pane are counted as dropped.
        if self.policy.final_pane == "NEVER":
            self.leftover += group.rows
            return
        may_be_empty = self.policy.empty_on_time_pane if timing == ON_TIME else self.policy.final_pane == "ALWAYS"
        if group.rows or may_be_empty:
            self.writer.write(group, timing, last=True)

    def _timing(self, group: WindowGroup) -> int:
        if not self.moment.ended(group.end):
            return EARLY
        return LATE if group.flags & (DONE | BEGAN_LATE) else ON_TIME

    # What goes.

    def _close(self, group: WindowGroup) -> None:
        self._end(group)
        self.writer.empty(group)
        group.flags |= CLOSED
        # A closed group asks no trigger any more, so all closed ones look alike in state.
        group.bits, group.slots = 0, list(self.initial)
        # Beam judges a row by its own window, before it merges: that was never closed, so it begins a session anew.
        group.gone = self.moment.merging and self.policy.options.late_check == "before_merge"

    def _end(self, group: WindowGroup) -> None:
        # Only such a window has a last row that RETRACTING keeps (M13).
        if group.flags & WRITTEN and not group.closed:
            self.writer.ended.append((group.key, group.start, group.end))
