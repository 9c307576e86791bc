"""Join rows that lie in the same window (Flink: ``WindowJoinOperator``)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext_udfs.joins.life import Life, Lived, first_time, time_of
from sqlext_udfs.joins.output import JoinOutput
from sqlext_udfs.joins.rows import Sides
from sqlext_udfs.joins.specification import JoinSpecification
from sqlext_udfs.kernel.operator import Clock, Wakeup


class WindowLife(Life):
    """Hold rows until the watermark reaches their window's end, and join them then.

    Args:
        specification: of the join, with a ``WindowBound``.
        output: makes the rows that come out.
        nothing: no rows of both sides.
    """

    def __init__(self, specification: JoinSpecification, output: JoinOutput, nothing: Sides) -> None:
        super().__init__(specification, output)
        self._nothing = nothing

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give the result of windows that are over."""
        # Windows that were over in the batch before, when the bucket may not have been called, do not get the new rows.
        state, out = self._fired(state, clock.late_watermark)
        in_time = [rows.time > time_of(clock.late_watermark) for rows in new]
        late = sum(int(np.count_nonzero(~i)) for i in in_time)
        state, more = self._fired(state.with_(new.filter(*in_time)), clock.watermark)
        return Lived(state, [*out, *more], late)

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return the first end of a window."""
        return Wakeup(first_time(state))

    def _fired(self, state: Sides, watermark: int | None) -> tuple[Sides, list[pa.Table]]:
        """Return the state without windows that are over, and their results."""
        over = [rows.time <= time_of(watermark) for rows in state]
        if not any(o.any() for o in over):
            return state, []
        advanced = self.advance(self._nothing, state.filter(*over))
        out = self.made(Sides(advanced.left.rows, advanced.right.rows), self.changed(advanced))
        return state.filter(*(~o for o in over)), out
