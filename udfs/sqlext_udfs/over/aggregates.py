"""Compute accumulators over frames.

Counts and sums of integers are the difference of two running sums, where that is exact. Floating-point sums are not: a
difference would keep the rounding errors, infinities and NaNs of rows that have left the frame. All others are joined
of blocks (``blocks``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Accumulator, AggregateCall, Columns
from sqlext_udfs.aggregates.known import accumulator
from sqlext_udfs.aggregates.numeric import Count, Sum
from sqlext_udfs.aggregates.sets import DistinctValues
from sqlext_udfs.kernel.arrow_numpy import known, numbers, taken, whole
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Bools, Groups, Ints, numbered
from sqlext_udfs.kernel.list_columns import elements
from sqlext_udfs.over.blocks import Before, Blocks
from sqlext_udfs.over.bounds import FrameBounds
from sqlext_udfs.over.function import Evaluated, FrameFunction, FrameReach
from sqlext_udfs.over.specification import OverCall


class Aggregated(FrameFunction):
    """An accumulator over a frame.

    Args:
        call: the function and its frame.
        types: of the columns that go in.

    Raises:
        SqlExtError: FUNC-022 for a function that there is not, or not for these types.
    """

    def __init__(self, call: OverCall, types: Sequence[pa.DataType]) -> None:
        wanted = AggregateCall(call.function, call.inputs, call.distinct, call.parameters)
        self._each = accumulator(wanted, tuple(types[i] for i in call.inputs))
        self._frame = call.frame
        running = self._each.partial_types if call.frame.preceding is None else ()
        super().__init__(call.inputs, self._each.output_types, running, _reach(call))

    def evaluate(self, inputs: Columns, bounds: FrameBounds, before: Before) -> Evaluated:
        """Return the accumulator's results over the frame of each row."""
        low, high = bounds.of(self._frame)
        growing = self._frame.preceding is None
        known = before if growing else None
        partials = self._over(inputs, low, high, known, bounds)
        return Evaluated(self._each.finish(partials), self._kept(inputs, partials, bounds, before) if growing else [])

    def _over(
        self, inputs: Columns, low: Ints, high: Ints, known: Before | None, bounds: FrameBounds
    ) -> list[pa.Array]:
        """Return the partial result of each frame."""
        partials = _subtracted(self._each, inputs, low, high, known)
        if partials is not None:
            return partials
        start = _Start(self._each, inputs, bounds.timeline.passed)
        filled = np.flatnonzero(high > low)
        if len(filled) == len(low):
            shared = bounds.of(self._frame)
            same = low is shared[0] and high is shared[1]
            blocks = bounds.blocks(self._frame) if same else Blocks(low, high)
            return blocks.over(self._each, start, known)
        made: list[pa.Array] = []
        if len(filled):
            mine = None if known is None else Before(known.partials, known.places[filled])
            made = Blocks(low[filled], high[filled]).over(self._each, start, mine)
        return self._with_empty(inputs, made, filled, known, len(low))

    def _with_empty(
        self, inputs: Columns, made: list[pa.Array], filled: Ints, known: Before | None, count: int
    ) -> list[pa.Array]:
        """Return the partial results of all frames: of an empty one what was before, or what there is of no row."""
        none = np.zeros(0, np.int64)
        nothing = self._each.start([c.slice(0, 0) for c in inputs], Groups(none, 1), none)
        places = np.full(count, len(filled))
        pools = [made or [p.slice(0, 0) for p in nothing], nothing]
        if known is not None:
            places = np.where(known.places >= 0, len(filled) + 1 + known.places, places)
            pools.append(known.partials)
        places[filled] = np.arange(len(filled))
        return [taken(pa.concat_arrays(parts), places) for parts in zip(*pools, strict=True)]

    def _kept(self, inputs: Columns, partials: list[pa.Array], bounds: FrameBounds, before: Before) -> list[pa.Array]:
        """Return the partial result from which the next row of each key goes on."""
        last, behind = bounds.timeline.ends, self._frame.following
        if behind == 0:
            return [taken(p, last) for p in partials]
        # Rows behind the last one come out later, and are in no result that is kept.
        low = bounds.of(self._frame)[0][last]
        high = np.maximum(low, bounds.timeline.rows[last] + 1 + min(behind, 0))
        return self._over(inputs, low, high, Before(before.partials, before.places[last]), bounds)


class Growing(FrameFunction):
    """DISTINCT over an unbounded frame: the accumulator sees each value where it first comes.

    Kept of a key are the values seen, as one list, and the accumulator's partial result.
    """

    def __init__(self, call: OverCall, types: Sequence[pa.DataType]) -> None:
        accumulator(
            AggregateCall(call.function, call.inputs, True, call.parameters), tuple(types[i] for i in call.inputs)
        )
        self._inner = Aggregated(replace(call, distinct=False), types)
        self._set = DistinctValues(types[call.inputs[0]], None)
        running = (*self._set.partial_types, *self._inner.running_types)
        super().__init__(call.inputs, self._inner.output_types, running, FrameReach())

    def evaluate(self, inputs: Columns, bounds: FrameBounds, before: Before) -> Evaluated:
        """Return the accumulator's results over the different values up to each row."""
        seen, *partials = before.partials
        first = self._first(inputs[0], seen, before.places, bounds)
        inner = self._inner.evaluate([taken(inputs[0], first)], bounds, Before(partials, before.places))
        return Evaluated(
            inner.outputs, [self._all(taken(inputs[0], first), seen, before.places, bounds), *inner.running]
        )

    def _first(self, column: pa.Array, seen: pa.Array, places: Ints, bounds: FrameBounds) -> Ints:
        """Return for each row its place if its value is new to its key, else -1; -1 for rows of earlier steps."""
        timeline = bounds.timeline
        key = timeline.fresh
        values, owners = elements(seen)
        key_of = np.zeros(len(seen), np.int64)
        key_of[places[places >= 0]] = key[places >= 0]
        together = pa.concat_arrays([values, taken(column, timeline.rows)])
        together = whole(normalised(pa.table([together], ["value"])).column(0))
        # Values seen before stand first, so they have the places below 0.
        first = numbered([together], [np.concatenate([key_of[owners.ids], key])]).first() - len(values)
        made = np.full(len(column), -1)
        new = timeline.rows[first[first >= 0]]
        made[new] = new
        return made

    def _all(self, new: pa.Array, seen: pa.Array, places: Ints, bounds: FrameBounds) -> pa.Array:
        """Return the values seen of each key."""
        timeline = bounds.timeline
        last = timeline.ends
        # Rows are sorted by key, so the keys of their last rows ascend.
        mine = np.searchsorted(timeline.key[timeline.due][last], timeline.key[timeline.due])
        (lists,) = self._set.start([taken(new, timeline.rows)], Groups(mine, len(last)), timeline.rows)
        known = places[last] >= 0
        both = [taken(seen, places[last][known]), lists]
        groups = Groups(np.concatenate([np.flatnonzero(known), np.arange(len(last))]), len(last))
        return self._set.merge([pa.concat_arrays(both)], groups)[0]


class _Start:
    """The partial results of single rows."""

    def __init__(self, each: Accumulator, inputs: Columns, passed: int) -> None:
        self._each = each
        self._inputs = inputs
        self._passed = passed

    def __call__(self, rows: Ints) -> list[pa.Array]:
        alone = Groups(np.arange(len(rows)), len(rows))
        return self._each.start([taken(c, rows) for c in self._inputs], alone, self._passed + rows)


def _subtracted(
    each: Accumulator, inputs: Columns, low: Ints, high: Ints, before: Before | None
) -> list[pa.Array] | None:
    """Return the partial results of counts and sums of integers, None where sums could leave 64 bits."""
    if isinstance(each, Count):
        return [_frame_counts(inputs, low, high, before)]
    # Not decimals: numpy has no type of theirs to run sums over.
    if isinstance(each, Sum) and pa.types.is_integer(each.type):
        made = _frame_sums(inputs[0], low, high, before)
        return None if made is None else [made]
    return None


def _reach(call: OverCall) -> FrameReach:
    frame = call.frame
    if frame.preceding is None:
        return FrameReach(rows=max(-frame.following, 0))
    if frame.unit == "ROWS":
        return FrameReach(rows=max(frame.preceding, 0))
    return FrameReach(time=max(frame.preceding, 0))


# A bound of sums with room for one more addition in 64 bits.
_LIMIT = 1 << 62


def _frame_counts(inputs: Columns, low: Ints, high: Ints, before: Before | None) -> pa.Array:
    """Return how many rows, or values of the first input, each frame has."""
    present = known(inputs[0]) if inputs else None
    made = _counts(present, low, high)
    if before is not None:
        made = made + numbers(taken(before.partials[0], before.places))
    return pa.array(made)


def _frame_sums(column: pa.Array, low: Ints, high: Ints, before: Before | None) -> pa.Array | None:
    """Return the sum of each frame as BIGINT, NULL without values; None where 64 bits may be too few."""
    values = numbers(column).astype(np.int64)
    start, there = np.zeros(len(low), np.int64), np.zeros(len(low), np.bool_)
    if before is not None:
        kept = taken(before.partials[0], before.places)
        start, there = numbers(kept).astype(np.int64), np.asarray(kept.is_valid().to_numpy(zero_copy_only=False))
    # Below the limit no frame's sum can leave 64 bits, whichever rows it has.
    if _largest(values) * len(values) + _largest(start) >= _LIMIT:
        return None
    there = there | (_counts(known(column), low, high) > 0)
    return pa.array(start + _differences(values, low, high), mask=~there)


def _counts(present: Bools | None, low: Ints, high: Ints) -> Ints:
    return high - low if present is None else _differences(present.astype(np.int64), low, high)


def _differences(values: Ints, low: Ints, high: Ints) -> Ints:
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums[high] - sums[low]


def _largest(values: Ints) -> int:
    return max(-int(values.min()), int(values.max())) if len(values) else 0
