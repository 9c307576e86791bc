"""Join rows that match for some time: by event time, or by processing time.

Flink: ``TimeIntervalJoin`` (``RowTimeIntervalJoin`` and ``ProcTimeIntervalJoin``).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext_udfs.joins.changes import SideChange
from sqlext_udfs.joins.life import SIDES, Life, Lived, first_time, time_of
from sqlext_udfs.joins.output import JoinOutput, alone, shown, unmatched
from sqlext_udfs.joins.rows import Sides
from sqlext_udfs.joins.specification import ArrivalBound, JoinKind, JoinSpecification
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.operator import Clock, Wakeup


class IntervalLife(Life):
    """Keep rows until the watermark is greater than the time (ms) that they bring."""

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give matches at once, and rows without a match when they can have none any more."""
        # Rows that were over in the batch before, when the bucket may not have been called, do not meet the new ones.
        state, out = self._expired(state, clock.late_watermark)
        if new.rows():
            advanced = self.advance(state, new)
            changes = list(zip(SIDES, (advanced.left, advanced.right), strict=True))
            rows = Sides(advanced.left.rows, advanced.right.rows)
            out += self.made(rows, [*advanced.pairs, *(alone(s, self._settled(c, s)) for s, c in changes)])
            state = rows.filter(*(self.useful(c, s) for s, c in changes))
        state, more = self._expired(state, clock.watermark)
        return Lived(state, [*out, *more])

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when the first row expires."""
        first = first_time(state)
        # A row goes when the watermark is greater than its time, not at it.
        return Wakeup(None if first is None else min(first + 1, Clock.END))

    def _settled(self, change: SideChange, side: int) -> Ints:
        """Return how many of each row come out now: at its first match, or because its key matches nothing."""
        join = self.specification.join
        now = shown(join, side, change.rows.count, change.rows.matches)
        return now if join is JoinKind.SEMI else np.where(change.keys.ids < 0, now, 0)

    def _expired(self, state: Sides, watermark: int | None) -> tuple[Sides, list[pa.Table]]:
        """Return the state without rows that match nothing more, and those of them that had no match."""
        over = [rows.time < time_of(watermark) for rows in state]
        if not any(o.any() for o in over):
            return state, []
        join = self.specification.join
        parts = [
            alone(side, np.where(gone, unmatched(join, side, rows.count, rows.matches), 0))
            for side, rows, gone in zip(SIDES, state, over, strict=True)
        ]
        return state.filter(*(~o for o in over)), self.made(state, parts)


class ArrivalLife(IntervalLife):
    """Keep rows for some time of the batch clock, which takes the place of the watermark.

    A row's time (ms) is the last at which it can match.

    Args:
        specification: of the join.
        output: makes the rows that come out.
        bound: how far apart rows may come.
    """

    def __init__(self, specification: JoinSpecification, output: JoinOutput, bound: ArrivalBound) -> None:
        super().__init__(specification, output)
        self._bound = bound

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give matches at once, and rows without a match when they can have none any more."""
        assert clock.now is not None, "rows of processing time need the batch clock"
        arrived = Sides(
            new.left.written(clock.now + self._bound.upper), new.right.written(clock.now - self._bound.lower)
        )
        # The clock stands still at the end of input, where open rows must come out all the same.
        end = clock.watermark if clock.watermark == Clock.END else clock.now
        return super().step(state, arrived, Clock(end, clock.now))

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when the first row expires."""
        first = first_time(state)
        return Wakeup(processing=None if first is None else first + 1)
