"""Find the rows of two sides that match, without looking at pairs that the keys exclude.

The rows of one side are sorted by key and, where comparisons allow it, by a value. Each row of the other side then
matches a range of them. Binary search finds the ranges; they are written out in pieces of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.expressions.pairs import PairConditions
from sqlext_udfs.joins.conditions import Compared, best_pivot, compared
from sqlext_udfs.joins.specification import Comparison
from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Bools, Groups, Ints, integer_codes, stable_order

#: How many candidate pairs are looked at at once: it bounds the memory of a join with few keys.
_PIECE = 1 << 22
#: Up to how many codes for each row a table of all codes is less work than searching.
_MOST_CODES = 4


class Pairs(NamedTuple):
    """Places of matching rows, side by side."""

    left: Ints
    right: Ints


class _Candidates(NamedTuple):
    """Rows of both sides, of which those with equal codes may match."""

    left: Ints
    right: Ints
    left_codes: Ints
    right_codes: Ints

    def some(self, left: Bools, right: Bools) -> _Candidates:
        return _Candidates(self.left[left], self.right[right], self.left_codes[left], self.right_codes[right])


class Matcher:
    """Find the pairs of rows that match.

    Args:
        comparisons: what they must fulfil, with places among the columns in place of positions.
        left, right: the columns of all rows.
        left_keys, right_keys: groups of equal keys of all rows, numbered together; -1 for a key that matches nothing.
        rest: what they must fulfil besides, with such places in its cells.
    """

    def __init__(
        self,
        comparisons: Sequence[Comparison],
        left: Sequence[pa.Array],
        right: Sequence[pa.Array],
        left_keys: Groups,
        right_keys: Groups,
        rest: PairConditions | None = None,
    ) -> None:
        self._comparisons = comparisons
        self._rest = rest
        self._left, self._right = left, right
        self._left_keys, self._right_keys = left_keys, right_keys

    def pairs(self, left: Ints, right: Ints) -> Iterator[Pairs]:
        """Yield the matching pairs of some left and some right rows (their places), each once."""
        if not len(left) or not len(right):
            return
        left_codes, right_codes = self._left_keys.ids[left], self._right_keys.ids[right]
        in_left, in_right = (_present(c, self._left_keys.count) for c in (left_codes, right_codes))
        rows = _Candidates(left, right, left_codes, right_codes).some(in_right[left_codes], in_left[right_codes])
        if not len(rows.left):
            return
        comparisons = [self._compared(c, rows.left, rows.right) for c in self._comparisons]
        for part, their in _parts(rows, comparisons):
            for a, b in _matching(part, their):
                yield self._fulfilling(Pairs(part.left[a], part.right[b]))

    def _fulfilling(self, pairs: Pairs) -> Pairs:
        if self._rest is None:
            return pairs
        keep = self._rest.holds((self._left, self._right), pairs.left, pairs.right)
        return Pairs(pairs.left[keep], pairs.right[keep])

    def _compared(self, comparison: Comparison, left: Ints, right: Ints) -> Compared:
        values = taken(self._left[comparison.left], left), taken(self._right[comparison.right], right)
        places = comparison.left, comparison.right
        return compared(comparison.operator, *values, places, null_aware=comparison.null_aware)


def _present(codes: Ints, count: int) -> Bools:
    """Return for each code whether it is there; -1 (the last place) never is."""
    present = np.zeros(count + 1, np.bool_)
    present[codes] = True
    # Code -1 has written here too: numpy counts it from the end.
    present[-1] = False
    return present


def _parts(rows: _Candidates, comparisons: list[Compared]) -> Iterator[tuple[_Candidates, list[Compared]]]:
    """Yield candidates apart by how they can match: null-aware equality is a key but for rows with NULL."""
    equal = [c for c in comparisons if c.null_aware and c.operator == "="]
    if not equal:
        yield rows, comparisons
        return
    left_known = np.logical_and.reduce([c.left_known for c in equal])
    right_known = np.logical_and.reduce([c.right_known for c in equal])
    everything = np.ones(len(rows.left), np.bool_)
    # Each pair is in one part: both values known, the right one NULL, or only the left one NULL.
    for left, right, by_value in (
        (left_known, right_known, True),
        (everything, ~right_known, False),
        (~left_known, right_known, False),
    ):
        part = rows.some(left, right)
        their = [c.at(np.flatnonzero(left), np.flatnonzero(right)) for c in comparisons]
        if by_value:
            part = _with_values(part, [c for c in their if c.null_aware and c.operator == "="])
        yield part, their


def _with_values(rows: _Candidates, equal: Sequence[Compared]) -> _Candidates:
    """Return candidates that have equal codes only where these values are equal too."""
    codes = np.concatenate([rows.left_codes, rows.right_codes])
    for comparison in equal:
        more, size = integer_codes(np.concatenate([comparison.left, comparison.right]).astype(np.int64))
        codes = integer_codes(integer_codes(codes)[0] * max(size, 1) + more)[0]
    left = len(rows.left)
    return rows._replace(left_codes=codes[:left], right_codes=codes[left:])


def _matching(rows: _Candidates, comparisons: list[Compared]) -> Iterator[Pairs]:
    """Yield pairs of places among candidates."""
    if not len(rows.left) or not len(rows.right):
        return
    pivot = best_pivot(comparisons)
    if pivot is not None and pivot[0] == 0:
        flipped = _Candidates(rows.right, rows.left, rows.right_codes, rows.left_codes)
        for right, left in _in_ranges(flipped, [c.flipped() for c in comparisons], pivot[1]):
            yield Pairs(left, right)
    else:
        yield from _in_ranges(rows, comparisons, None if pivot is None else pivot[1])


def _in_ranges(rows: _Candidates, comparisons: list[Compared], pivot: int | None) -> Iterator[Pairs]:
    """Yield pairs; comparisons with the right column ``pivot`` are fulfilled by sorting the right rows by it."""
    ranging = [c for c in comparisons if c.pivot is not None and c.pivot[1] == pivot]
    others = [c for c in comparisons if not (c.pivot is not None and c.pivot[1] == pivot)]
    if ranging:
        left_known = np.logical_and.reduce([c.left_known for c in ranging])
        places = np.flatnonzero(left_known), np.flatnonzero(ranging[0].right_known)
        rows = rows.some(left_known, ranging[0].right_known)
        ranging, others = ([c.at(*places) for c in some] for some in (ranging, others))
    else:
        places = None
    for left, right in _expanded(*_ranges(rows, ranging)):
        keep = np.ones(len(left), np.bool_)
        for comparison in others:
            keep &= comparison.holds(left, right)
        left, right = left[keep], right[keep]
        yield Pairs(left, right) if places is None else Pairs(places[0][left], places[1][right])


def _ranges(rows: _Candidates, ranging: Sequence[Compared]) -> tuple[Ints, Ints, Ints]:
    """Return the order of the right rows by code and value, and for each left row where its range starts and ends."""
    if not ranging:
        return _ranges_of_codes(rows)
    steps, place = np.unique(ranging[0].right, return_inverse=True)
    width = len(steps)
    low, high = np.zeros(len(rows.left), np.int64), np.full(len(rows.left), width)
    for comparison in ranging:
        if comparison.operator in ("=", "<=", "<"):
            from_ = np.searchsorted(steps, comparison.left, "right" if comparison.operator == "<" else "left")
            low = np.maximum(low, from_)
        if comparison.operator in ("=", ">=", ">"):
            until = np.searchsorted(steps, comparison.left, "left" if comparison.operator == ">" else "right")
            high = np.minimum(high, until)
    # Key and value as one number: a range of values inside a key is a range of numbers.
    numbers = rows.right_codes * width + place
    order = stable_order(numbers)
    ordered, base = numbers[order], rows.left_codes * width
    starts = np.searchsorted(ordered, base + low)
    return order, starts, np.maximum(np.searchsorted(ordered, base + high), starts)


def _ranges_of_codes(rows: _Candidates) -> tuple[Ints, Ints, Ints]:
    """Return the same where codes alone are compared: few codes are looked up, and not searched for."""
    order = stable_order(rows.right_codes)
    ordered = rows.right_codes[order]
    limit = 1 + max(int(rows.left_codes.max()), int(ordered[-1]))
    if limit > _MOST_CODES * (len(rows.left) + len(ordered)):
        return order, np.searchsorted(ordered, rows.left_codes), np.searchsorted(ordered, rows.left_codes, "right")
    ends = np.cumsum(np.bincount(ordered, minlength=limit))
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    return order, starts[rows.left_codes], ends[rows.left_codes]


def _expanded(order: Ints, starts: Ints, ends: Ints) -> Iterator[Pairs]:
    """Yield the pairs of each left row with the right rows in its range, in pieces."""
    sizes = ends - starts
    if sizes.max(initial=0) <= 1:  # most often the right side has each key once
        left = np.flatnonzero(sizes)
        yield Pairs(left, order[starts[left]])
        return
    total = np.cumsum(sizes)
    first, row_count = 0, len(sizes)
    while first < row_count:
        done = int(total[first - 1]) if first else 0
        # At least one row, even where its range alone is larger than a piece.
        last = max(int(np.searchsorted(total, done + _PIECE, "right")), first + 1)
        some = sizes[first:last]
        left = np.repeat(np.arange(first, last), some)
        within = np.arange(len(left)) - np.repeat(total[first:last] - some - done, some)
        yield Pairs(left, order[np.repeat(starts[first:last], some) + within])
        first = last
