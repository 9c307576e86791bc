"""The window operator's semantics: one call per micro-batch and bucket, which decides and aggregates nothing.

It touches the groups that get rows or have a deadline due, and no others, however many are open.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from sqlext.udfs.core.moment import MAX, MIN, Moment
from sqlext.udfs.core.operators import Clock
from sqlext.udfs.core.policy import Policy, Session
from sqlext.udfs.core.trigger_hooks import Conditions, Triggers
from sqlext.udfs.core.trigger_program import Program
from sqlext.udfs.core.trigger_rules import batch_insensitive, uses_clock
from sqlext.udfs.core.window_assignment import Assignments, assign
from sqlext.udfs.core.window_evictors import Eviction, Evictors
from sqlext.udfs.core.window_firing import Firing
from sqlext.udfs.core.window_group import CLOSED, WindowGroup
from sqlext.udfs.core.window_rows import Decisions, Ints, Mask, Rows
from sqlext.udfs.core.window_sessions import KeySessions, late_after_merge
from sqlext.udfs.core.window_state import StateLayout, WindowState, due, find, same_groups
from sqlext.udfs.core.window_step import Element, Step

_NONE: Ints = np.zeros(0, np.int64)


class WindowEngine:
    """A policy, compiled.

    Args:
        policy: what to do.
        conditions: the conditions of WHEN, by name.
        triggers: registered triggers, by name.
        evictors: registered evictors, by name.

    Raises:
        ValueError: if the trigger cannot be used with the window, or a name is not registered.
    """

    def __init__(
        self,
        policy: Policy,
        conditions: Conditions | None = None,
        triggers: Triggers | None = None,
        evictors: Evictors | None = None,
    ) -> None:
        self.policy = policy
        self.program = Program(policy, conditions or {}, triggers or {})
        self.layout = StateLayout(policy, self.program)
        self.eviction = None if policy.evictor is None else Eviction(policy.evictor, evictors or {})
        self.sessions = isinstance(policy.window, Session)
        self.combines = batch_insensitive(policy)
        self.lateness = 0 if policy.processing_time else policy.lateness

    def empty(self) -> WindowState:
        """Return the state before the first step."""
        return self.layout.empty()

    def step(self, state: WindowState, rows: Rows, clock: Clock, last_row: int | None = None) -> Decisions:
        """Return what a micro-batch does.

        Args:
            state: before; it is not changed.
            rows: in order of arrival.
            clock: with the watermark of the batch before, by which rows are late and rows and the batch clock make
                panes, and the current one, by which windows end (M6, M7). ``Clock.END`` is the end of input.
            last_row: the batch clock of the last micro-batch in which the query had rows, of any bucket; None: in
                which this state had. Only TIMEOUT of the query asks for it.

        Raises:
            ValueError: if the clock or the rows lack something that the policy needs.
        """
        if clock.now is None and uses_clock(self.policy):
            raise ValueError("this policy needs the batch clock")
        if not self.combines and rows.count is not None and (rows.count != 1).any():
            raise ValueError("rows were combined, but this trigger looks at single rows")
        return _Run(self, state, rows, clock, last_row).decide()


class _Run:
    """One step."""

    def __init__(
        self, engine: WindowEngine, state: WindowState, rows: Rows, clock: Clock, last_row: int | None
    ) -> None:
        policy, options = engine.policy, engine.policy.options
        self.engine, self.policy, self.state, self.rows = engine, policy, state, rows
        self.now = 0 if clock.now is None else clock.now
        # The windows of processing time end by the batch clock, and no row of this batch is late for them.
        self.before = MIN if policy.processing_time else self._held_back(clock.late_watermark)
        self.watermark = self.now if policy.processing_time else self._held_back(clock.watermark)
        self.moment = Moment(
            strict=options.deadline == "after",
            last_ms=options.window_end == "last_ms",
            each=options.missed_firings == "each",
            merging=engine.sessions,
            inclusive=options.session_gap == "inclusive",
        )
        self.moment.now, self.moment.watermark, self.moment.values = self.now, self.before, rows.values
        self.last_row = _latest(state.last_row, last_row, self.now if len(rows) else None)
        self.moment.last_row = MIN if self.last_row is None else self.last_row
        self.firing = Firing(policy, engine.program, engine.eviction, self.moment)
        self.step = Step(
            policy, engine.program, self.firing, self.moment, rows, state.next_segment, eviction=engine.eviction
        )
        self.late_windows = _NONE

    def decide(self) -> Decisions:
        """Do the step (rule M7)."""
        assignments = assign(self.policy, self.rows, self.now)
        touched = self._with_sessions(assignments) if self.engine.sessions else self._with_windows(assignments)
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
        return watermark if watermark in (MIN, MAX) else max(watermark - self.policy.delay, MIN)

    # Which groups.

    def _with_windows(self, assignments: Assignments) -> list[WindowGroup]:
        late = self._late_by_own(assignments)
        self.late_windows = assignments.element[late]
        assignments = assignments.only(~late)
        order = np.lexsort((assignments.end, assignments.start, assignments.key))
        ordered = assignments.only(order)
        edges = _edges(ordered)
        firsts = ordered.only(edges[:-1])
        at = find(self.state, firsts.key, firsts.start, firsts.end) if len(self.state) else np.zeros_like(firsts.key)
        at = same_groups(self.state, at, firsts.key, firsts.start, firsts.end)
        waiting = np.setdiff1d(self._due(), at)
        groups = self.engine.layout.groups(self.state, np.concatenate([at[at >= 0], waiting]))
        known = iter(groups)
        touched = []
        for i, (low, high) in enumerate(pairwise(edges)):
            group = next(known) if at[i] >= 0 else self._new(firsts, i)
            touched.append(group)
            for element in self._elements(ordered.element[low:high]):
                self._add(group, element)
            self.firing.after_rows(group)
        return touched + list(known)

    def _with_sessions(self, assignments: Assignments) -> list[WindowGroup]:
        keys = np.unique(assignments.key)
        of_keys = np.flatnonzero(np.isin(self.state.numbers("key"), keys)) if len(self.state) and len(keys) else _NONE
        groups = self.engine.layout.groups(self.state, np.union1d(of_keys, self._due()).astype(np.int64))
        by_key: dict[int, list[WindowGroup]] = {}
        for group in groups:
            by_key.setdefault(group.key, []).append(group)
        assignments = self._without_late_sessions(assignments, by_key)
        merged_away: list[WindowGroup] = []
        for key, windows in self._session_elements(assignments):
            sessions = KeySessions(self.step, by_key.pop(key, []), inclusive=self.moment.inclusive)
            for start, end, element in windows:
                sessions.add(key, start, end, element)
            for group in sessions.groups:
                self.firing.after_rows(group)
            by_key[key] = sessions.groups
            merged_away += sessions.merged_away
        return [g for of_key in by_key.values() for g in of_key] + merged_away

    def _due(self) -> Ints:
        if not len(self.state):
            return _NONE
        if self._idle():
            return np.arange(len(self.state), dtype=np.int64)
        return due(self.state, self.watermark, self.now, strict=self.moment.strict)

    def _idle(self) -> bool:
        timeout, last = self.policy.timeout, self.last_row
        return timeout is not None and last is not None and self.now >= last + timeout

    # Which rows.

    def _late_by_own(self, assignments: Assignments) -> Mask:
        if self.before == MIN:
            return np.zeros(len(assignments), bool)
        end = assignments.end
        passing = np.where(end == MAX, end, end - 1) if self.moment.last_ms else end
        expiry = np.where(passing > MAX - self.engine.lateness, MAX, passing + self.engine.lateness)
        return np.asarray(expiry <= self.before)

    def _without_late_sessions(self, assignments: Assignments, by_key: dict[int, list[WindowGroup]]) -> Assignments:
        late = self._late_by_own(assignments)
        if late.any() and self.policy.options.late_check == "after_merge":
            suspects = np.flatnonzero(late).tolist()
            merged = late_after_merge(assignments, suspects, by_key, self.moment, self.engine.lateness)
            late[:] = False
            late[sorted(merged)] = True
        self.late_windows = assignments.element[late]
        return assignments.only(~late)

    def _elements(self, rows: Ints) -> Iterator[Element]:
        """Yield what is added to a group: all at once where the trigger does not look at single rows."""
        source = self.rows
        least = source.rowtime if source.least is None else source.least
        greatest = source.rowtime if source.greatest is None else source.greatest
        timed = least is not None and greatest is not None
        if self.engine.combines:
            count = len(rows) if source.count is None else int(source.count[rows].sum())
            yield Element(int(rows[0]), count, None, None, rows.tolist())
            return
        for row in rows.tolist():
            if timed:
                assert least is not None
                assert greatest is not None
                yield Element(row, 1, int(least[row]), int(greatest[row]))
            else:
                yield Element(row, 1, None, None)

    def _session_elements(self, assignments: Assignments) -> Iterator[tuple[int, list[tuple[int, int, Element]]]]:
        order = np.lexsort((assignments.start, assignments.key)) if self.engine.combines else None
        ordered = assignments.only(np.argsort(assignments.key, kind="stable") if order is None else order)
        new_key = np.r_[True, ordered.key[1:] != ordered.key[:-1], True] if len(ordered) else np.ones(1, bool)
        for low, high in pairwise(np.flatnonzero(new_key).tolist()):
            of_key = ordered.only(np.arange(low, high))
            yield int(of_key.key[0]), list(self._windows_of_key(of_key))

    def _windows_of_key(self, ordered: Assignments) -> Iterator[tuple[int, int, Element]]:
        starts, ends = ordered.start.tolist(), ordered.end.tolist()
        if not self.engine.combines:
            for i, element in enumerate(self._elements(ordered.element)):
                yield starts[i], ends[i], element
            return
        # Rows whose windows are one are added as one: the trigger asks once, after all of them.
        low, start, end = 0, starts[0], ends[0]
        for i in range(1, len(starts) + 1):
            if i < len(starts) and (starts[i] <= end if self.moment.inclusive else starts[i] < end):
                end = max(end, ends[i])
                continue
            (element,) = self._elements(np.sort(ordered.element[low:i]))
            yield start, end, element
            if i < len(starts):
                low, start, end = i, starts[i], ends[i]

    def _new(self, firsts: Assignments, i: int) -> WindowGroup:
        return self.step.new_group(int(firsts.key[i]), int(firsts.start[i]), int(firsts.end[i]))

    def _add(self, group: WindowGroup, element: Element) -> None:
        if group.closed:
            self.step.refuse(element)
        else:
            self.step.add(group, element)

    # What comes of it.

    def _decisions(self, touched: list[WindowGroup]) -> Decisions:
        stays = [g for g in touched if not g.gone and not self._forgotten(g)]
        segments = np.asarray(self.step.segments, np.int64)
        elements = np.asarray(self.step.elements, np.int64)
        closed = np.asarray(self.step.closed, np.int64)
        kept = [(g.held, tuple(g.held)) for g in stays if g.held]
        if self.policy.evictor is None:
            kept_numbers, kept_from = [held[0] for held, _ in kept], [source for _, source in kept]
        else:
            kept_numbers = [s for held, _ in kept for s in held]
            kept_from = [(s,) for s in kept_numbers]
        before = np.asarray([g.origin for g in touched if g.origin >= 0], np.int64)
        return Decisions(
            state=self._next_state(touched, stays, before),
            elements=elements,
            segments=segments,
            panes=self.firing.panes,
            freed=self._freed(before),
            kept=kept_numbers,
            kept_from=kept_from,
            ended=self.firing.ended,
            late=np.setdiff1d(self.late_windows, np.union1d(elements, closed)),
            late_windows=self.late_windows,
            closed=np.setdiff1d(closed, elements),
            closed_windows=closed,
            leftover=self.firing.leftover,
        )

    def _forgotten(self, group: WindowGroup) -> bool:
        """Whether a group without window is as good as one that has not begun (``Policy.keep_index``)."""
        if self.policy.keep_index or group.end != MAX or group.held or group.flags & CLOSED or group.bits:
            return False
        return group.slots == list(self.engine.program.initial)

    def _freed(self, before: Ints) -> list[int]:
        return WindowState(self.state.table.take(before)).segments() if len(before) else []

    def _next_state(self, touched: list[WindowGroup], stays: list[WindowGroup], before: Ints) -> WindowState:
        last_row = self.last_row if self.policy.asks_last_row else None
        if not touched and last_row == self.state.last_row:
            return self.state
        stays.sort(key=lambda g: (g.key, g.start, g.end))
        deadlines = [(self.firing.event_deadline(g), self.firing.processing_deadline(g)) for g in stays]
        for group in stays:
            if self.policy.evictor is None:
                del group.held[1:]
        table = self.engine.layout.table(stays, deadlines)
        return WindowState(self.engine.layout.replaced(self.state, before, table), self.step.next_segment, last_row)


def _latest(*times: int | None) -> int | None:
    return max((t for t in times if t is not None), default=None)


def _edges(ordered: Assignments) -> Ints:
    """Return where groups begin in sorted assignments, and where the last one ends."""
    if not len(ordered):
        return np.zeros(1, np.int64)
    same = (ordered.key[1:] == ordered.key[:-1]) & (ordered.start[1:] == ordered.start[:-1])
    same &= ordered.end[1:] == ordered.end[:-1]
    return np.flatnonzero(np.r_[True, ~same, True]).astype(np.int64)
