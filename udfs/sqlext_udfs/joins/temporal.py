"""Join left rows with the version of their key at their time: FOR SYSTEM_TIME AS OF, by event time.

The rules are Flink's (``TemporalRowTimeJoinOperator``). The version is the last one at or before the row's time; of
several at one time the one that came last. A late left row is not dropped: it comes out at once, and meets the versions
that are still held. Of each key these are the last version before the watermark and all later ones. Flink holds a
DELETE for ever. Here nothing of the key is held once the watermark has passed the DELETE and all earlier versions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlext_udfs.joins.changes import key_groups
from sqlext_udfs.joins.conditions import compared
from sqlext_udfs.joins.life import Life, Lived, time_of
from sqlext_udfs.joins.output import Given, JoinOutput
from sqlext_udfs.joins.rows import JoinRows, Sides
from sqlext_udfs.joins.specification import JoinSpecification
from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Bools, Groups, Ints, stable_order
from sqlext_udfs.kernel.operator import Clock, Wakeup


class TemporalLife(Life):
    """Hold left rows until no earlier version can come, and versions until a later one is in force.

    Args:
        specification: of the join, with a ``VersionBound``.
        output: makes the rows that come out.
    """

    def __init__(self, specification: JoinSpecification, output: JoinOutput) -> None:
        super().__init__(specification, output)
        self._keys = specification.keys
        self._pads = specification.join.pads_left
        self._comparisons = self.advance.comparisons

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give the left rows whose time has passed, each with its version."""
        state = state.with_(new)
        until = time_of(clock.watermark)
        due = state.left.time < until
        if not new.rows() and not due.any():
            return Lived(state, [])
        left_keys, right_keys = key_groups([state.left], [state.right], self._keys, null_safe=False)
        versions = _Versions.of(state.right.time, right_keys)
        places = np.flatnonzero(due)
        found = versions.at(left_keys.ids[places], state.left.time[places])
        found[~self._holds(state, places, found)] = -1
        if not self._pads:
            places, found = places[found >= 0], found[found >= 0]
        out = self.made(state, [Given(places, found, state.left.count[places])])
        return Lived(state.filter(~due, versions.needed(state.right, until)), out)

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when the first left row comes out."""
        times = state.left.time
        return Wakeup(min(int(times.min()) + 1, Clock.END) if len(times) else None)

    def _holds(self, state: Sides, left: Ints, right: Ints) -> Bools:
        """Return which left rows have found a version (not a DELETE) that fulfils the conditions."""
        holds = right >= 0
        # A version with a negative count is a DELETE: from its time on there is no row.
        holds[holds] = state.right.count[right[holds]] > 0
        if self.advance.rest is not None:
            asked = np.flatnonzero(holds)
            sides = state.left.columns, state.right.columns
            holds[asked] = self.advance.rest.holds(sides, left[asked], right[asked])
        if not self._comparisons:
            return holds
        places = np.arange(len(left))
        for c in self._comparisons:
            values = taken(state.left.columns[c.left], left), taken(state.right.columns[c.right], right)
            holds &= compared(c.operator, *values, (c.left, c.right), null_aware=c.null_aware).holds(places, places)
        return holds


class _Versions(NamedTuple):
    """Versions by key and time.

    Attributes:
        times: at which there are versions, ascending.
        order: places of the versions by key and time, of those at one time in the order in which they came.
        numbers: of key and time, in this order.
        keys: of the versions, in this order.
    """

    times: Ints
    order: Ints
    numbers: Ints
    keys: Ints

    @classmethod
    def of(cls, times: Ints, keys: Groups) -> _Versions:
        """Return versions by their times and keys."""
        steps, place = np.unique(times, return_inverse=True)
        # Key and time as one number, so one sort and one binary search serve all keys.
        numbers = keys.ids * len(steps) + place
        order = stable_order(numbers)
        return cls(steps, order, numbers[order], keys.ids[order])

    def at(self, keys: Ints, times: Ints) -> Ints:
        """Return the place of the last version of each key at or before a time; -1 if there is none."""
        if not len(self.order):
            return np.full(len(keys), -1, np.int64)
        last = np.searchsorted(self.times, times, "right") - 1
        place = np.searchsorted(self.numbers, keys * len(self.times) + last, "right") - 1
        is_there = (place >= 0) & (keys >= 0) & (self.keys[place] == keys)
        return np.where(is_there, self.order[place], -1)

    def needed(self, versions: JoinRows, watermark: int) -> Bools:
        """Return which versions rows may still ask for, in the order of their places."""
        times, exists = versions.time[self.order], versions.count[self.order] > 0
        passed = times < watermark
        needed = exists | ~passed
        # The next one is in force before any row that comes in time, or stands for the same time.
        replaced = (self.keys[1:] == self.keys[:-1]) & (passed[1:] | (times[1:] == times[:-1]))
        needed[:-1] &= ~replaced
        result = np.empty_like(needed)
        result[self.order] = needed
        return result
