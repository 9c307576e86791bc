"""Sum integers and decimals by group, exactly or with an error.

A sum that wraps around would be a wrong number without any sign of it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.arrow_numpy import Values, known
from sqlext_udfs.kernel.groups import Bools, Groups, Ints
from sqlext_udfs.kernel.ranges import Ranges

# Values are added in words of 32 bits, so that sums of 2 ** 31 words fit 64 bits.
_WORD = 32
_LOW = (1 << _WORD) - 1
_HALF = 1 << (_WORD - 1)
_LIMIT = 1 << 63
# Bytes of an integer whose type alone says that sums of it fit.
_SMALL = 4
# The digits of the widest DECIMAL, of Arrow's decimal128 as of Spark.
_MOST_DIGITS = 38


def integer_sums(values: Values, groups: Groups, weights: Ints | None = None) -> Ints:
    """Return the sum of each group's integers; 0 for a group without values.

    Args:
        values: what is added.
        groups: of the values.
        weights: how often each value counts; a negative weight takes away. Together at most 2 ** 30. None: once.

    Raises:
        SqlExtError: RUN-035 if one does not fit 64 bits.
    """
    times = 1 if weights is None or not len(values) else _largest(weights)
    return _sums(values, groups, weights, fits=_fit(values, times))


def counted_sums(values: Values, groups: Groups) -> Ints:
    """Return what ``integer_sums`` does; after that the groups have their sizes.

    Where a count fits beside a sum into 64 bits, one look at the rows finds both.

    Raises:
        SqlExtError: RUN-035 as there.
    """
    if groups.have_sizes() or not len(values):
        groups.sizes()
        return integer_sums(values, groups)
    most = _furthest(values) * len(values)
    # No sum is half of what one row counts for, so that even a negative one changes no count.
    place = most.bit_length() + 1
    if place + len(values).bit_length() >= _LIMIT.bit_length() - 1:
        groups.sizes()
        return _sums(values, groups, fits=most < _LIMIT)
    both = _added(np.add(values, np.int64(1 << place), dtype=np.int64), groups)
    counts = (both + (1 << (place - 1))) >> place
    groups.learn_sizes(counts)
    return both - (counts << place)


def integer_sums_of_ranges(values: Values, ranges: Ranges) -> Ints:
    """Return the sum of each range's integers.

    Raises:
        SqlExtError: RUN-035 if one does not fit 64 bits.
    """
    if _fit(values):
        return ranges.added(values)
    return joined(*(ranges.added(p) for p in halves(values.astype(np.int64, copy=False))))


def halves(values: Ints) -> tuple[Ints, Ints]:
    """Return the low and the high 32 bits of integers; the high ones have the sign.

    No sum of 2 ** 31 halves leaves 64 bits.
    """
    return values & _LOW, values >> _WORD


def joined(low: Ints, high: Ints, *, checked: bool = True) -> Ints:
    """Return sums of integers.

    Args:
        low: the sums of their low halves.
        high: those of their high ones.
        checked: whether one that does not fit 64 bits is an error; else it wraps around.

    Raises:
        SqlExtError: RUN-035 for such a sum.
    """
    high = high + (low >> _WORD)
    if checked and ((high < -_HALF) | (high >= _HALF)).any():
        raise sum_does_not_fit("BIGINT")
    return (high << _WORD) + (low & _LOW)


def decimal_sums(column: pa.Array, groups: Groups, of: pa.DataType, weights: Ints | None = None) -> pa.Array:
    """Return the sum of each group as decimals of a type of the same scale; 0 for one without values.

    Args:
        column: what is added.
        groups: of the values.
        of: the type of the sums.
        weights: as of ``integer_sums``.

    Raises:
        SqlExtError: RUN-035 if one has too many digits.
    """
    words = _words(column)
    present = known(column)
    if present is not None:
        words = words * present[:, None]
    # Four words of 32 bits, the lowest first; only the highest has a sign. No sum of them leaves 64 bits.
    parts = [words[:, 0] & _LOW, words[:, 0] >> _WORD & _LOW, words[:, 1] & _LOW, words[:, 1] >> _WORD]
    sums = [_added(p if weights is None else p * weights, groups) for p in parts]
    for lower, higher in ((0, 1), (1, 2), (2, 3)):
        sums[higher] += sums[lower] >> _WORD
        sums[lower] &= _LOW
    # Beyond 128 bits the upper word has wrapped around, so the digits alone would not show it.
    too_wide = (sums[3] < -_HALF) | (sums[3] >= _HALF)
    pairs = np.stack([sums[0] | sums[1] << _WORD, sums[2] | sums[3] << _WORD], axis=1)
    widest = pa.decimal128(_MOST_DIGITS, of.scale)
    made = pa.Array.from_buffers(widest, groups.count, [None, pa.py_buffer(np.ascontiguousarray(pairs))])
    if too_wide.any() or _has_more_digits(pairs, of.precision):
        raise sum_does_not_fit(f"DECIMAL({of.precision}, {of.scale})")
    return made.cast(of)


def _sums(values: Values, groups: Groups, weights: Ints | None = None, *, fits: bool) -> Ints:
    values = values.astype(np.int64, copy=False)
    if fits:
        return _added(values if weights is None else values * weights, groups)
    return joined(*(_added(p if weights is None else p * weights, groups) for p in halves(values)))


def _fit(values: Values, times: int = 1) -> bool:
    """Return whether no sum of any of the values leaves 64 bits."""
    return not len(values) or _largest(values) * len(values) * times < _LIMIT


def _largest(values: Values) -> int:
    # Of small types the bounds are known: nothing is looked at.
    if values.dtype.itemsize <= _SMALL and np.issubdtype(values.dtype, np.integer):
        return 1 << (8 * values.dtype.itemsize)
    return _furthest(values)


def _furthest(values: Values) -> int:
    return max(-int(values.min()), int(values.max()))


def _added(values: Values, groups: Groups) -> Ints:
    sums = np.zeros(groups.count, np.int64)
    np.add.at(sums, groups.ids, values)
    return sums


def _words(column: pa.Array) -> Ints:
    """Return the two 64-bit words of each 128-bit decimal, the lower one first."""
    if not len(column):
        return np.zeros((0, 2), np.int64)
    pairs = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
    return pairs[column.offset : column.offset + len(column)]


def _has_more_digits(pairs: Ints, digits: int) -> bool:
    """Return whether a value of two words has more digits."""
    limit = 10**digits
    return bool((_at_least(pairs, limit) | ~_at_least(pairs, 1 - limit)).any())


def _at_least(pairs: Ints, least: int) -> Bools:
    top, low = least >> 64, least & ((1 << 64) - 1)
    high, lower = pairs[:, 1], np.ascontiguousarray(pairs[:, 0]).view(np.uint64)
    reached: Bools = (high > top) | ((high == top) & (lower >= np.uint64(low)))
    return reached


def sum_does_not_fit(name: str) -> SqlExtError:
    """Return the error of a sum.

    Args:
        name: the type that it does not fit.
    """
    return SqlExtError("RUN-035", f"a SUM does not fit {name}", hint="CAST the summed value to a wider type")
