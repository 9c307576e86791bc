"""Accumulators over frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Accumulator, Aggregate, Columns
from sqlext_udfs.aggregates.known import accumulator
from sqlext_udfs.aggregates.numeric import Count, Sum
from sqlext_udfs.aggregates.sets import Distinct
from sqlext_udfs.kernel.arrow_numpy import taken, whole
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Groups, Ints, numbered
from sqlext_udfs.kernel.list_columns import elements
from sqlext_udfs.over.blocks import Before
from sqlext_udfs.over.bounds import Bounds
from sqlext_udfs.over.function import Evaluated, OverFunction, Reach
from sqlext_udfs.over.specification import OverCall
from sqlext_udfs.over.sums import counts, integer_sums


class Aggregated(OverFunction):
    """An accumulator over a frame."""

    def __init__(self, call: OverCall, types: Sequence[pa.DataType]) -> None:
        wanted = Aggregate(call.function, call.inputs, call.distinct, call.parameters)
        self._each = accumulator(wanted, tuple(types[i] for i in call.inputs))
        self._frame = call.frame
        running = self._each.partial_types if call.frame.preceding is None else ()
        super().__init__(call.inputs, self._each.output_types, running, _reach(call))

    def evaluate(self, inputs: Columns, bounds: Bounds, before: Before) -> Evaluated:
        """Return the accumulator's results over the frame of each row."""
        low, high = bounds.of(self._frame)
        growing = self._frame.preceding is None
        known = before if growing else None
        partials = _subtracted(self._each, inputs, low, high, known)
        if partials is None:
            start = _Start(self._each, inputs, bounds.timeline.passed)
            partials = bounds.blocks(self._frame).over(self._each, start, known)
        last = bounds.timeline.ends
        running = [taken(p, last) for p in partials] if growing else []
        return Evaluated(self._each.finish(partials), running)


class Growing(OverFunction):
    """DISTINCT over an unbounded frame: the accumulator sees a value where it first comes."""

    def __init__(self, call: OverCall, types: Sequence[pa.DataType]) -> None:
        accumulator(Aggregate(call.function, call.inputs, True, call.parameters), tuple(types[i] for i in call.inputs))
        self._inner = Aggregated(replace(call, distinct=False), types)
        self._set = Distinct(types[call.inputs[0]], None)
        running = (*self._set.partial_types, *self._inner.running_types)
        super().__init__(call.inputs, self._inner.output_types, running, Reach())

    def evaluate(self, inputs: Columns, bounds: Bounds, before: Before) -> Evaluated:
        """Return the accumulator's results over the different values up to each row."""
        seen, *partials = before.partials
        first = self._first(inputs[0], seen, before.places, bounds)
        inner = self._inner.evaluate([taken(inputs[0], first)], bounds, Before(partials, before.places))
        return Evaluated(
            inner.outputs, [self._all(taken(inputs[0], first), seen, before.places, bounds), *inner.running]
        )

    def _first(self, column: pa.Array, seen: pa.Array, places: Ints, bounds: Bounds) -> Ints:
        """Return for each row its place if its value is new to its key, else -1; -1 for rows of earlier steps."""
        timeline = bounds.timeline
        key = timeline.fresh
        values, owners = elements(seen)
        key_of = np.zeros(len(seen), np.int64)
        key_of[places[places >= 0]] = key[places >= 0]
        together = pa.concat_arrays([values, taken(column, timeline.rows)])
        together = whole(normalised(pa.table([together], ["value"])).column(0))
        first = numbered([together], [np.concatenate([key_of[owners.ids], key])]).first() - len(values)
        made = np.full(len(column), -1)
        new = timeline.rows[first[first >= 0]]
        made[new] = new
        return made

    def _all(self, new: pa.Array, seen: pa.Array, places: Ints, bounds: Bounds) -> pa.Array:
        """Return the values seen of each key."""
        timeline = bounds.timeline
        last = timeline.ends
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
        return [counts(inputs, low, high, before)]
    if isinstance(each, Sum) and pa.types.is_integer(each.type):
        made = integer_sums(inputs[0], low, high, before)
        return None if made is None else [made]
    return None


def _reach(call: OverCall) -> Reach:
    if call.frame.preceding is None:
        return Reach()
    return Reach(rows=call.frame.preceding) if call.frame.unit == "ROWS" else Reach(time=call.frame.preceding)
