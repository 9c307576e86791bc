"""Simulate alignment: partitions that are too far ahead of the slowest one wait. Times are ms since 1970 UTC."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlext.watermarks.advice.arrivals import Arrivals, Ints
from sqlext.watermarks.advice.assumption import Assumption
from sqlext.watermarks.advice.replay import KeeperReplay, clock_of


@dataclass(frozen=True)
class Aligned:
    """Rows as an aligned stream would read them.

    Attributes:
        arrivals: those that are read, in their micro-batches, with the clock of those.
        later: how many rows are read in a later micro-batch than without alignment.
        most: how many rows wait at most after a micro-batch.
        left: how many rows still wait at the end; they are not among ``arrivals``.
        partitions: how many partitions have waited.
    """

    arrivals: Arrivals
    later: int = 0
    most: int = 0
    left: int = 0
    partitions: int = 0


def aligned(arrivals: Arrivals, assumed: Assumption) -> Aligned:
    """Return how a stream would be read whose partitions are held in step.

    The time keeper decides after each micro-batch who waits in the next one. The clock is that of the rows that have
    come, also of those that wait. A partition that need not wait any more gives all that has come meanwhile; of a
    query whose next rows are always there it gives a micro-batch at a time.
    """
    if assumed.drift is None or not assumed.per_partition or not arrivals.batches:
        return Aligned(arrivals)
    came, clock = _queues(arrivals), clock_of(arrivals, assumed)
    replay, rests = KeeperReplay(arrivals, assumed, int(clock[0])), assumed.behind == 1
    waiting: dict[int, deque[Ints]] = {}
    held: frozenset[int] = frozenset()
    read: list[Ints] = []
    most, have_waited = 0, set[int]()
    while True:
        for partition, entries in came.get(len(read), ()):
            waiting.setdefault(partition, deque()).append(entries)
        have_waited |= {p for p in held if waiting.get(p)}
        free = [queue for p, queue in sorted(waiting.items()) if queue and p not in held]
        if len(read) >= arrivals.batches and not free:
            break
        taken = [q.popleft() for q in free for _ in range(len(q) if rests else 1)]
        most = max(most, sum(int(arrivals.rows[e].sum()) for queue in waiting.values() for e in queue))
        entries = np.concatenate([np.zeros(0, np.int64), *taken])
        held = replay.batch(entries, int(clock[min(len(read), len(clock) - 1)]))
        read.append(entries)
    return _read(arrivals, read, clock, most, len(have_waited))


def _queues(arrivals: Arrivals) -> dict[int, list[tuple[int, Ints]]]:
    """Return of each micro-batch which partition has which entries in it."""
    pair = arrivals.batch * max(len(arrivals.labels), 1) + arrivals.partition
    order = np.argsort(pair, kind="stable")
    found: dict[int, list[tuple[int, Ints]]] = {}
    for entries in np.split(order, np.flatnonzero(np.diff(pair[order])) + 1):
        first = int(entries[0])
        found.setdefault(int(arrivals.batch[first]), []).append((int(arrivals.partition[first]), entries))
    return found


def _read(arrivals: Arrivals, read: Sequence[Ints], clock: Ints, most: int, partitions: int) -> Aligned:
    entries = np.concatenate(read)
    batch = np.repeat(np.arange(len(read)), [len(e) for e in read])
    rows = arrivals.rows[entries]
    moved = replace(
        arrivals,
        batch=batch,
        partition=arrivals.partition[entries],
        time=arrivals.time[entries],
        rows=rows,
        ahead=arrivals.ahead[entries],
        clock=np.r_[clock, np.full(max(len(read) - len(clock), 0), clock[-1])],
    )
    later = int(rows[batch > arrivals.batch[entries]].sum())
    return Aligned(moved, later, most, int(arrivals.rows.sum() - rows.sum()), partitions)
