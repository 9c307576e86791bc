"""Hold one step while it goes on: new groups, segments, and rows that are added one by one."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.evictors import Eviction
from sqlext_udfs.windows.groups.arriving import Element
from sqlext_udfs.windows.groups.firing import GroupFiring
from sqlext_udfs.windows.groups.group import BEGAN_LATE, END_SEEN, WindowGroup
from sqlext_udfs.windows.panes.rows import ElementRows
from sqlext_udfs.windows.triggers.moment import MAX, ROW, TriggerMoment


@dataclass(slots=True)
class GroupStep:
    """What changes while a step goes on.

    Attributes:
        plan: the policy.
        firing: makes panes.
        moment: where the step is.
        rows: those of the step.
        next_segment: the number of the next segment.
        elements, segments: parallel: which element is in which segment.
        closed: elements that came to closed groups, one for each window.
    """

    plan: CompiledPolicy
    firing: GroupFiring
    moment: TriggerMoment
    rows: ElementRows
    next_segment: int
    elements: list[int] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)

    def new_group(self, key: int, start: int, end: int) -> WindowGroup:
        """Return a group that begins now; after its end its panes are LATE from the first on (M9)."""
        group = WindowGroup(key, start, end, list(self.plan.program.initial))
        if end != MAX and self.moment.ended(end):
            group.flags = BEGAN_LATE | END_SEEN
        return group

    def add(self, group: WindowGroup, element: Element) -> None:
        """Add rows to a group, and give a pane if a row makes one."""
        moment = self.moment
        moment.phase, moment.row = ROW, element.first
        rowtime = self.rows.rowtime
        moment.rowtime = None if rowtime is None else int(rowtime[element.first])
        group.rows += element.count
        if element.least is not None and element.greatest is not None and element.greatest >= moment.watermark:
            # Rows behind the watermark do not count for PANE TIMESTAMP (M17).
            group.saw(max(element.least, moment.watermark), element.greatest)
        self._place(group, element)
        self.plan.program.root.on_row(group, moment, element.count)
        if not self.plan.combines:
            self.firing.ask(group)

    def refuse(self, element: Element) -> None:
        """Count rows that came to a closed group (M18)."""
        self.closed += element.positions()

    def _place(self, group: WindowGroup, element: Element) -> None:
        segment = group.current
        # An evictor takes single rows, so each of them is a segment of its own.
        if segment is None or self.plan.eviction is not None:
            segment = self.next_segment
            self.next_segment += 1
            group.held.append(segment)
            group.current = segment
            if self.plan.eviction is not None:
                group.marks[segment] = self._mark(element, self.plan.eviction)
        rows = element.positions()
        self.elements += rows
        self.segments += [segment] * len(rows)

    def _mark(self, element: Element, eviction: Eviction) -> float | None:
        if eviction.column is None:
            return self.moment.rowtime
        value = self.moment.value(eviction.column)
        # NaN stands for NULL among values, and only NaN differs from itself.
        return None if value != value else value
