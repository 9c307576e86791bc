"""Ranges of rows that lie one behind the other: groups that may overlap, as windows that share slices do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sqlext_udfs.kernel.arrow_numpy import Values
from sqlext_udfs.kernel.groups import Bools, Groups, Ints


@dataclass(frozen=True)
class Ranges:
    """Rows from a first place up to an end; each range has at least one.

    Attributes:
        firsts: the place of the first row of each.
        ends: the place behind its last row.
    """

    firsts: Ints
    ends: Ints

    @cached_property
    def expanded(self) -> tuple[Ints, Groups]:
        """The place of each row of each range, range by range, and the groups that these rows are."""
        sizes = self.ends - self.firsts
        ids = np.repeat(np.arange(len(sizes)), sizes)
        within = np.arange(len(ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.firsts[ids] + within, Groups(ids, len(sizes))

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
