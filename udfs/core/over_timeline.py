"""Rows in the order of an OVER window, and where the frame of each one lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlext.udfs.core.groups import Bools, Ints, stable_order


@dataclass(frozen=True)
class Timeline:
    """Rows of several keys, sorted by key, then time, then arrival. All places are in that order.

    Attributes:
        key: the number of each row's key.
        time: of each row.
        due: whether the row comes out in this step; in each key these come last.
        passed: how many rows came out in all steps before, and were looked at: their places are below it.
    """

    key: Ints
    time: Ints
    due: Bools
    passed: int

    @classmethod
    def order(cls, key: Ints, time: Ints) -> Ints:
        """Return rows in the order of arrival as they stand in a timeline."""
        return stable_order(_joined(key, time, time)[0])

    @property
    def rows(self) -> Ints:
        """The places of the rows that come out."""
        return np.flatnonzero(self.due)

    def starts(self) -> Ints:
        """Return where the key of each row that comes out begins."""
        return np.searchsorted(self.key, self.key[self.due], "left")

    def fresh(self) -> Ints:
        """Return the first row of the same key that comes out, of each."""
        keys = self.key[self.due]
        return self.rows[np.searchsorted(keys, keys, "left")]

    def peers(self) -> tuple[Ints, Ints]:
        """Return the rows of the same key and time, of each row that comes out: the first, and behind the last."""
        places, mine = _joined(self.key, self.time, self.time[self.due], self.key[self.due])
        return np.searchsorted(places, mine, "left"), np.searchsorted(places, mine, "right")

    def within(self, duration: int) -> Ints:
        """Return the first row of the same key that is at most a duration before, of each row that comes out."""
        places, mine = _joined(self.key, self.time, self.time[self.due] - duration, self.key[self.due])
        return np.searchsorted(places, mine, "left")

    def ends(self) -> Ints:
        """Return the number, among the rows that come out, of the last one of each key that has any."""
        keys = self.key[self.due]
        return np.flatnonzero(np.append(keys[1:] != keys[:-1], True)) if len(keys) else keys

    def back(self) -> Ints:
        """Return how many rows of its key come after each row."""
        return np.searchsorted(self.key, self.key, "right") - np.arange(len(self.key)) - 1


def _joined(key: Ints, time: Ints, wanted: Ints, keys: Ints | None = None) -> tuple[Ints, Ints]:
    """Return key and time as one number in whose order both are, of rows and of other keys and times.

    Times that no row has fall before the next one that there is.
    """
    times = np.unique(time)
    width = len(times) + 1
    mine = (key if keys is None else keys) * width + np.searchsorted(times, wanted)
    return key * width + np.searchsorted(times, time), mine
