"""Replay how the watermark of a stream moves, by the time keeper of running queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sqlext.watermarks.advice.arrivals import Arrivals, Ints
from sqlext.watermarks.advice.assumption import Assumption
from sqlext.watermarks.inputs import WHOLE, Input
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
    keeper: TimeKeeper | None = None
    reached: list[int] = []
    clock: list[int] = []
    for seen in _batches(arrivals, assumed):
        now = max((s.largest for s in seen if s.largest is not None), default=clock[-1] if clock else 0)
        now = max(now, clock[-1]) if clock else now
        if keeper is None:
            keeper = TimeKeeper([Input(_NAME, idle=assumed.idle)], now)
            # The partitions of a topic are there before their first rows, and hold the watermark back until then.
            names = range(len(arrivals.labels)) if assumed.per_partition else ()
            keeper.saw(_NAME, [Seen(None, 0, str(n)) for n in names], now)
        keeper.saw(_NAME, seen, now)
        keeper.decide(now)
        reached.append(keeper.watermark if keeper.watermark is not None else NONE_YET)
        clock.append(now)
    after = np.array(reached, np.int64)
    before = np.full(min(assumed.behind, len(after)), NONE_YET, np.int64)
    return Reached(np.r_[before, after[: len(after) - len(before)]], after, np.array(clock, np.int64))


def _batches(arrivals: Arrivals, assumed: Assumption) -> Iterator[list[Seen]]:
    bounds = np.searchsorted(arrivals.batch, np.arange(arrivals.batches + 1))
    for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        counts = ~arrivals.ahead[start:end] if assumed.leaves_out else np.ones(end - start, np.bool_)
        time, rows = arrivals.time[start:end][counts], arrivals.rows[start:end][counts]
        if not assumed.per_partition:
            yield [Seen(int(time.max()), int(rows.sum()), WHOLE)] if len(time) else []
            continue
        partition = arrivals.partition[start:end][counts]
        yield [
            Seen(int(time[of].max()), int(rows[of].sum()), str(number))
            for number in np.unique(partition).tolist()
            for of in [partition == number]
        ]
