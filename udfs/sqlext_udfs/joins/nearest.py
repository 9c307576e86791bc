"""Join each left row with the right row of its key that is nearest in time: ASOF JOIN.

Right rows of one key and time replace each other: the one that came last counts, as in a temporal join.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.joins.changes import key_groups
from sqlext_udfs.joins.life import Life, Lived, time_of
from sqlext_udfs.joins.output import Given, JoinOutput
from sqlext_udfs.joins.rows import JoinRows, Sides
from sqlext_udfs.joins.specification import JoinSpecification, Nearest, NearestBound
from sqlext_udfs.joins.versions import Versions
from sqlext_udfs.kernel.groups import Bools, Groups, Ints
from sqlext_udfs.kernel.operator import Clock, Wakeup

#: Further away than any row. Times (ms) plus this fit into 64 bits.
_FAR = 1 << 61


class NearestSoFar(NamedTuple):
    """What held left rows have found so far.

    Attributes:
        versions: the right rows.
        places: of the right row that each left row meets; -1 for none.
        until: once the watermark is greater than that (ms), no nearer right row can come.
    """

    versions: Versions
    places: Ints
    until: Ints


class NearestLife(Life):
    """Hold left rows until no nearer right row can come, and right rows until no left row can ask for them.

    Args:
        specification: of the join.
        output: makes the rows that come out.
        bound: which right row is met.
    """

    def __init__(self, specification: JoinSpecification, output: JoinOutput, bound: NearestBound) -> None:
        super().__init__(specification, output)
        self._keys = specification.keys
        self.pads = specification.join.pads_left
        self._nearest = Nearest(bound.nearest)
        self._tolerance = _FAR if bound.tolerance is None else bound.tolerance

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give the left rows that have found what they meet."""
        # What was decided in the batch before, when the bucket may not have been called, does not meet the new rows.
        out: list[pa.Table] = []
        if bool((state.left.time < time_of(clock.late_watermark)).any()):  # else none is decided
            state, out = self._decided(state, clock.late_watermark)
        in_time = [rows.time >= time_of(clock.late_watermark) for rows in new]
        late = sum(int(np.count_nonzero(~i)) for i in in_time)
        state, more = self._decided(state.with_(new.filter(*in_time)), clock.watermark)
        return Lived(state, [*out, *more], late)

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when the first left row comes out."""
        if not len(state.left):
            return Wakeup(None)
        return Wakeup(min(int(self.untils(state).min()) + 1, Clock.END))

    def _decided(self, state: Sides, watermark: int | None) -> tuple[Sides, list[pa.Table]]:
        """Return the state without left rows that are decided, and what these met."""
        until = time_of(watermark)
        if not state.rows():
            return state, []
        left_keys, right_keys = self.keys_of(state)
        # No row is decided before its own time: what the others have found by now is not asked.
        asked = np.flatnonzero(state.left.time < until)
        found = self.found(state.left.time[asked], state.right, left_keys.ids[asked], right_keys)
        decided = found.until < until
        places, met = asked[decided], found.places[decided]
        due = np.zeros(len(state.left), np.bool_)
        due[places] = True
        if not self.pads:
            places, met = places[met >= 0], met[met >= 0]
        out = self.made(state, [Given(places, met, state.left.count[places])])
        return state.filter(~due, self.needed(found.versions, state, until, state.left.time[~due])), out

    def untils(self, state: Sides) -> Ints:
        """Return of each left row the time (ms) by which no nearer right row can come; see ``NearestSoFar``."""
        if not self._nearest.looks_ahead:
            return np.minimum(state.left.time, Clock.END - 1)
        left_keys, right_keys = self.keys_of(state)
        return self.found(state.left.time, state.right, left_keys.ids, right_keys).until

    def keys_of(self, state: Sides) -> tuple[Groups, Groups]:
        """Return the groups of equal keys of both sides."""
        return key_groups([state.left], [state.right], self._keys, null_safe=False)

    def found(self, times: Ints, right: JoinRows, keys: Ints, right_keys: Groups) -> NearestSoFar:
        """Return what left rows have found by now.

        Args:
            times: of the left rows (ms).
            right: the rows of the other side.
            keys: the numbers of the left rows' keys.
            right_keys: the groups of the other side's keys.
        """
        versions = Versions.of(right.time, right_keys)
        back = np.full(len(times), -1, np.int64)
        inclusive = self._nearest.at_once
        if self._nearest.looks_back:
            back = self._near(times, right, versions.at(keys, times, inclusive=inclusive))
        if not self._nearest.looks_ahead:
            return NearestSoFar(versions, back, np.minimum(times, Clock.END - 1))
        ahead = self._near(times, right, versions.after(keys, times, inclusive=inclusive))
        from_back, from_ahead = _distances(times, right, back), _distances(times, right, ahead)
        places = np.where(from_back <= from_ahead, back, ahead)
        # A right row that is further ahead than what is found, or than the tolerance, changes nothing.
        ahead_of = np.minimum(np.minimum(from_back, from_ahead), self._tolerance)
        # A NULL key meets nothing. Such a row comes out in its own time.
        waits = np.where(keys >= 0, ahead_of, 0)
        return NearestSoFar(versions, places, np.minimum(times + waits, Clock.END - 1))

    def _near(self, times: Ints, right: JoinRows, places: Ints) -> Ints:
        """Return places of right rows without those that are too far away."""
        if self._tolerance == _FAR:
            return places
        return np.where(_distances(times, right, places) <= self._tolerance, places, -1)

    def needed(self, versions: Versions, state: Sides, watermark: int, waiting: Ints) -> Bools:
        """Return which right rows may still be met, by left rows that wait (of these times) and by those to come."""
        first = min(watermark, int(waiting.min())) if len(waiting) else watermark
        if not self._nearest.looks_back:
            # What waits has found nothing before the watermark: it would be decided.
            return versions.needed(state.right, watermark) & (state.right.time >= watermark)
        return versions.needed(state.right, first) & (state.right.time >= first - self._tolerance)


def _distances(times: Ints, right: JoinRows, places: Ints) -> Ints:
    """Return how far (ms) left rows are from right ones; ``_FAR`` where there is none."""
    distances = np.full(len(places), _FAR, np.int64)
    there = np.flatnonzero(places >= 0)
    distances[there] = np.abs(times[there] - right.time[places[there]])
    return distances
