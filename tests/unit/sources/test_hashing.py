"""Spark's xxhash64 in numpy, against the specification of XXH64 (and against Spark in tests/sources)."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pytest

from sqlext_udfs.kernel.hashing import buckets_of, can_hash, xxhash64

_MASK = (1 << 64) - 1
_P1, _P2, _P3, _P4, _P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def _rotated(x: int, bits: int) -> int:
    return (x << bits | x >> 64 - bits) & _MASK


def _round(lane: int, word: int) -> int:
    return _rotated((lane + word * _P2) & _MASK, 31) * _P1 & _MASK


def reference(data: bytes, seed: int) -> int:
    """XXH64 as its specification says it, byte by byte."""
    place = 0
    if len(data) >= 32:
        lanes = [(seed + _P1 + _P2) & _MASK, (seed + _P2) & _MASK, seed, (seed - _P1) & _MASK]
        while place + 32 <= len(data):
            words = struct.unpack_from("<4Q", data, place)
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
            place += 32
        h = sum(_rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
        for lane in lanes:
            h = ((h ^ _round(0, lane)) * _P1 + _P4) & _MASK
    else:
        h = (seed + _P5) & _MASK
    h = (h + len(data)) & _MASK
    while place + 8 <= len(data):
        h = (_rotated(h ^ _round(0, *struct.unpack_from("<Q", data, place)), 27) * _P1 + _P4) & _MASK
        place += 8
    if place + 4 <= len(data):
        (half,) = struct.unpack_from("<I", data, place)
        h = (_rotated(h ^ half * _P1 & _MASK, 23) * _P2 + _P3) & _MASK
        place += 4
    for byte in data[place:]:
        h = _rotated(h ^ byte * _P5 & _MASK, 11) * _P1 & _MASK
    h = (h ^ h >> 33) * _P2 & _MASK
    h = (h ^ h >> 29) * _P3 & _MASK
    return h ^ h >> 32


def _expected(data: list[bytes | None], seed: int = 42) -> list[int]:
    return [seed if d is None else reference(d, seed) for d in data]


def test_texts_of_every_length() -> None:
    texts = [None, *("aä€𝄞xyz"[i % 7] * i for i in range(150)), None]
    encoded = [None if t is None else t.encode() for t in texts]
    assert xxhash64([pa.array(texts)], len(texts)).tolist() == _expected(encoded)
    sliced = pa.array(texts).slice(3)
    assert xxhash64([sliced], len(sliced)).tolist() == _expected(encoded[3:])


@pytest.mark.parametrize(
    ("of", "form", "values"),
    [
        (pa.int64(), "<q", [0, 1, -1, 1 << 62, -(1 << 63)]),
        (pa.int32(), "<i", [0, 1, -1, 1 << 30]),
        (pa.int16(), "<i", [0, -1, 300]),
        (pa.int8(), "<i", [0, -1, 100]),
        (pa.bool_(), "<i", [True, False]),
        (pa.float64(), "<d", [1.5, -1e300]),
        (pa.float32(), "<f", [1.5, -2.25]),
        (pa.timestamp("us", "UTC"), "<q", [0, -1, 1_700_000_000_000_000]),
    ],
)
def test_numbers(of: pa.DataType, form: str, values: list[object]) -> None:
    column = pa.array([*values, None], of)
    assert xxhash64([column], len(column)).tolist() == _expected([*(struct.pack(form, v) for v in values), None])


def test_equal_floating_point_numbers_have_one_hash() -> None:
    odd = np.array([0x7FF8000000000001], np.int64).view(np.float64)[0]
    found = xxhash64([pa.array([0.0, -0.0, float("nan"), odd])], 4)
    assert found[0] == found[1]
    assert found[2] == found[3] == reference(struct.pack("<q", 0x7FF8000000000000), 42)


def test_columns_are_chained_and_null_leaves_the_seed() -> None:
    a, b = pa.array(["x", None, "x"]), pa.array([1, 1, None])
    of_x, of_1 = reference(b"x", 42), struct.pack("<q", 1)
    assert xxhash64([a, b], 3).tolist() == [reference(of_1, of_x), reference(of_1, 42), of_x]


def test_decimals_of_a_long() -> None:
    from decimal import Decimal

    column = pa.array([Decimal("1.25"), Decimal("-1.25"), None], pa.decimal128(10, 2))
    assert can_hash(column.type)
    assert not can_hash(pa.decimal128(19, 2))
    assert xxhash64([column], 3).tolist() == _expected([struct.pack("<q", 125), struct.pack("<q", -125), None])


def test_decimals_longer_than_a_long() -> None:
    """Their bytes are those of Java's BigInteger: the fewest that have a sign."""
    from decimal import Decimal

    unscaled = [0, 1, -1, 127, 128, -128, -129, 10**30]
    column = pa.array([*(Decimal(n).scaleb(-2) for n in unscaled), None], pa.decimal128(38, 2))
    shown = ["00", "01", "ff", "7f", "0080", "80", "ff7f", "0c9f2c9cd04674edea40000000"]
    assert xxhash64([column], len(column)).tolist() == _expected([*map(bytes.fromhex, shown), None])


def test_values_inside_others_are_chained() -> None:
    """NULL leaves the seed as it is, inside and outside."""
    one, x = struct.pack("<q", 1), b"x"
    both, alone = reference(x, reference(one, 42)), reference(one, 42)
    structs = pa.array(
        [{"a": 1, "b": "x"}, {"a": 1, "b": None}, None], pa.struct([("a", pa.int64()), ("b", pa.string())])
    )
    assert xxhash64([structs], 3).tolist() == [both, alone, 42]
    lists = pa.array([[1, 1], [1, None], [None], [], None], pa.list_(pa.int64()))
    twice = reference(one, alone)
    assert xxhash64([lists], 5).tolist() == [twice, alone, 42, 42, 42]
    assert xxhash64([lists.slice(1)], 4).tolist() == [alone, 42, 42, 42]
    assert xxhash64([pa.array([x, None], pa.binary())], 2).tolist() == [reference(x, 42), 42]


def test_buckets_are_never_negative() -> None:
    found = buckets_of([pa.array(range(1000))], 1000, 8)
    assert set(found.tolist()) == set(range(8))
    assert buckets_of([], 3, 8).tolist() == [0, 0, 0]
