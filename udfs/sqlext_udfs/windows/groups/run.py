"""Run one step of the window engine: which groups it touches, and in which order things happen (rule M7)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.groups.arriving import ArrivingElements, Element, edges, late_by_own_window
from sqlext_udfs.windows.groups.assignment import Assignments, assign
from sqlext_udfs.windows.groups.firing import GroupFiring
from sqlext_udfs.windows.groups.group import CLOSED, WindowGroup
from sqlext_udfs.windows.groups.sessions import KeySessions, late_after_merge
from sqlext_udfs.windows.groups.state import WindowState, due, find, same_groups
from sqlext_udfs.windows.groups.step import GroupStep
from sqlext_udfs.windows.panes.rows import ElementRows, Ints, PaneDecisions
from sqlext_udfs.windows.triggers.moment import MAX, MIN

_NONE: Ints = np.zeros(0, np.int64)


class GroupRun:
    """One step: rows and a clock change a state.

    Args:
        plan: the policy.
        state: before; it is not changed.
        rows: in order of arrival.
        clock: what time it is.
        last_row: as of ``WindowEngine.step``.
    """

    def __init__(
        self, plan: CompiledPolicy, state: WindowState, rows: ElementRows, clock: Clock, last_row: int | None
    ) -> None:
        self.plan, self.policy, self.state, self.rows = plan, plan.policy, state, rows
        self.now = 0 if clock.now is None else clock.now
        # The windows of processing time end by the batch clock, and no row of this batch is late for them.
        self.before = MIN if self.policy.processing_time else self._held_back(clock.late_watermark)
        self.watermark = self.now if self.policy.processing_time else self._held_back(clock.watermark)
        self.last_row = _latest(state.last_row, last_row, self.now if len(rows) else None)
        self.moment = plan.moment()
        self.moment.now, self.moment.watermark, self.moment.values = self.now, self.before, rows.values
        self.moment.last_row = MIN if self.last_row is None else self.last_row
        self.firing = GroupFiring(self.policy, plan.program, plan.eviction, self.moment)
        self.step = GroupStep(plan, self.firing, self.moment, rows, state.next_segment)
        self.elements = ArrivingElements(plan, rows)
        self.late_windows = _NONE

    def decide(self) -> PaneDecisions:
        """Do the step."""
        assignments = assign(self.policy, self.rows, self.now)
        touched = self._with_sessions(assignments) if self.plan.sessions else self._with_windows(assignments)
        for group in touched:
            if not group.gone:
                self.firing.by_clock(group, self.now)
                self.firing.by_watermark(group, self.watermark, self.before)
        if self._idle():
            for group in touched:
                if not group.gone:
                    self.firing.close_idle(group)
        return self._decisions(touched)

    def _held_back(self, watermark: int | None) -> int:
        if watermark is None:
            return MIN
        # WITH DELAY holds the watermark back, but not the end of input.
        return watermark if watermark in (MIN, MAX) else max(watermark - self.policy.delay, MIN)

    def _with_windows(self, assignments: Assignments) -> list[WindowGroup]:
        late = late_by_own_window(assignments, self.moment, self.plan)
        self.late_windows = assignments.element[late]
        assignments = assignments.only(~late)
        ordered = assignments.only(np.lexsort((assignments.end, assignments.start, assignments.key)))
        runs = edges(ordered.key, ordered.start, ordered.end)
        firsts = ordered.only(np.asarray(runs[:-1], np.int64))
        at = same_groups(self.state, find(self.state, firsts.key, firsts.start, firsts.end), firsts)
        found = (at >= 0).tolist()
        # Groups that get rows, in the order of ``firsts``, then those that only have a deadline due.
        windows = list(zip(firsts.key.tolist(), firsts.start.tolist(), firsts.end.tolist(), strict=True))
        known = iter(self.plan.layout.groups(self.state, np.r_[at[at >= 0], np.setdiff1d(self._due(), at)]))
        touched = []
        for i, (low, high) in enumerate(pairwise(runs)):
            group = next(known) if found[i] else self.step.new_group(*windows[i])
            touched.append(group)
            for element in self.elements.of_group(ordered.element[low:high]):
                self._add(group, element)
            self.firing.after_rows(group)
        return touched + list(known)

    def _with_sessions(self, assignments: Assignments) -> list[WindowGroup]:
        of_keys = np.flatnonzero(np.isin(self.state.numbers("key"), np.unique(assignments.key)))
        groups = self.plan.layout.groups(self.state, np.union1d(of_keys, self._due()).astype(np.int64))
        by_key: dict[int, list[WindowGroup]] = {}
        for group in groups:
            by_key.setdefault(group.key, []).append(group)
        assignments = self._without_late_sessions(assignments, by_key)
        merged_away: list[WindowGroup] = []
        for key, windows in self.elements.of_sessions(assignments):
            sessions = KeySessions(self.step, by_key.pop(key, []))
            for start, end, element in windows:
                sessions.add(key, start, end, element)
            for group in sessions.groups:
                self.firing.after_rows(group)
            by_key[key] = sessions.groups
            merged_away += sessions.merged_away
        # Groups that were merged away are touched too: their rows leave the state.
        return [g for of_key in by_key.values() for g in of_key] + merged_away

    def _without_late_sessions(self, assignments: Assignments, by_key: dict[int, list[WindowGroup]]) -> Assignments:
        late = late_by_own_window(assignments, self.moment, self.plan)
        # Beam judges a row by its own window (before_merge, Beam 3); by default the merged session decides.
        if late.any() and self.policy.options.late_check == "after_merge":
            suspects = [int(i) for i in np.flatnonzero(late)]
            merged = late_after_merge(assignments, suspects, by_key, self.plan, self.moment)
            late[:] = False
            late[sorted(merged)] = True
        self.late_windows = assignments.element[late]
        return assignments.only(~late)

    def _due(self) -> Ints:
        now = due(self.state, self.watermark, self.now, strict=self.moment.strict)
        return np.union1d(now, self.state.open()).astype(np.int64) if self._idle() else now

    def _idle(self) -> bool:
        timeout, last = self.policy.timeout, self.last_row
        return timeout is not None and last is not None and self.now >= last + timeout

    def _add(self, group: WindowGroup, element: Element) -> None:
        if group.closed:
            self.step.refuse(element)
        else:
            self.step.add(group, element)

    # What comes of it.

    def _decisions(self, touched: list[WindowGroup]) -> PaneDecisions:
        # Touched groups leave the state as it was, and those that stay come back as new rows.
        stays = [g for g in touched if not g.gone and not self._forgotten(g)]
        elements, closed = (np.asarray(of, np.int64) for of in (self.step.elements, self.step.closed))
        kept_from = self._kept(stays)
        before = np.asarray([g.origin for g in touched if g.origin >= 0], np.int64)
        writer = self.firing.writer
        return PaneDecisions(
            state=self._next_state(touched, stays, before),
            elements=elements,
            segments=np.asarray(self.step.segments, np.int64),
            panes=writer.panes(),
            freed=WindowState(self.state.table.take(before)).segments(),
            kept=[source[0] for source in kept_from],
            kept_from=kept_from,
            ended=writer.ended,
            late=np.setdiff1d(self.late_windows, np.union1d(elements, closed)),
            late_windows=self.late_windows,
            closed=np.setdiff1d(closed, elements),
            closed_windows=closed,
            leftover=self.firing.leftover,
        )

    def _kept(self, stays: list[WindowGroup]) -> list[tuple[int, ...]]:
        # Rows that an evictor may take must stay apart.
        if self.plan.eviction is not None:
            return [(segment,) for group in stays for segment in group.held]
        return [tuple(group.held) for group in stays if group.held]

    def _forgotten(self, group: WindowGroup) -> bool:
        """Whether a group without window is as good as one that has not begun (``Policy.keep_index``)."""
        if self.policy.keep_index or group.end != MAX or group.held or group.flags & CLOSED or group.bits:
            return False
        return group.slots == list(self.plan.program.initial)

    def _next_state(self, touched: list[WindowGroup], stays: list[WindowGroup], before: Ints) -> WindowState:
        # Only where somebody asks: else steps whose rows are all late would write a state.
        last_row = self.last_row if self.policy.asks_last_row else None
        if not touched and last_row == self.state.last_row:
            return self.state
        # The state is sorted, so that groups are found by binary search.
        stays.sort(key=lambda g: (g.key, g.start, g.end))
        deadlines = [(self.firing.event_deadline(g), self.firing.processing_deadline(g)) for g in stays]
        table = self.plan.layout.table(stays, deadlines)
        return WindowState(self.plan.layout.replaced(self.state, before, table), self.step.next_segment, last_row)


def _latest(*times: int | None) -> int | None:
    return max((t for t in times if t is not None), default=None)
