"""Write panes: what is in one, how it is labelled, and what goes with it (rules M9, M13, M17, M19)."""

from __future__ import annotations

from typing import TypeAlias

from sqlext_udfs.windows.evictors import Eviction
from sqlext_udfs.windows.groups.group import WRITTEN, WindowGroup
from sqlext_udfs.windows.panes.rows import EARLY, Panes
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.triggers.moment import MAX
from sqlext_udfs.windows.triggers.nodes import TriggerNode

#: The entries of ``Panes`` for one pane, in its order.
Record: TypeAlias = "tuple[int, int, int, bool, int, tuple[int, ...], int, int, int, bool, bool, int | None, bool]"


class PaneWriter:
    """Collect the panes of a step.

    Args:
        policy: what to do.
        root: the compiled trigger, which is told when contents go.
        eviction: the evictor; None without one.

    Attributes:
        records: the panes, each with the entries of ``Panes``.
        ended: as in ``PaneDecisions``.
    """

    def __init__(self, policy: Policy, root: TriggerNode, eviction: Eviction | None) -> None:
        self.policy, self.root, self.eviction = policy, root, eviction
        self.timestamp = policy.pane_timestamp
        self.records: list[Record] = []
        self.ended: list[tuple[int, int, int]] = []

    def write(self, group: WindowGroup, timing: int, *, last: bool) -> None:
        """Write a pane of what a group holds now."""
        if self.eviction is not None and not self.policy.evict_after:
            self._evict(group, self.eviction)
        # What the last pane of this step had is not listed again: this pane is built upon it.
        began = group.last_length if group.last_pane >= 0 else 0
        pane: Record = (
            group.key,
            group.start,
            group.end,
            False,
            group.last_pane,
            tuple(group.held[began:] if began else group.held),
            group.index,
            -1 if timing == EARLY else group.spec,
            timing,
            group.index == 0,
            last,
            self._timestamp(group),
            bool(group.flags & WRITTEN),
        )
        self.records.append(pane)
        self._written(group, timing)

    def _written(self, group: WindowGroup, timing: int) -> None:
        group.index += 1
        group.spec += timing != EARLY
        group.flags |= WRITTEN
        group.rows, group.current = 0, None
        group.earliest = group.latest = None
        group.last_pane, group.last_length = len(self.records) - 1, len(group.held)
        if self.policy.mode == "DISCARDING":
            self.empty(group)
        # What an evictor leaves may have lost rows in the middle, so the next pane lists all it has.
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
        chosen = None
        if self.timestamp == "EARLIEST":
            chosen = group.earliest
        elif self.timestamp == "LATEST":
            chosen = group.latest
        # END OF WINDOW is its last millisecond, as Beam's maxTimestamp and Flink's window_time (M17).
        return group.end - 1 if chosen is None else chosen

    def retract(self, group: WindowGroup) -> None:
        """Take back what was written of a session that is gone, under its old bounds (M13)."""
        if not group.flags & WRITTEN:
            return
        self.ended.append((group.key, group.start, group.end))
        if self.policy.mode == "RETRACTING":
            bounds = (group.key, group.start, group.end)
            self.records.append(
                (*bounds, True, -1, (), group.index - 1, group.spec - 1, EARLY, False, False, None, True)
            )

    def panes(self) -> Panes:
        """Return all panes of the step."""
        return Panes(*map(list, zip(*self.records, strict=True))) if self.records else Panes.empty()

    def empty(self, group: WindowGroup) -> None:
        """Throw the contents away, and what a trigger knows of them."""
        group.empty()
        self.root.emptied(group)
