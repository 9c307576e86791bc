"""Find rows of a join's right side by key and time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlext_udfs.joins.rows import JoinRows
from sqlext_udfs.kernel.groups import Bools, Groups, Ints, stable_order


class Versions(NamedTuple):
    """Versions by key and time.

    Attributes:
        times: at which there are versions, ascending.
        order: places of the versions by key and time, of those at one time in the order in which they came.
        numbers: of key and time, in this order.
        keys: of the versions, in this order.
    """

    times: Ints
    order: Ints
    numbers: Ints
    keys: Ints

    @classmethod
    def of(cls, times: Ints, keys: Groups) -> Versions:
        """Return versions by their times and keys."""
        steps, place = np.unique(times, return_inverse=True)
        # Key and time as one number, so one sort and one binary search serve all keys.
        numbers = keys.ids * len(steps) + place
        order = stable_order(numbers)
        return cls(steps, order, numbers[order], keys.ids[order])

    def at(self, keys: Ints, times: Ints, *, inclusive: bool = True) -> Ints:
        """Return the place of the last version of each key at or before a time; -1 if there is none.

        Args:
            keys, times: what is asked for.
            inclusive: whether a version of that very time counts.
        """
        if not len(self.order):
            return np.full(len(keys), -1, np.int64)
        last = np.searchsorted(self.times, times, "right" if inclusive else "left") - 1
        place = np.searchsorted(self.numbers, keys * len(self.times) + last, "right") - 1
        is_there = (place >= 0) & (keys >= 0) & (self.keys[place] == keys)
        return np.where(is_there, self.order[place], -1)

    def after(self, keys: Ints, times: Ints, *, inclusive: bool = True) -> Ints:
        """Return the place of the first version of each key at or after a time; -1 if there is none.

        Of several at one time it is the last that came, as in ``at``.
        """
        if not len(self.order):
            return np.full(len(keys), -1, np.int64)
        first = np.searchsorted(self.times, times, "left" if inclusive else "right")
        place = np.searchsorted(self.numbers, keys * len(self.times) + first, "left")
        inside = np.minimum(place, len(self.order) - 1)
        is_there = (place < len(self.order)) & (keys >= 0) & (self.keys[inside] == keys)
        last = np.searchsorted(self.numbers, self.numbers[inside], "right") - 1
        return np.where(is_there, self.order[last], -1)

    def needed(self, versions: JoinRows, watermark: int) -> Bools:
        """Return which versions rows may still ask for, in the order of their places."""
        times, exists = versions.time[self.order], versions.count[self.order] > 0
        passed = times < watermark
        needed = exists | ~passed
        # The next one is in force before any row that comes in time, or stands for the same time.
        replaced = (self.keys[1:] == self.keys[:-1]) & (passed[1:] | (times[1:] == times[:-1]))
        needed[:-1] &= ~replaced
        result = np.empty_like(needed)
        result[self.order] = needed
        return result
