"""Give the rows of an as-of join before they are sure, and replace them when a nearer right row comes.

A left row has ``matches`` = 1 when it has come out, or would have, had it met anything. It is held until no nearer
right row is taken any more: until the watermark has passed what it has found by the lateness. What it had met before a
micro-batch is found again in the state, so nothing more is kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sqlext_udfs.joins.life import Lived, time_of
from sqlext_udfs.joins.nearest import NearestLife
from sqlext_udfs.joins.output import Given, JoinOutput, Replaced
from sqlext_udfs.joins.rows import Sides
from sqlext_udfs.joins.specification import JoinSpecification, NearestBound
from sqlext_udfs.kernel.groups import Bools, Groups, Ints
from sqlext_udfs.kernel.operator import Clock, Wakeup


class UpdatingNearestLife(NearestLife):
    """Give each left row with the best right row so far, and take it back for a better one.

    Args:
        specification: of the join.
        output: makes the rows that come out.
        bound: which right row is met, and how late rows may be.
    """

    def __init__(self, specification: JoinSpecification, output: JoinOutput, bound: NearestBound) -> None:
        super().__init__(specification, output, bound)
        self._early = bound.early
        self._lateness = bound.lateness

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give left rows that are new or due, and the change of those that have come out."""
        in_time = [rows.time >= self._limit(clock.late_watermark) for rows in new]
        late = sum(int(np.count_nonzero(~i)) for i in in_time)
        new = new.filter(*in_time)
        both = state.with_(new)
        if not both.rows():
            return Lived(both, [], late)
        left_keys, right_keys = self.keys_of(both)
        found = self.found(both.left.time, both.right, left_keys.ids, right_keys)
        shown = both.left.matches > 0
        due = ~shown & (self._early | (found.until < time_of(clock.watermark)))
        # Without new right rows nothing is nearer than before.
        before = found.places[: len(state.left)]
        if len(new.right) and shown.any():
            held = Groups(right_keys.ids[: len(state.right)], right_keys.count)
            before = self.found(state.left.time, state.right, left_keys.ids[: len(state.left)], held).places
        replaced, added = self._changes(before, found.places, shown, due)
        out = self.output.replacing(both.left, both.right, replaced, added)
        given = replace(both.left, matches=(shown | due).astype(np.int64))
        limit = self._limit(clock.watermark)
        waits = found.until >= limit
        needed = self.needed(found.versions, both, limit, both.left.time[waits])
        return Lived(Sides(given, both.right).filter(waits, needed), [out] if out.num_rows else [], late)

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when the first left row comes out, or is sure."""
        if not len(state.left):
            return Wakeup(None)
        # A time far ahead and the lateness fit into 64 bits, as times are ms from 1970 to the year 9999 or END.
        until = np.minimum(self.untils(state), Clock.END - 1 - self._lateness)
        return Wakeup(int((until + np.where(state.left.matches > 0, self._lateness, 0)).min()) + 1)

    def _changes(self, before: Ints, after: Ints, shown: Bools, due: Bools) -> tuple[Replaced, Given]:
        """Return left rows that meet another right row than before, and those that come out for the first time."""
        held = len(before)
        moved = np.flatnonzero(shown[:held] & (before != after[:held]))
        # An inner join has not given a row that met nothing.
        first = np.zeros(len(moved), np.bool_) if self.pads else before[moved] < 0
        places = np.flatnonzero(due if self.pads else due & (after >= 0))
        places = np.concatenate([moved[first], places])
        again = moved[~first]
        return Replaced(again, before[again], after[again]), Given(
            places, after[places], np.ones(len(places), np.int64)
        )

    def _limit(self, watermark: int | None) -> int:
        """Return the time before which rows are too late."""
        if watermark is None or watermark == Clock.END:
            return time_of(watermark)
        return watermark - self._lateness
