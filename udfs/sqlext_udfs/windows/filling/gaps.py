"""Find the windows without rows: those between and behind windows with rows, as far as a key is filled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.ranges import repeated
from sqlext_udfs.windows.filling.grid import NEVER
from sqlext_udfs.windows.filling.specification import Filling
from sqlext_udfs.windows.filling.state import last_of


class Gaps(NamedTuple):
    """Windows without rows.

    Attributes:
        entries: the place of the last window with rows before each.
        numbers: theirs.
        nexts: the place of the next window with rows; -1 where there is none that is near enough.
        weights: how far each is on the way to the next one, from 0 to 1; 0 without one.
        until: of each entry, up to which window it is filled now.
    """

    entries: Ints
    numbers: Ints
    nexts: Ints
    weights: np.ndarray[tuple[int], np.dtype[np.float64]]
    until: Ints

    def at(self, places: Ints) -> Gaps:
        """Return some of them."""
        return self._replace(
            entries=self.entries[places],
            numbers=self.numbers[places],
            nexts=self.nexts[places],
            weights=self.weights[places],
        )


class WithRows(NamedTuple):
    """Windows with rows: their numbers, and up to which window the key of each is filled."""

    numbers: Ints
    done: Ints


def gaps_of(entries: WithRows, ids: Ints, last: int, filling: Filling) -> Gaps:
    """Return the windows without rows that come out now.

    Args:
        entries: windows with rows, ordered by key and number.
        ids: the key of each.
        last: the number of the last window that is over.
        filling: how far a key is filled, and whether it waits for the next window with rows.

    Raises:
        SqlExtError: RUN-088 for more windows than its limit.
    """
    count = len(entries.numbers)
    is_last = last_of(ids)
    limit = entries.numbers + filling.most
    following = np.append(entries.numbers[1:], NEVER)
    # Behind the last window with rows a key is filled as far as time is; one that waits, when no other can be near.
    behind = np.where(limit <= last, limit, NEVER) if filling.joins else np.minimum(limit, last)
    until = np.where(is_last, behind, np.minimum(limit, following - 1))
    first = np.maximum(entries.numbers, entries.done) + 1
    lengths = np.maximum(until - first + 1, 0)
    filling.check(int(lengths.sum()))
    places, within = repeated(lengths)
    numbers = first[places] + within
    near = ~is_last & (following <= limit)
    nexts = np.where(near, np.arange(count) + 1, -1)[places]
    span = np.where(near, following - entries.numbers, 1)
    weights = np.where(nexts >= 0, (numbers - entries.numbers[places]) / span[places], 0.0)
    return Gaps(places, numbers, nexts, weights, until)
