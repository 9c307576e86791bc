"""Ranges of rows that lie one behind the other: groups that may overlap, as windows that share slices do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sqlext_udfs.kernel.arrow_numpy import Values
from sqlext_udfs.kernel.groups import Bools, Groups, Ints

#: So many rows of ranges are looked at in one go, or those of one range.
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Ranges:
    """Rows from a first place up to an end; each range has at least one.

    Attributes:
        firsts: the place of the first row of each.
        ends: the place behind its last row.
    """

    firsts: Ints
    ends: Ints

    def pieces(self) -> Iterator[tuple[Ints, Groups]]:
        """Yield the places of the rows of some ranges, range by range, and the groups that these are; few at once.

        Ranges that overlap have many more rows than there are: a minute of a day is in 1,440 windows that grow.
        """
        sizes = self.ends - self.firsts
        behind = np.cumsum(sizes)
        begin = 0
        while True:
            most = (int(behind[begin - 1]) if begin else 0) + _AT_ONCE
            end = max(int(np.searchsorted(behind, most, "right")), min(begin + 1, len(sizes)))
            yield _expanded(self.firsts[begin:end], sizes[begin:end])
            if end == len(sizes):
                return
            begin = end

    def added(self, values: Values) -> Ints:
        """Return the sum of each range; it wraps around where the sum of all rows before its end does not fit."""
        sums = np.zeros(len(values) + 1, np.int64)
        np.cumsum(values, dtype=np.int64, out=sums[1:])
        found: Ints = sums[self.ends] - sums[self.firsts]
        return found

    def reduced(self, by: np.ufunc, values: Values) -> Values:
        """Return the values of each range joined by an operation."""
        # Each second pair of places is one of no range. The last end is a place too, so there is one value more.
        pairs = np.stack([self.firsts, self.ends], axis=1).ravel()
        found: Values = by.reduceat(np.append(values, values[-1:]), pairs)[::2] if len(pairs) else values[:0]
        return found

    def have(self, present: Bools | None) -> Bools | None:
        """Return which ranges have rows of some; None for all."""
        return None if present is None else self.added(present) > 0


def repeated(counts: Ints) -> tuple[Ints, Ints]:
    """Return each place as often as it counts, and how many of the same place stand before each."""
    places = np.repeat(np.arange(len(counts)), counts)
    return places, np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)


def _expanded(firsts: Ints, sizes: Ints) -> tuple[Ints, Groups]:
    ids, before = repeated(sizes)
    return firsts[ids] + before, Groups(ids, len(sizes))
