"""Join left rows with the version of their key at their time: FOR SYSTEM_TIME AS OF, by event time.

The rules are Flink's (``TemporalRowTimeJoinOperator``). The version is the last one at or before the row's time; of
several at one time the one that came last. A late left row is not dropped: it comes out at once, and meets the versions
that are still held. Of each key these are the last version before the watermark and all later ones. Flink holds a
DELETE for ever. Here nothing of the key is held once the watermark has passed the DELETE and all earlier versions.
"""

from __future__ import annotations

import numpy as np

from sqlext_udfs.joins.changes import key_groups
from sqlext_udfs.joins.conditions import compared
from sqlext_udfs.joins.life import Life, Lived, time_of
from sqlext_udfs.joins.output import Given, JoinOutput
from sqlext_udfs.joins.rows import Sides
from sqlext_udfs.joins.specification import JoinSpecification
from sqlext_udfs.joins.versions import Versions
from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Bools, Ints
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
        versions = Versions.of(state.right.time, right_keys)
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
