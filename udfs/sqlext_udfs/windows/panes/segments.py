"""Aggregate segments: their partial results, and panes made of them.

A segment is a set of rows that stay together, as the trigger engine decided (``PaneDecisions``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.aggregation import Aggregation
from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Groups, Ints
from sqlext_udfs.windows.panes.rows import Panes


@dataclass(frozen=True)
class Segments:
    """Partial results of segments.

    Attributes:
        numbers: of the segments, ascending.
        partials: their partial results.
    """

    numbers: Ints
    partials: list[pa.Array]

    @classmethod
    def none(cls, aggregation: Aggregation) -> Segments:
        """Return no segments."""
        return cls(np.zeros(0, np.int64), [pa.nulls(0, t) for t in aggregation.partial_types])

    def __len__(self) -> int:
        return len(self.numbers)

    def with_(self, others: Segments) -> Segments:
        """Return these and others, in the order of their numbers."""
        if not len(others):
            return self
        if not len(self):
            return others
        numbers = np.concatenate([self.numbers, others.numbers])
        partials = [pa.concat_arrays([a, b]) for a, b in zip(self.partials, others.partials, strict=True)]
        # Numbers grow with arrival, so new segments mostly go behind all others.
        if self.numbers[-1] < others.numbers[0]:
            return Segments(numbers, partials)
        order = np.argsort(numbers)
        return Segments(numbers[order], [taken(p, order) for p in partials])

    def without(self, numbers: Sequence[int]) -> Segments:
        """Return these without some."""
        stays = ~np.isin(self.numbers, np.asarray(numbers, np.int64))
        if stays.all():
            return self
        places = np.flatnonzero(stays)
        return Segments(self.numbers[places], [taken(p, places) for p in self.partials])

    def places(self, numbers: Ints) -> Ints:
        """Return where some segments are."""
        return np.searchsorted(self.numbers, numbers)


def joined(
    aggregation: Aggregation, numbers: Sequence[int], sources: Sequence[tuple[int, ...]], of: Segments
) -> Segments:
    """Return segments that are made of others.

    Args:
        aggregation: what partial results mean.
        numbers: of the new segments.
        sources: the numbers of the segments of which each is made.
        of: all segments there are.
    """
    owners, places = _flat(sources, of)
    partials = _merged(aggregation, [taken(p, places) for p in of.partials], owners, len(sources))
    order = np.argsort(np.asarray(numbers, np.int64))
    return Segments(np.asarray(numbers, np.int64)[order], [taken(p, order) for p in partials])


def contents(aggregation: Aggregation, panes: Panes, of: Segments) -> list[pa.Array]:
    """Return the partial result of each pane; a pane may go on where an earlier one ended (``Panes.base``)."""
    count = len(panes)
    base = np.asarray(panes.base, np.int64)
    owners, places = _flat(panes.segments, of)
    if (base < 0).all():
        return _merged(aggregation, [taken(p, places) for p in of.partials], owners, count)
    # Level by level: a pane that goes on from another one takes that one's result, and not its segments again.
    made = [pa.nulls(0, t) for t in aggregation.partial_types]
    row_of = np.full(count, -1)
    depth = _depths(base)
    for level in range(int(depth.max(initial=-1)) + 1):
        panes_here = np.flatnonzero(depth == level)
        renumbered = np.full(count, -1)
        renumbered[panes_here] = np.arange(len(panes_here))
        own = renumbered[owners] >= 0
        based = panes_here[base[panes_here] >= 0]
        parts = [
            pa.concat_arrays([taken(m, row_of[base[based]]), taken(p, places[own])])
            for m, p in zip(made, of.partials, strict=True)
        ]
        ids = np.concatenate([renumbered[based], renumbered[owners[own]]])
        row_of[panes_here] = len(made[0]) + np.arange(len(panes_here)) if made else -1
        here = _merged(aggregation, parts, ids, len(panes_here))
        made = [pa.concat_arrays([m, h]) for m, h in zip(made, here, strict=True)]
    return [taken(m, row_of) for m in made]


def _flat(lists: Sequence[tuple[int, ...]], of: Segments) -> tuple[Ints, Ints]:
    """Return for each number in some lists which list it is of, and the place of the segment."""
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    numbers = np.fromiter(chain.from_iterable(lists), np.int64, int(sizes.sum()))
    return np.repeat(np.arange(len(lists)), sizes), of.places(numbers)


def _merged(aggregation: Aggregation, partials: list[pa.Array], ids: Ints, count: int) -> list[pa.Array]:
    if len(ids) == count and (np.diff(ids) == 1).all():
        return partials
    return aggregation.merge(partials, Groups(ids, count))


def _depths(base: Ints) -> Ints:
    """Return how many panes each goes on from; the base of a pane comes before it."""
    depth = np.zeros(len(base), np.int64)
    for pane in np.flatnonzero(base >= 0).tolist():
        depth[pane] = depth[base[pane]] + 1
    return depth
