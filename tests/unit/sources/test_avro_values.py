"""Avro records read side by side: what was written comes out, and what is no record is found by its place."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext.sources.decoding.avro_messages import AvroField, AvroValues
from sqlext.sources.decoding.malformed import BadValueError
from sqlext_udfs.expressions.functions import INSTANT
from tests.avro_bytes import NULL, some, text, whole

_DECIMAL = pa.decimal128(30, 2)


def _decimal(value: Decimal) -> bytes:
    number = int(value.scaleb(2))
    data = number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    return whole(len(data)) + data


#: A name: how it is written, as what it is read, its values, and one of them as bytes.
_EVERY: dict[str, tuple[str, pa.DataType, Any, Any]] = {
    "b": ("boolean", pa.bool_(), st.booleans(), lambda v: bytes([v])),
    "t": ("int", pa.int8(), st.integers(-128, 127), whole),
    "i": ("int", pa.int32(), st.integers(-(1 << 31), (1 << 31) - 1), whole),
    "l": ("long", pa.int64(), st.integers(-(1 << 63), (1 << 63) - 1), whole),
    "f": ("float", pa.float32(), st.floats(width=32, allow_nan=False), lambda v: struct.pack("<f", v)),
    "d": ("double", pa.float64(), st.floats(allow_nan=False), lambda v: struct.pack("<d", v)),
    "s": ("bytes", pa.string(), st.text(max_size=9), text),
    "n": ("bytes", _DECIMAL, st.decimals(-(10**25), 10**25, places=2), _decimal),
    "da": ("int", pa.date32(), st.dates(), lambda v: whole(v.toordinal() - 719163)),
}
_RECORD = st.tuples(*(st.none() | values for _, _, values, _ in _EVERY.values()))


def _values(*left_out: str) -> AvroValues:
    fields = ((n, kind, None if n in left_out else of) for n, (kind, of, _, _) in _EVERY.items())
    return AvroValues(tuple(AvroField(n, kind, True, of) for n, kind, of in fields))


def _written(record: Sequence[Any]) -> bytes:
    writers = (write for *_, write in _EVERY.values())
    return b"".join(NULL if v is None else some(write(v)) for v, write in zip(record, writers, strict=True))


@given(st.lists(_RECORD, min_size=1, max_size=20), st.sets(st.sampled_from(sorted(_EVERY)), max_size=8))
def test_what_was_written_is_read(records: list[tuple[Any, ...]], left_out: set[str]) -> None:
    rows = _values(*left_out).reader()([_written(r) for r in records])
    named = [dict(zip(_EVERY, r, strict=True)) for r in records]
    assert rows.to_pylist() == [{n: v for n, v in r.items() if n not in left_out} for r in named]


@given(_RECORD, _RECORD, st.data())
def test_a_record_that_ends_too_early(good: tuple[Any, ...], cut: tuple[Any, ...], data: st.DataObject) -> None:
    whole_one = _written(cut)
    part = whole_one[: data.draw(st.integers(0, len(whole_one) - 1))]
    with pytest.raises(BadValueError) as bad:
        _values().reader()([_written(good), part, _written(good)])
    assert bad.value.index == 1


def _one(field: AvroField, value: bytes) -> Any:
    (row,) = AvroValues((field,)).reader()([value]).to_pylist()
    return row[field.name]


def test_what_stands_behind_a_record_is_not_looked_at() -> None:
    assert _one(AvroField("i", "int", False, pa.int32()), whole(5) + b"\xff\xff") == 5


def test_times() -> None:
    moment = dt.datetime(2024, 1, 1, 0, 0, 0, 250000, dt.timezone.utc)
    millis = int(moment.timestamp() * 1000)
    assert _one(AvroField("t", "long", False, INSTANT, 1000), whole(millis)) == moment
    assert _one(AvroField("t", "long", False, INSTANT), whole(millis * 1000)) == moment


def test_no_utf8_as_java_reads_it() -> None:
    assert _one(AvroField("s", "bytes", False, pa.string()), whole(2) + b"a\xff") == "a\ufffd"


@pytest.mark.parametrize(
    ("kind", "of", "value"),
    [
        ("int", pa.int8(), whole(128)),
        ("int", pa.int32(), b"\xff" * 5 + b"\x01"),
        ("long", pa.int64(), b"\xff" * 10 + b"\x01"),
        ("long", INSTANT, whole(1 << 60)),
        ("bytes", pa.string(), whole(-1)),
        ("bytes", pa.string(), whole(1 << 40)),
        ("bytes", pa.decimal128(3, 0), whole(2) + (1000).to_bytes(2, "big")),
        ("bytes", pa.decimal128(20, 0), whole(9) + (10**20).to_bytes(9, "big")),
        ("bytes", pa.decimal128(3, 0), whole(0)),
    ],
)
def test_no_value_of_its_type(kind: str, of: pa.DataType, value: bytes) -> None:
    with pytest.raises(BadValueError):
        _one(AvroField("x", kind, False, of, 1000), value)


def test_no_branch_of_a_union() -> None:
    with pytest.raises(BadValueError, match="branch"):
        _one(AvroField("x", "int", True, pa.int32()), whole(2) + whole(1))
