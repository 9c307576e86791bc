"""Order the rows of an OVER step, and find where the key, the peers and the time range of each begin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sqlext_udfs.kernel.groups import Bools, Ints, stable_order

# Key and time as one number must stay below it, to fit 64 bits.
_LARGEST = 1 << 62


@dataclass(frozen=True)
class Timeline:
    """Rows of several keys, sorted by key, then time, then arrival. All places are in that order.

    Attributes:
        key: the number of each row's key.
        time: of each row (ms).
        due: whether the row comes out in this step. In each key they stand behind those that came out before, and
            before those that come out later.
        passed: how many rows came out in all steps before, and were looked at: their places are below it.
    """

    key: Ints
    time: Ints
    due: Bools
    passed: int

    @classmethod
    def order(cls, key: Ints, time: Ints) -> Ints:
        """Return rows in the order of arrival as they stand in a timeline."""
        # Two stable sorts, the most significant last, keep arrival within key and time.
        by_time = stable_order(time)
        return by_time[stable_order(key[by_time])]

    @cached_property
    def rows(self) -> Ints:
        """The places of the rows that come out."""
        return np.flatnonzero(self.due)

    @cached_property
    def starts(self) -> Ints:
        """Where the key of each row that comes out begins."""
        first, runs = _runs(_changes(self.key))
        return first[runs[self.rows]]

    @cached_property
    def fresh(self) -> Ints:
        """The first row of the same key that comes out, of each."""
        first, runs = _runs(_changes(self.key[self.rows]))
        return self.rows[first[runs]]

    @cached_property
    def peers(self) -> tuple[Ints, Ints]:
        """The rows of the same key and time, of each row that comes out: the first, and behind the last."""
        first, runs = _runs(_changes(self.key) | _changes(self.time))
        mine = runs[self.rows]
        return first[mine], np.append(first[1:], len(self.key))[mine]

    @cached_property
    def lasts(self) -> Bools:
        """Whether each row that comes out is the last of its key and time."""
        lasts: Bools = self.peers[1] == self.rows + 1
        return lasts

    @cached_property
    def stops(self) -> Ints:
        """Where the key of each row that comes out ends: the place behind its last row."""
        first, runs = _runs(_changes(self.key))
        return np.append(first[1:], len(self.key))[runs[self.rows]]

    def first_from(self, shift: int) -> Ints:
        """Return the first row of the same key from ``shift`` ms behind each row that comes out on."""
        return self._searched(shift, "left")

    def behind(self, shift: int) -> Ints:
        """Return the place behind the last row of the same key up to ``shift`` ms behind each row that comes out."""
        return self._searched(shift, "right")

    def _searched(self, shift: int, side: Literal["left", "right"]) -> Ints:
        if not len(self.key):
            return self.key
        time = self.time - int(self.time.min())
        span = int(time.max()) + 1
        key, wanted = self.key[self.rows], time[self.rows] + shift
        # Key and time as one ascending number, for one binary search over all keys; ranks where that leaves 64 bits.
        if span * (int(self.key[-1]) + 1) > _LARGEST:
            times = np.unique(time)
            wanted = np.searchsorted(times, wanted, side) - (side == "right")
            time, span = np.searchsorted(times, time), len(times)
        # Just outside of the key's times lie the last row of the key before it, and the first one of the next.
        wanted = np.clip(wanted, 0, span) if side == "left" else np.clip(wanted, -1, span - 1)
        return np.searchsorted(self.key * span + time, key * span + wanted, side)

    @cached_property
    def ends(self) -> Ints:
        """The number, among the rows that come out, of the last one of each key that has any."""
        last = np.flatnonzero(_changes(self.key[self.rows])[1:])
        return np.append(last, len(self.rows) - 1) if len(self.rows) else self.rows


def rows_behind(key: Ints) -> Ints:
    """Return how many rows of its key come after each row; rows of a key stand together."""
    first, runs = _runs(_changes(key))
    return np.append(first[1:], len(key))[runs] - np.arange(len(key)) - 1


def _changes(values: Ints) -> Bools:
    """Return whether each value is another one than the one before; the first is."""
    changes = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def _runs(changes: Bools) -> tuple[Ints, Ints]:
    """Return where each run begins, and the number of each row's run."""
    return np.flatnonzero(changes), np.cumsum(changes) - 1
