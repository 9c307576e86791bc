"""Compute Spark's ``xxhash64`` of Arrow columns: a key has the same bucket whichever reader its rows come from.

XXH64 of a value's bytes in little-endian order, its seed the hash of the column before (42 at first); NULL leaves the
seed as it is. Spark widens small integers to four bytes, takes 0.0 for -0.0, and has one NaN. The values of a struct or
of a list are chained as columns are.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import known, numbers

Hashes = npt.NDArray[np.uint64]

#: The seed of Spark's expression XxHash64.
SEED = 42
_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(p)
    for p in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
)
_STRIPE, _WORD, _HALF = 32, 8, 4
#: Spark hashes longer decimals by the bytes of Java's BigInteger.
_DIGITS_OF_A_LONG = 18


def can_hash(of: pa.DataType) -> bool:
    """Return whether a type's values are hashed here as Spark does."""
    if pa.types.is_decimal128(of):
        return bool(of.precision <= _DIGITS_OF_A_LONG)
    fixed = pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_boolean(of)
    times = pa.types.is_date32(of) or (pa.types.is_timestamp(of) and of.unit == "us")
    return bool(fixed or times or pa.types.is_string(of))


def buckets_of(keys: Sequence[pa.Array], rows: int, buckets: int) -> npt.NDArray[np.int64]:
    """Return ``pmod(xxhash64(keys), buckets)`` of each row; 0 where there is no key."""
    if not keys:
        return np.zeros(rows, np.int64)
    # numpy's remainder has the sign of the divisor, as ``pmod`` has.
    found: npt.NDArray[np.int64] = xxhash64(keys, rows).view(np.int64) % buckets
    return found


def xxhash64(columns: Sequence[pa.Array], rows: int) -> Hashes:
    """Return the hash of each row, as unsigned numbers."""
    # XXH64 counts modulo 2**64, which numpy would warn of.
    with np.errstate(over="ignore"):
        return _chained(columns, np.full(rows, SEED, np.uint64))


def _chained(columns: Sequence[pa.Array], hashes: Hashes) -> Hashes:
    """Return the hashes of rows, each column's the seed of the next."""
    for column in columns:
        present = known(column)
        made = _hashed(column, hashes)
        hashes = made if present is None else np.asarray(np.where(present, made, hashes), np.uint64)
    return hashes


def _hashed(column: pa.Array, seeds: Hashes) -> Hashes:
    of = column.type
    if pa.types.is_string(of) or pa.types.is_binary(of):
        return _of_texts(column, seeds)
    if pa.types.is_struct(of):
        return _chained(column.flatten(), seeds)
    if pa.types.is_list(of):
        return _of_lists(column, seeds)
    if pa.types.is_decimal128(of) and of.precision > _DIGITS_OF_A_LONG:
        return _of_texts(pa.array(map(_java_bytes, column.to_pylist()), pa.binary()), seeds)
    if pa.types.is_decimal128(of):
        # Spark hashes the unscaled long: the lower half of Arrow's sixteen bytes.
        words = np.frombuffer(column.buffers()[1], np.int64)[::2][column.offset : column.offset + len(column)]
        return _of_words(words.view(np.uint64), seeds)
    values = numbers(column)
    if pa.types.is_floating(of):
        # One bit pattern for all NaN, and -0.0 plus 0.0 is 0.0.
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values) + np.array(0, values.dtype)
        values = values.view(np.int32 if values.itemsize == _HALF else np.int64)
    if values.itemsize == _WORD:
        return _of_words(values.astype(np.int64).view(np.uint64), seeds)
    return _of_halves(values.astype(np.int32).view(np.uint32).astype(np.uint64), seeds)


def _of_lists(column: pa.Array, seeds: Hashes) -> Hashes:
    """Hash the values of lists as columns side by side: the first of each, then the second."""
    offsets = column.offsets.to_numpy()
    starts, lengths = offsets[:-1], np.where(column.is_valid().to_numpy(zero_copy_only=False), np.diff(offsets), 0)
    hashes: Hashes = seeds.copy()
    for place in range(int(lengths.max(initial=0))):
        at = np.flatnonzero(lengths > place)
        hashes[at] = _chained([column.values.take(pa.array(starts[at] + place))], hashes[at])
    return hashes


def _java_bytes(value: Decimal | None) -> bytes | None:
    """Return the bytes of the unscaled value as Java's BigInteger has them: the fewest, the highest first."""
    if value is None:
        return None
    sign, digits, _ = value.as_tuple()
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    # One bit more than the number has: that of the sign.
    size = (unscaled if unscaled >= 0 else -unscaled - 1).bit_length() // 8 + 1
    return unscaled.to_bytes(size, "big", signed=True)


def _of_words(words: Hashes, seeds: Hashes) -> Hashes:
    return _avalanche(_with_word(seeds + _P5 + np.uint64(_WORD), words))


def _of_halves(halves: Hashes, seeds: Hashes) -> Hashes:
    return _avalanche(_with_half(seeds + _P5 + np.uint64(_HALF), halves))


def _of_texts(column: pa.Array, seeds: Hashes) -> Hashes:
    """Hash texts of all rows side by side: step by step the rows that are long enough take part."""
    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    starts, lengths = offsets[:-1].astype(np.int64), np.diff(offsets).astype(np.int64)
    raw = column.buffers()[2]
    # Words are read at any place, so a few bytes must follow the last text.
    data = np.frombuffer((raw.to_pybytes() if raw is not None else b"") + bytes(_WORD), np.uint8)
    words, halves = _views(data, np.uint64), _views(data, np.uint32)
    hashes = seeds + _P5
    long = np.flatnonzero(lengths >= _STRIPE)
    if len(long):
        hashes[long] = _stripes(words, starts[long], lengths[long], seeds[long])
    hashes += lengths.astype(np.uint64)
    places, left = starts + lengths // _STRIPE * _STRIPE, lengths % _STRIPE
    # Behind the stripes at most three words are left, then a half, then three bytes.
    for _ in range(_STRIPE // _WORD - 1):
        at = np.flatnonzero(left >= _WORD)
        hashes[at] = _with_word(hashes[at], words[places[at]])
        places[at] += _WORD
        left[at] -= _WORD
    at = np.flatnonzero(left >= _HALF)
    hashes[at] = _with_half(hashes[at], halves[places[at]].astype(np.uint64))
    places[at] += _HALF
    left[at] -= _HALF
    for _ in range(_HALF - 1):
        at = np.flatnonzero(left > 0)
        hashes[at] = _rotated(hashes[at] ^ data[places[at]].astype(np.uint64) * _P5, 11) * _P1
        places[at] += 1
        left[at] -= 1
    return _avalanche(hashes)


def _stripes(words: Hashes, starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], seeds: Hashes) -> Hashes:
    lanes = [seeds + _P1 + _P2, seeds + _P2, seeds.copy(), seeds - _P1]
    left, places = lengths // _STRIPE, starts.copy()
    while (at := np.flatnonzero(left > 0)).size:
        for i, lane in enumerate(lanes):
            lane[at] = _round(lane[at], words[places[at] + i * _WORD])
        places[at] += _STRIPE
        left[at] -= 1
    hashes: Hashes = _rotated(lanes[0], 1) + _rotated(lanes[1], 7) + _rotated(lanes[2], 12) + _rotated(lanes[3], 18)
    for lane in lanes:
        hashes = (hashes ^ _round(np.zeros_like(lane), lane)) * _P1 + _P4
    return hashes


def _views(data: npt.NDArray[np.uint8], of: type[np.uint64] | type[np.uint32]) -> Hashes:
    """Return the word that begins at each byte, over the same memory."""
    size = np.dtype(of).itemsize
    found: Hashes = np.ndarray((len(data) - size + 1,), of, data.data, 0, (1,))
    return found


def _with_word(hashes: Hashes, words: Hashes) -> Hashes:
    made: Hashes = _rotated(hashes ^ _round(np.zeros_like(words), words), 27) * _P1 + _P4
    return made


def _with_half(hashes: Hashes, halves: Hashes) -> Hashes:
    made: Hashes = _rotated(hashes ^ halves * _P1, 23) * _P2 + _P3
    return made


def _round(lane: Hashes, words: Hashes) -> Hashes:
    made: Hashes = _rotated(lane + words * _P2, 31) * _P1
    return made


def _avalanche(hashes: Hashes) -> Hashes:
    hashes = (hashes ^ hashes >> np.uint64(33)) * _P2
    hashes = (hashes ^ hashes >> np.uint64(29)) * _P3
    made: Hashes = hashes ^ hashes >> np.uint64(32)
    return made


def _rotated(numbers_: Hashes, bits: int) -> Hashes:
    made: Hashes = numbers_ << np.uint64(bits) | numbers_ >> np.uint64(64 - bits)
    return made
