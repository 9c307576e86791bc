"""Interval joins by processing time: rows match for some time of the batch clock (Flink: ``ProcTimeIntervalJoin``)."""

from __future__ import annotations

from sqlext_udfs.joins.interval import IntervalLife
from sqlext_udfs.joins.life import Lived, first_time
from sqlext_udfs.joins.output import JoinOutput
from sqlext_udfs.joins.rows import Sides
from sqlext_udfs.joins.specification import ArrivalBound, JoinSpecification
from sqlext_udfs.kernel.operator import Clock, Wakeup


class ArrivalLife(IntervalLife):
    """As by event time, where the batch clock is the watermark: a row's time is when it matches nothing more."""

    def __init__(self, specification: JoinSpecification, output: JoinOutput, bound: ArrivalBound) -> None:
        super().__init__(specification, output)
        self._bound = bound

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give matches at once, and rows without a match when they can have none any more."""
        assert clock.now is not None, "rows of processing time need the batch clock"
        arrived = Sides(
            new.left.written(clock.now + self._bound.upper), new.right.written(clock.now - self._bound.lower)
        )
        end = clock.watermark if clock.watermark == Clock.END else clock.now
        return super().step(state, arrived, Clock(end, clock.now))

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when the first row expires."""
        first = first_time(state)
        return Wakeup(processing=None if first is None else first + 1)
