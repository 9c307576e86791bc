"""Regular joins: rows match whenever they come (Flink: ``StreamingJoinOperator``)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sqlext.udfs.core.join_changes import Change
from sqlext.udfs.core.join_life import Life, Lived, first_time
from sqlext.udfs.core.join_output import JoinOutput
from sqlext.udfs.core.join_rows import JoinRows, Sides
from sqlext.udfs.core.join_specification import LEFT_SIDE, RIGHT_SIDE, JoinSpecification
from sqlext.udfs.core.operators import Clock, Wakeup


class RegularLife(Life):
    """Rows live for ever, or for some processing time after they were written."""

    def __init__(self, specification: JoinSpecification, output: JoinOutput, ttl: int | None) -> None:
        super().__init__(specification, output)
        self._ttl = ttl

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give the change of the result."""
        if self._ttl is not None:
            assert clock.now is not None, "a join whose rows have a time to live is asked with a batch clock"
            state = state.filter(*(rows.time > clock.now - self._ttl for rows in state))
            new = Sides(*(rows.written(clock.now) for rows in new))
        if not new.rows():
            return Lived(state, [])
        advanced = self.advance(state, new)
        left, right = advanced.left, advanced.right
        out = self.made(Sides(left.rows, right.rows), self.changed(advanced))
        kept = Sides(*(self._written(c, clock.now) for c in (left, right)))
        return Lived(kept.filter(self.useful(left, LEFT_SIDE), self.useful(right, RIGHT_SIDE)), out)

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when the first row is forgotten."""
        first = first_time(state)
        return Wakeup(processing=None if self._ttl is None or first is None else first + self._ttl)

    def _written(self, change: Change, now: int | None) -> JoinRows:
        """Return the rows, of which those with other matches than before count as written."""
        rows = change.rows
        if self._ttl is None or now is None:
            return rows
        return replace(rows, time=np.where(rows.matches != change.matches, now, rows.time))
