"""Prepare the rows of a step for their groups: which are late, and which are added at once (rules M5, M7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.groups.assignment import Assignments
from sqlext_udfs.windows.panes.rows import ElementRows, Ints, Mask
from sqlext_udfs.windows.triggers.moment import MAX, MIN, TriggerMoment


@dataclass(slots=True)
class Element:
    """What is added to a group at once: a row, or rows of one batch that the trigger does not tell apart.

    Attributes:
        first: the position of the first row.
        count: how many source rows they stand for.
        least, greatest: their event times (ms), where they matter.
        rows: the positions of all of them; None: only the first.
    """

    first: int
    count: int
    least: int | None = None
    greatest: int | None = None
    rows: list[int] | None = None

    def positions(self) -> list[int]:
        """Return the positions of its rows."""
        return [self.first] if self.rows is None else self.rows


#: A session's window (start, end) and what has it.
Windowed: TypeAlias = "tuple[int, int, Element]"


class ArrivingElements:
    """The rows of a step, as the policy wants them added.

    Args:
        plan: the policy.
        rows: those of the step.
    """

    def __init__(self, plan: CompiledPolicy, rows: ElementRows) -> None:
        self.plan, self.rows = plan, rows
        self.least = rows.rowtime if rows.least is None else rows.least
        self.greatest = rows.rowtime if rows.greatest is None else rows.greatest

    def of_group(self, rows: Ints) -> Iterator[Element]:
        """Yield what is added to a group, in order of arrival.

        Args:
            rows: the positions of the group's rows, ascending.
        """
        if self.plan.combines:
            positions = rows.tolist()
            # An element that was combined before the shuffle stands for several rows.
            count = len(positions) if self.rows.count is None else int(self.rows.count[rows].sum())
            yield Element(positions[0], count, rows=positions)
        elif self.least is None or self.greatest is None:
            yield from (Element(row, 1) for row in rows.tolist())
        else:
            for row in rows.tolist():
                yield Element(row, 1, int(self.least[row]), int(self.greatest[row]))

    def of_sessions(self, assignments: Assignments) -> Iterator[tuple[int, list[Windowed]]]:
        """Yield each key with what is added to its sessions."""
        # Combined rows must lie by start to be joined; single rows stay in the order of arrival.
        by = (assignments.start, assignments.key) if self.plan.combines else (assignments.key,)
        ordered = assignments.only(np.lexsort(by))
        for low, high in pairwise(edges(ordered.key)):
            of_key = ordered.only(np.arange(low, high))
            yield int(of_key.key[0]), list(self._combined(of_key) if self.plan.combines else self._single(of_key))

    def _single(self, of_key: Assignments) -> Iterator[Windowed]:
        windows = zip(of_key.start.tolist(), of_key.end.tolist(), strict=True)
        for (start, end), element in zip(windows, self.of_group(of_key.element), strict=True):
            yield start, end, element

    def _combined(self, of_key: Assignments) -> Iterator[Windowed]:
        """Yield rows whose windows are one as one element: the trigger is asked once, after all of them."""
        starts, ends = of_key.start.tolist(), of_key.end.tolist()
        low, end = 0, ends[0]
        for i in range(1, len(starts) + 1):
            if i < len(starts) and (starts[i] <= end if self.plan.inclusive else starts[i] < end):
                end = max(end, ends[i])
                continue
            (element,) = self.of_group(np.sort(of_key.element[low:i]))
            yield starts[low], end, element
            if i < len(starts):
                low, end = i, ends[i]


def late_by_own_window(assignments: Assignments, moment: TriggerMoment, plan: CompiledPolicy) -> Mask:
    """Return which assignments are late by their own window, before it merges with others.

    Args:
        assignments: elements with their windows.
        moment: with the watermark by which rows are late.
        plan: the policy.
    """
    end, lateness = assignments.end, plan.lateness
    closed = np.asarray(end <= plan.closed)
    # No watermark yet: nothing is late.
    if moment.watermark == MIN:
        return closed
    # MAX stands for no end: it neither moves back nor grows by lateness.
    passing = np.where(end == MAX, end, end - 1) if moment.last_ms else end
    expiry = np.where(passing > MAX - lateness, MAX, passing + lateness)
    return np.asarray(expiry <= moment.watermark) | closed


def edges(*sorted_columns: Ints) -> list[int]:
    """Return where runs of equal entries begin, and where the last one ends."""
    length = len(sorted_columns[0])
    if not length:
        return [0]
    new = np.zeros(length - 1, bool)
    for column in sorted_columns:
        new |= column[1:] != column[:-1]
    found: list[int] = np.flatnonzero(np.r_[True, new, True]).tolist()
    return found
