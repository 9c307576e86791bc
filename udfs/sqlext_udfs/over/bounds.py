"""Find where the frames of the rows that come out in a step lie, each kind of frame once."""

from __future__ import annotations

import numpy as np

from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.over.blocks import Blocks
from sqlext_udfs.over.specification import OverFrame
from sqlext_udfs.over.timeline import Timeline


class FrameBounds:
    """The frames of a timeline's rows.

    Args:
        timeline: the rows of a step.
    """

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._known: dict[OverFrame, tuple[Ints, Ints]] = {}
        self._blocks: dict[OverFrame, Blocks] = {}

    def of(self, frame: OverFrame) -> tuple[Ints, Ints]:
        """Return the first row of the frame of each row that comes out, and behind the last one.

        An unbounded frame begins with the first row of this step: what came before is a partial result. A frame may
        be empty.
        """
        if frame not in self._known:
            low = self._low(frame)
            self._known[frame] = (low, np.maximum(low, self._high(frame)))
        return self._known[frame]

    def blocks(self, frame: OverFrame) -> Blocks:
        """Return what these frames, of which none is empty, are made of."""
        if frame not in self._blocks:
            self._blocks[frame] = Blocks(*self.of(frame))
        return self._blocks[frame]

    def _low(self, frame: OverFrame) -> Ints:
        timeline = self.timeline
        if frame.preceding is None:
            # A frame that ends before its row goes on from what was kept: that ended so many rows earlier too.
            return np.maximum(timeline.starts, timeline.fresh + min(frame.following, 0))
        if frame.unit == "RANGE":
            return timeline.first_from(-frame.preceding)
        return np.clip(timeline.rows - frame.preceding, timeline.starts, timeline.stops)

    def _high(self, frame: OverFrame) -> Ints:
        timeline = self.timeline
        # RANGE ends with the last peer: rows of one time are in each other's frames.
        if frame.unit == "RANGE":
            return timeline.behind(frame.following)
        return np.clip(timeline.rows + frame.following + 1, timeline.starts, timeline.stops)
