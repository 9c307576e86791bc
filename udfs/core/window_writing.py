"""Panes: what is in one, what it is called and what goes with it (rules M9, M13, M17, M19)."""

from __future__ import annotations

from sqlext.udfs.core.moment import MAX
from sqlext.udfs.core.policy import Policy
from sqlext.udfs.core.trigger_nodes import Node
from sqlext.udfs.core.window_evictors import Eviction
from sqlext.udfs.core.window_group import WRITTEN, WindowGroup
from sqlext.udfs.core.window_rows import EARLY, Panes


class PaneWriter:
    """Collects the panes of a step.

    Attributes:
        panes, ended: as in ``Decisions``.
    """

    def __init__(self, policy: Policy, root: Node, eviction: Eviction | None) -> None:
        self.policy, self.root, self.eviction = policy, root, eviction
        self.panes = Panes.empty()
        self.ended: list[tuple[int, int, int]] = []

    def write(self, group: WindowGroup, timing: int, *, last: bool) -> None:
        """Write a pane of what a group holds now."""
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
