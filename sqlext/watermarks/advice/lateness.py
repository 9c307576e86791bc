"""Count what a delay of the watermark would lose, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sqlext.watermarks.advice.arrivals import Arrivals, Flags, Ints
from sqlext.watermarks.advice.assumption import Assumption
from sqlext.watermarks.advice.replay import Reached, replayed
from sqlext.watermarks.ends import Ends

#: The lag of a row that is late with any delay.
ALWAYS = 1 << 60


@dataclass(frozen=True)
class Lateness:
    """How late the rows of a stream are.

    A row is late when the watermark has reached its deadline: its own time, or the end of its window.

    Attributes:
        arrivals: the rows.
        assumed: how the stream is read and declared.
        windows: whose ends are the deadlines; None: the event times are.
    """

    arrivals: Arrivals
    assumed: Assumption = field(default_factory=Assumption)
    windows: Ends | None = None

    @cached_property
    def progress(self) -> Reached:
        """How far the stream is after each micro-batch."""
        return replayed(self.arrivals, self.assumed)

    @cached_property
    def deadline(self) -> Ints:
        """The watermark from which on a row is late."""
        windows, (times, places) = self.windows, np.unique(self.arrivals.time, return_inverse=True)
        if windows is None:
            return self.arrivals.time
        ends = [windows.after(time, time) for time in times.tolist()]
        return np.array(ends, np.int64)[places.reshape(-1)] if ends else times

    @cached_property
    def lag(self) -> Ints:
        """The largest delay (ms) with which an entry is late."""
        found = self.progress.judging[self.arrivals.batch] - self.deadline
        return np.where(self.arrivals.ahead, ALWAYS, found) if self.assumed.leaves_out else found

    def late(self, delay: int) -> Flags:
        """Return which entries are late with a delay (ms)."""
        # Spark and our operators drop what is at the watermark too.
        return np.asarray(self.lag >= delay)

    def rows(self, which: Flags | None = None) -> Ints:
        """Return how many rows each partition has, of all entries or of some."""
        rows = self.arrivals.rows if which is None else np.where(which, self.arrivals.rows, 0)
        return _counted(self.arrivals.partition, rows, len(self.arrivals.labels))

    @cached_property
    def _window(self) -> tuple[Ints, Ints]:
        """Of each entry the number of its window; of each window of a partition its partition."""
        _, number = np.unique(self.deadline, return_inverse=True)
        number = number.reshape(-1).astype(np.int64)
        return number, number + self.arrivals.partition * (int(number.max(initial=0)) + 1)

    def windows_of(self, which: Flags | None = None) -> tuple[int, Ints]:
        """Return how many windows have an entry among all or some of them: in total, and of each partition."""
        number, pair = self._window
        chosen = np.ones(len(number), np.bool_) if which is None else which
        _, first = np.unique(pair[chosen], return_index=True)
        of = self.arrivals.partition[chosen][first]
        return len(np.unique(number[chosen])), _counted(of, np.ones(len(of), np.int64), len(self.arrivals.labels))

    def wrong_windows(self, delay: int) -> list[tuple[int, int, int]]:
        """Return of each window that misses rows its end (ms), how many it misses, and how many it should have.

        Those that miss most come first.
        """
        ends, number = np.unique(self.deadline, return_inverse=True)
        rows = _counted(number.reshape(-1), self.arrivals.rows, len(ends))
        lost = _counted(number.reshape(-1), np.where(self.late(delay), self.arrivals.rows, 0), len(ends))
        order = [n for n in np.lexsort((ends, -lost)).tolist() if lost[n]]
        return [(int(ends[n]), int(lost[n]), int(rows[n])) for n in order]

    def wait(self, delay: int) -> int | None:
        """Return how far event time has gone on, on average, when a row or window comes out; None if none does."""
        kept = ~self.late(delay)
        deadline, rows = self.deadline[kept], self.arrivals.rows[kept]
        if self.windows is not None:  # a window comes out once, however many rows it has
            deadline = np.unique(deadline)
            rows = np.ones(len(deadline), np.int64)
        released = np.searchsorted(self.progress.reached, deadline + delay)
        there = released < len(self.progress.reached)
        if not there.any():
            return None
        waits = self.progress.largest[released[there]] - deadline[there]
        return int(np.average(waits, weights=rows[there]))

    def held(self, delay: int) -> tuple[int, int]:
        """Return how many rows, and how many windows, are at most open after a micro-batch."""
        kept = ~self.late(delay)
        batch, deadline = self.arrivals.batch[kept], self.deadline[kept]
        released = np.searchsorted(self.progress.reached, deadline + delay)
        rows = _peak(batch, released, self.arrivals.rows[kept])
        windows, first = np.unique(deadline, return_index=True)
        return rows, _peak(batch[first], released[first], np.ones(len(windows), np.int64))

    @cached_property
    def gaps(self) -> tuple[int, Ints]:
        """The longest time between two event times that follow each other: of all rows, and of each partition."""
        order = np.lexsort((self.arrivals.time, self.arrivals.partition))
        time, partition = self.arrivals.time[order], self.arrivals.partition[order]
        longest = np.zeros(len(self.arrivals.labels), np.int64)
        same = partition[1:] == partition[:-1]
        np.maximum.at(longest, partition[1:][same], np.diff(time)[same])
        return int(np.diff(np.unique(time)).max(initial=0)), longest


def _counted(numbers: Ints, amounts: Ints, most: int) -> Ints:
    found = np.zeros(most, np.int64)
    np.add.at(found, numbers, amounts)
    return found


def _peak(came: Ints, went: Ints, amounts: Ints) -> int:
    """Return the largest sum of what has come and not gone, after any micro-batch."""
    changes = np.zeros(int(came.max(initial=-1)) + 2, np.int64)
    np.add.at(changes, came, amounts)
    # What leaves after the last one that something comes with is never missed.
    np.add.at(changes, np.minimum(went, len(changes) - 1), -amounts)
    return int(changes.cumsum().max(initial=0))
