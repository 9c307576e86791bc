"""Replay how the watermark of a stream moves, by the time keeper of running queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sqlext.watermarks.advice.arrivals import Arrivals, Flags, Ints
from sqlext.watermarks.advice.assumption import Assumption
from sqlext.watermarks.inputs import WHOLE, Alignment, Input
from sqlext.watermarks.keeper import Seen, TimeKeeper

#: The watermark before the first one; sums of it with durations still fit 64 bits.
NONE_YET = -(1 << 61)
_NAME = "input"


@dataclass(frozen=True)
class Reached:
    """How far a stream is after each micro-batch; with a delay, its watermark is behind this by the delay.

    Attributes:
        judging: the time by which rows of a micro-batch are judged.
        reached: the time that is reached after it; never falls.
        largest: the largest event time read so far; the clock of silences.
    """

    judging: Ints
    reached: Ints
    largest: Ints


def replayed(arrivals: Arrivals, assumed: Assumption) -> Reached:
    """Return how far a stream would be.

    A delay moves every watermark by the same, and the minimum of them too. So one replay without a delay serves all.
    """
    clock = clock_of(arrivals, assumed)
    reached: list[int] = []
    if len(clock):
        replay = KeeperReplay(arrivals, assumed, int(clock[0]))
        bounds = np.searchsorted(arrivals.batch, np.arange(arrivals.batches + 1)).tolist()
        for start, end, now in zip(bounds[:-1], bounds[1:], clock.tolist(), strict=True):
            replay.batch(np.arange(start, end), now)
            reached.append(replay.reached)
    after = np.array(reached, np.int64)
    before = np.full(min(assumed.behind, len(after)), NONE_YET, np.int64)
    return Reached(np.r_[before, after[: len(after) - len(before)]], after, clock)


def clock_of(arrivals: Arrivals, assumed: Assumption) -> Ints:
    """Return of each micro-batch what the clock shows: the largest event time that has come, as far as it counts."""
    if arrivals.clock is not None:
        return arrivals.clock[: arrivals.batches]
    largest = np.full(arrivals.batches, NONE_YET, np.int64)
    counts = _counts(arrivals, assumed)
    np.maximum.at(largest, arrivals.batch[counts], arrivals.time[counts])
    clock: Ints = np.maximum.accumulate(largest)
    # Before the first time there is none to show.
    return np.where(clock == NONE_YET, 0, clock)


class KeeperReplay:
    """A time keeper that is shown one micro-batch after the other.

    Args:
        arrivals: what has the entries that it is shown.
        assumed: how the stream is read and declared.
        start: what the clock shows before the first micro-batch.
    """

    def __init__(self, arrivals: Arrivals, assumed: Assumption, start: int) -> None:
        self._arrivals, self._counts, self._per_partition = arrivals, _counts(arrivals, assumed), assumed.per_partition
        alignment = Alignment(_NAME, assumed.drift) if assumed.drift is not None else None
        self._keeper = TimeKeeper([Input(_NAME, idle=assumed.idle, alignment=alignment)], start)
        # The partitions of a topic are there before their first rows, and hold the watermark back until then.
        names = range(len(arrivals.labels)) if assumed.per_partition else ()
        self._keeper.saw(_NAME, [Seen(None, 0, str(n)) for n in names], start)

    @property
    def reached(self) -> int:
        """The watermark without a delay; ``NONE_YET`` before the first one."""
        return self._keeper.watermark if self._keeper.watermark is not None else NONE_YET

    def batch(self, entries: Ints, now: int) -> frozenset[int]:
        """Take the entries of a micro-batch, and return the partitions that must wait in the next one."""
        self._keeper.saw(_NAME, self._seen(entries[self._counts[entries]]), now)
        held = self._keeper.decide(now).held.get(_NAME, frozenset())
        return frozenset(int(name) for name in held if name != WHOLE)

    def _seen(self, entries: Ints) -> Iterator[Seen]:
        time, rows = self._arrivals.time[entries], self._arrivals.rows[entries]
        if not self._per_partition:
            if len(entries):
                yield Seen(int(time.max()), int(rows.sum()), WHOLE)
            return
        partition = self._arrivals.partition[entries]
        for number in np.unique(partition).tolist():
            of = partition == number
            yield Seen(int(time[of].max()), int(rows[of].sum()), str(number))


def _counts(arrivals: Arrivals, assumed: Assumption) -> Flags:
    """Return which entries move watermarks and the clock."""
    return ~arrivals.ahead if assumed.leaves_out else np.ones(len(arrivals.ahead), np.bool_)
