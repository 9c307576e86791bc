"""Advance a join by the rows of a micro-batch: find what they match.

Pairs are looked for only where something is new. Rows that came meet all of the other side; rows that were held meet
what came to the other side. So the work grows with the micro-batch and what it meets, not with the state, but for a few
operations on whole columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sqlext_udfs.expressions.cells import with_cells
from sqlext_udfs.expressions.pairs import PairConditions
from sqlext_udfs.joins.changes import SideChange, appended, key_groups, netted
from sqlext_udfs.joins.output import Given
from sqlext_udfs.joins.pairs import Matcher, Pairs
from sqlext_udfs.joins.rows import JoinRows, Sides
from sqlext_udfs.joins.specification import (
    LEFT_SIDE,
    RIGHT_SIDE,
    ArrivalBound,
    IntervalBound,
    JoinKind,
    JoinSpecification,
)
from sqlext_udfs.kernel.groups import Bools, Groups, Ints


class Advanced(NamedTuple):
    """What the rows of a micro-batch changed.

    Attributes:
        left, right: the sides, with matches counted where the kind of the join needs them.
        pairs: the pairs that come out.
    """

    left: SideChange
    right: SideChange
    pairs: list[Given]


class Advance:
    """Compute the changes of both sides and the pairs that come out.

    Args:
        specification: of the join.
    """

    def __init__(self, specification: JoinSpecification) -> None:
        self._keys, self._null_safe = specification.keys, specification.null_safe
        join = specification.join
        self._join = join
        # Only these ask how many matches a row has; for others the column would be written in vain.
        self._counts = (join is JoinKind.SEMI or join.pads_left, join.pads_right)
        changes = specification.kind is not None
        # EXISTS asks only which values there are on the right; equal ones are kept once.
        distinct = not join.pairs and not isinstance(specification.bound, IntervalBound | ArrivalBound)
        self._nets = (changes, changes or distinct)
        self._arrival = specification.bound if isinstance(specification.bound, ArrivalBound) else None
        kept = [specification.kept(side) for side in (LEFT_SIDE, RIGHT_SIDE)]
        self.comparisons = [
            replace(c, left=kept[LEFT_SIDE].index(c.left), right=kept[RIGHT_SIDE].index(c.right))
            for c in specification.conditions
        ]
        at = [with_cells(e, lambda cell: kept[cell.group].index(cell.value)) for e in specification.rest]
        self.rest = PairConditions(at, wraps=specification.wraps) if at else None

    def __call__(self, held: Sides, new: Sides) -> Advanced:
        """Return what rows that have come change."""
        keys = key_groups([held.left, new.left], [held.right, new.right], self._keys, null_safe=self._null_safe)
        one = self._change(LEFT_SIDE, held.left, new.left, keys[LEFT_SIDE])
        other = self._change(RIGHT_SIDE, held.right, new.right, keys[RIGHT_SIDE])
        return self._matched(one, other)

    def _change(self, side: int, held: JoinRows, new: JoinRows, keys: Groups) -> SideChange:
        return netted(held, new, keys) if self._nets[side] else appended(held, new, keys)

    def _matched(self, left: SideChange, right: SideChange) -> Advanced:
        matcher = Matcher(self.comparisons, left.rows.columns, right.rows.columns, left.keys, right.keys, self.rest)
        left_new, right_new = left.touched(), right.touched()
        pairs: list[Given] = []
        more = np.zeros(len(left.rows), np.int64), np.zeros(len(right.rows), np.int64)
        everything = np.arange(len(left.rows))
        # Two rectangles that do not overlap: changed left rows with unchanged right ones, all left with changed right.
        for some, others in (
            (np.flatnonzero(left_new), np.flatnonzero(~right_new)),
            (everything, np.flatnonzero(right_new)),
        ):
            for pair in matcher.pairs(some, others):
                one, other = self._in_time(left, right, pair)
                if self._counts[LEFT_SIDE]:
                    _add(more[LEFT_SIDE], one, _seen(right, other, one >= left.held))
                if self._counts[RIGHT_SIDE]:
                    _add(more[RIGHT_SIDE], other, _seen(left, one, other >= right.held))
                if self._join.pairs:
                    # What the pair counts now, less what it counted before: right also where both sides change.
                    weight = left.rows.count[one] * right.rows.count[other] - left.count[one] * right.count[other]
                    pairs.append(Given(one, other, weight))
        return Advanced(left.matched(more[LEFT_SIDE]), right.matched(more[RIGHT_SIDE]), pairs)

    def _in_time(self, left: SideChange, right: SideChange, pairs: Pairs) -> Pairs:
        """Return the pairs whose rows came close enough together (``ArrivalBound``); all for other bounds."""
        if self._arrival is None:
            return pairs
        ends = left.rows.time[pairs.left], right.rows.time[pairs.right]
        keep = (ends[0] - self._arrival.upper <= ends[1]) & (ends[1] + self._arrival.lower <= ends[0])
        return Pairs(pairs.left[keep], pairs.right[keep])


def _seen(of: SideChange, places: Ints, by_new: Bools) -> Ints:
    """Return how many rows more a row sees in each partner: one that is new sees them all."""
    return of.rows.count[places] - np.where(by_new, 0, of.count[places])


def _add(totals: Ints, places: Ints, values: Ints) -> None:
    # Sums of few small numbers: exact as floats.
    totals += np.bincount(places, values, len(totals)).astype(np.int64)
