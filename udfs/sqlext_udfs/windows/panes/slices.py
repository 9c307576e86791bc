"""Cut windows that overlap into slices: a row goes into one slice, and a window that is due joins its slices.

A slice is as wide as the greatest common divisor of a window's size and its step, so no window cuts one. The windows of
a slice end at equal distances, which makes everything here arithmetic on whole columns (Li et al., "No Pane, No Gain",
SIGMOD Record 2005). Times are milliseconds since 1970 UTC. A slice is named by its start.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import integers
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.ranges import Ranges, repeated


class Spanned(NamedTuple):
    """Windows, each over slices that lie one behind the other.

    Attributes:
        slices: the places of the slices of each.
        starts, ends: the window's.
    """

    slices: Ranges
    starts: Ints
    ends: Ints


@dataclass(frozen=True, slots=True)
class Slicing:
    """Windows of fixed length, or of lengths that grow from a common start.

    Attributes:
        size: a window's length (ms); of CUMULATE the longest.
        step: how far apart windows start (ms); of CUMULATE how far apart they end.
        offset: where windows start (ms).
        cumulating: whether windows grow.
    """

    size: int
    step: int
    offset: int = 0
    cumulating: bool = False

    @property
    def width(self) -> int:
        """How wide a slice is. Windows with gaps between them do not share anything: each is its own slice."""
        return self.size if self.step >= self.size else gcd(self.size, self.step)

    @property
    def is_shared(self) -> bool:
        """Whether a window can be of several slices."""
        return self.width != self.size

    def are_made_of(self, others: Slicing) -> bool:
        """Return whether each slice is of whole slices of others; both are without gaps."""
        return self.width % others.width == 0 and (self.offset - others.offset) % others.width == 0

    def assign(self, times: Ints) -> tuple[Ints, Bools | None]:
        """Return the slice of each time, and which times are in a window at all; None for all."""
        if self.step <= self.size:
            return _floor(times, self.width, self.offset), None
        starts = _floor(times, self.step, self.offset)
        return starts, times - starts < self.size

    def first_ends(self, slices: Ints) -> Ints:
        """Return the end of the first window of each slice."""
        if self.cumulating:
            starts = self.periods(slices)
            # Rounded up to the next end.
            ends: Ints = starts + -(-(slices + self.width - starts) // self.step) * self.step
            return ends
        if not self.is_shared:
            return slices + self.size
        last = self.last_ends(slices)
        # Windows of a slice end a step apart: as many steps back as the window still holds the slice.
        return last - (last - slices - self.width) // self.step * self.step

    def last_ends(self, slices: Ints) -> Ints:
        """Return the end of the last window of each slice."""
        if not self.is_shared:
            return slices + self.size
        return self.periods(slices) + self.size

    def periods(self, slices: Ints) -> Ints:
        """Return the start of the last window of each slice."""
        return _floor(slices, self.size if self.cumulating else self.step, self.offset)

    def next_ends(self, slices: Ints, after: int) -> Ints:
        """Return the end of the first window of each slice that ends after a time; there may be none such."""
        first = self.first_ends(slices)
        ends: Ints = first + np.maximum(0, (after - first) // self.step + 1) * self.step
        return ends

    def spanned(self, keys: Ints, slices: Ints, after: int, until: int) -> Spanned:
        """Return the windows of each key that end after one time, and not after another, by key and end.

        Args:
            keys: a number for each key, from 0.
            slices: of the keys, which lie by key and time; each once.
            after, until: the times.
        """
        ends, same = self.last_ends(slices), np.zeros(len(slices), np.bool_)
        same[1:] = keys[1:] == keys[:-1]
        # A window belongs to its first slice: those of the slice before that end late enough have this one too.
        first = self.next_ends(slices, after)
        first[1:] = np.where(same[1:], np.maximum(first[1:], ends[:-1] + self.step), first[1:])
        counts = np.maximum(0, (np.minimum(ends, until) - first) // self.step + 1)
        firsts, before = repeated(counts)
        of_windows = first[firsts] + before * self.step
        different = np.unique(integers(pc.unique(pa.array(slices))))
        numbers = keys * len(different) + np.searchsorted(different, slices)
        behind = keys[firsts] * len(different) + np.searchsorted(different, of_windows)
        starts = self.periods(slices)[firsts] if self.cumulating else of_windows - self.size
        return Spanned(Ranges(firsts, np.searchsorted(numbers, behind)), starts, of_windows)


def _floor(times: Ints, width: int, offset: int) -> Ints:
    floored: Ints = (times - offset) // width * width + offset
    return floored
