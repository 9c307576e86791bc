"""Counts and sums of integers over many frames at once: the sum up to the end less the sum up to the beginning.

Only where this is exact: floating-point sums would keep the rounding errors, infinities and NaNs of rows that have
left the frame.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Columns
from sqlext_udfs.kernel.arrow_numpy import known, numbers, taken
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.over.blocks import Before

_LIMIT = 1 << 62


def counts(inputs: Columns, low: Ints, high: Ints, before: Before | None) -> pa.Array:
    """Return how many rows, or values of the first input, each frame has."""
    present = known(inputs[0]) if inputs else None
    made = _counts(present, low, high)
    if before is not None:
        made = made + numbers(taken(before.partials[0], before.places))
    return pa.array(made)


def integer_sums(column: pa.Array, low: Ints, high: Ints, before: Before | None) -> pa.Array | None:
    """Return the sum of each frame as BIGINT, NULL without values; None where 64 bits may be too few."""
    values = numbers(column).astype(np.int64)
    start, there = np.zeros(len(low), np.int64), np.zeros(len(low), np.bool_)
    if before is not None:
        kept = taken(before.partials[0], before.places)
        start, there = numbers(kept).astype(np.int64), np.asarray(kept.is_valid().to_numpy(zero_copy_only=False))
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
