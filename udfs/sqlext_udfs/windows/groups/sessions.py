"""Merge sessions: rows find the groups that they join, and groups become one (rules M7, M10, M13)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable

from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.groups.arriving import Element
from sqlext_udfs.windows.groups.assignment import Assignments
from sqlext_udfs.windows.groups.group import BEGAN_LATE, DONE, END_SEEN, WindowGroup
from sqlext_udfs.windows.groups.step import GroupStep
from sqlext_udfs.windows.triggers.moment import TriggerMoment, later


class KeySessions:
    """All groups of one key while rows are added.

    Args:
        step: the step.
        groups: those of the state.

    Attributes:
        groups: those that are there now, by their starts.
        merged_away: those that became part of others; they leave the state.
    """

    def __init__(self, step: GroupStep, groups: list[WindowGroup]) -> None:
        self.step, self.groups, self.inclusive = step, sorted(groups, key=_start), step.plan.inclusive
        self.merged_away: list[WindowGroup] = []
        self._longest = max((g.end - g.start for g in groups), default=0)

    def add(self, key: int, start: int, end: int, element: Element) -> None:
        """Add rows with their window to the session that it makes."""
        touched = self._touched(start, end)
        open_ones = [g for g in touched if not g.closed]
        if touched and not open_ones:
            # ONCE gave this session its pane. It goes on as far as its rows do, but takes none of them.
            for group in touched:
                group.start, group.end = min(group.start, start), max(group.end, end)
                self._longest = max(self._longest, group.end - group.start)
            self.groups.sort(key=_start)
            self.step.refuse(element)
            return
        self.step.add(self._joined(key, start, end, open_ones), element)

    def _touched(self, start: int, end: int) -> list[WindowGroup]:
        """Return the groups that a window touches: one key may have many, of which few are near."""
        found = []
        for place in range(bisect_right(self.groups, end, key=_start) - 1, -1, -1):
            group = self.groups[place]
            if group.start + self._longest < start:
                break
            if touches(group.start, group.end, start, end, inclusive=self.inclusive):
                found.append(group)
        return found[::-1]

    def _put(self, group: WindowGroup) -> None:
        insort(self.groups, group, key=_start)
        self._longest = max(self._longest, group.end - group.start)

    def _joined(self, key: int, start: int, end: int, olds: list[WindowGroup]) -> WindowGroup:
        if not olds:
            group = self.step.new_group(key, start, end)
            self._put(group)
            return group
        first = min(start, *(g.start for g in olds)), max(end, *(g.end for g in olds))
        if len(olds) == 1 and first == (olds[0].start, olds[0].end):
            return olds[0]
        merged = self._merge(olds, *first)
        # A session with new bounds is a new group, whose panes are counted from 0 (M10).
        for old in olds:
            self.groups.remove(old)
        self._put(merged)
        return merged

    def _merge(self, olds: list[WindowGroup], start: int, end: int) -> WindowGroup:
        olds.sort(key=lambda g: g.start)
        merged = self.step.new_group(olds[0].key, start, end)
        self.step.plan.program.root.merge(merged, olds, self.step.moment)
        # Before its own end a merged session is in its early phase again (M10).
        if self.step.moment.ended(end):
            # One part that began in time is enough for the session not to be LATE from the start (M9).
            late = all(g.flags & BEGAN_LATE for g in olds)
            done = any(g.flags & DONE for g in olds)
            merged.flags = END_SEEN | (BEGAN_LATE if late else 0) | (DONE if done else 0)
        merged.rows = sum(g.rows for g in olds)
        # Numbers of segments grow with arrival, so contents stay in that order.
        merged.held = sorted(s for g in olds for s in g.held)
        for group in olds:
            merged.marks |= group.marks
            if group.earliest is not None and group.latest is not None:
                merged.saw(group.earliest, group.latest)
            self.step.firing.writer.retract(group)
            group.gone = True
        # Only the bounds are new: the segment at hand still takes rows.
        if len(olds) == 1:
            merged.current = olds[0].current
        self.merged_away += olds
        return merged


def _start(group: WindowGroup) -> int:
    return group.start


def touches(start: int, end: int, other_start: int, other_end: int, *, inclusive: bool) -> bool:
    """Return whether two session windows (ms) are one; ``inclusive`` is the option ``session_gap``."""
    if inclusive:
        # Flink's TimeWindow.intersects is inclusive, Beam's IntervalWindow exclusive.
        return start <= other_end and other_start <= end
    return start < other_end and other_start < end


def merged_ends(windows: Iterable[tuple[int, int]], *, inclusive: bool) -> list[tuple[int, int]]:
    """Return the windows that a key's windows merge to, in order."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(windows):
        if merged and touches(*merged[-1], start, end, inclusive=inclusive):
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def late_after_merge(
    assignments: Assignments,
    suspects: list[int],
    sessions: dict[int, list[WindowGroup]],
    plan: CompiledPolicy,
    moment: TriggerMoment,
) -> set[int]:
    """Return which of some assignments are late when all windows of the step are merged with those in state (M7, 2).

    ``suspects`` are those that are late by their own window; no others can be.
    """
    keys = {int(assignments.key[i]) for i in suspects}
    windows: dict[int, list[tuple[int, int]]] = {k: [(g.start, g.end) for g in sessions.get(k, ())] for k in keys}
    for key, start, end in zip(assignments.key, assignments.start, assignments.end, strict=True):
        if int(key) in keys:
            windows[int(key)].append((int(start), int(end)))
    late = set()
    for key, own in windows.items():
        for start, end in merged_ends(own, inclusive=plan.inclusive):
            if end <= plan.closed or later(moment.passing(end), plan.lateness) <= moment.watermark:
                late |= {i for i in suspects if assignments.key[i] == key and start <= assignments.start[i] < end}
    return late
