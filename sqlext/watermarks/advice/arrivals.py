"""Hold which event times came with which micro-batch: all that lateness depends on. Times are ms since 1970 UTC."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Arrivals:
    """Rows in the order in which a stream would read them; rows of one batch, partition and time are one entry.

    Attributes:
        labels: the partitions, by their numbers.
        batch: of each entry its micro-batch, from 0; never falls.
        partition: its number.
        time: the event time.
        rows: how many rows it stands for.
        ahead: whether it lies further ahead of the clock than is allowed.
        nulls: rows without an event time, which are not among the entries.
        clock: of each micro-batch what its clock shows, if that is not the largest event time read so far.
    """

    labels: tuple[Hashable, ...]
    batch: Ints
    partition: Ints
    time: Ints
    rows: Ints
    ahead: Flags
    nulls: int = 0
    clock: Ints | None = None

    @property
    def batches(self) -> int:
        """How many micro-batches there are."""
        return int(self.batch[-1]) + 1 if len(self.batch) else 0


@dataclass
class Gathering:
    """Makes ``Arrivals`` of one piece after the other.

    Attributes:
        nulls: rows without an event time so far.
    """

    nulls: int = 0
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _pieces: list[tuple[Ints, ...]] = field(default_factory=list)
    _batches: int = 0

    def add(self, labels: Sequence[Hashable], partition: Ints, time: Ints, rows: Ints, limit: int | None) -> None:
        """Take some rows of the micro-batch that is under way.

        Args:
            labels: partitions.
            partition: of each entry the place of its partition among them.
            time: its event time.
            rows: how many rows it stands for.
            limit: the latest event time that is not ahead of the clock; None where no clock is known.
        """
        numbers = np.array([self._numbers.setdefault(label, len(self._numbers)) for label in labels], np.int64)
        # Sorted by partition and time, so that equal entries are neighbours.
        order = np.lexsort((time, partition))
        partition, time, rows = partition[order], time[order], rows[order]
        first = np.flatnonzero(np.r_[True, (np.diff(partition) != 0) | (np.diff(time) != 0)]) if len(time) else order
        ahead = time[first] > limit if limit is not None else np.zeros(len(first), np.bool_)
        batch = np.full(len(first), self._batches, np.int64)
        added = np.add.reduceat(rows, first) if len(first) else rows
        self._pieces.append((batch, numbers[partition[first]], time[first], added, ahead.astype(np.int64)))

    def next_batch(self) -> None:
        """Begin the next micro-batch."""
        self._batches += 1

    def arrivals(self) -> Arrivals:
        """Return what was taken."""
        columns = [np.concatenate([np.zeros(0, np.int64), *column]) for column in zip(*self._pieces, strict=True)]
        batch, partition, time, rows, ahead = columns or [np.zeros(0, np.int64)] * 5
        return Arrivals(tuple(self._numbers), batch, partition, time, rows, ahead.astype(np.bool_), self.nulls)
