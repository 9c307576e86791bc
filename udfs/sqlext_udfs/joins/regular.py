"""Join rows whenever they come (Flink: ``StreamingJoinOperator``)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sqlext_udfs.joins.changes import SideChange
from sqlext_udfs.joins.life import SIDES, Life, Lived
from sqlext_udfs.joins.output import JoinOutput
from sqlext_udfs.joins.rows import JoinRows, Sides
from sqlext_udfs.joins.specification import JoinSpecification
from sqlext_udfs.kernel.groups import Bools
from sqlext_udfs.kernel.operator import Clock, Wakeup


class RegularLife(Life):
    """Keep rows for ever, or for some processing time after they were written.

    Args:
        specification: of the join.
        output: makes the rows that come out.
        ttls: how long (ms) rows of each side live; None for ever.
    """

    def __init__(
        self, specification: JoinSpecification, output: JoinOutput, ttls: tuple[int | None, int | None]
    ) -> None:
        super().__init__(specification, output)
        self._ttls = ttls

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give the change of the result."""
        now = self._now(clock)
        state = state.filter(*(_lives(rows, ttl, now) for rows, ttl in zip(state, self._ttls, strict=True)))
        if not new.rows():
            return Lived(state, [])
        advanced = self.advance(state, Sides(*(rows.written(now) for rows in new)))
        changes = (advanced.left, advanced.right)
        out = self.made(Sides(*(c.rows for c in changes)), self.changed(advanced))
        kept = Sides(*(_written(change, now) for change in changes))
        return Lived(kept.filter(*(self.useful(c, s) for s, c in zip(SIDES, changes, strict=True))), out)

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when the first row is forgotten."""
        ends = [
            int(rows.time.min()) + ttl
            for rows, ttl in zip(state, self._ttls, strict=True)
            if ttl is not None and len(rows)
        ]
        return Wakeup(processing=min(ends, default=None))

    def _now(self, clock: Clock) -> int:
        """Return the time (ms) with which rows are written.

        It is 0 where no row is forgotten: a number that is the same in all rows takes no place in the state.
        """
        if self._ttls == (None, None):
            return 0
        assert clock.now is not None, "rows with a time to live need the batch clock"
        return clock.now


def _lives(rows: JoinRows, ttl: int | None, now: int) -> Bools:
    """Return which rows are not forgotten yet."""
    if ttl is None:
        return np.ones(len(rows), np.bool_)
    lives: Bools = rows.time > now - ttl
    return lives


def _written(change: SideChange, now: int) -> JoinRows:
    """Return the rows, of which those with other matches than before count as written."""
    rows = change.rows
    return replace(rows, time=np.where(rows.matches != change.matches, now, rows.time))
