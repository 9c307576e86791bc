"""Rows as lines of JSON, many at a time."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext.sinks.json_lines import json_lines

_ROWS = pa.table(
    {
        "i": pa.array([1, None, -3], pa.int32()),
        'q"': pa.array(["a", 'b"\\\n\x01ä', None]),
        "d": pa.array([Decimal("1.50"), None, Decimal(0)], pa.decimal128(5, 2)),
        "b": pa.array([True, False, None]),
        "r": pa.array(
            [{"x": 1.0, "y": None}, None, {"x": None, "y": "\t"}], pa.struct({"x": pa.float64(), "y": "str"})
        ),
    }
)


def _text(rows: pa.Table, *, ignores_null: bool) -> list[str]:
    return b"".join(json_lines(rows, ignores_null=ignores_null)).decode().splitlines()


def test_lines() -> None:
    assert _text(_ROWS, ignores_null=False) == [
        r'{"i":1,"q\"":"a","d":1.50,"b":true,"r":{"x":1.0,"y":null}}',
        r'{"i":null,"q\"":"b\"\\\n\u0001ä","d":null,"b":false,"r":null}',
        r'{"i":-3,"q\"":null,"d":0.00,"b":null,"r":{"x":null,"y":"\t"}}',
    ]


def test_null_is_left_out() -> None:
    assert _text(_ROWS, ignores_null=True) == [
        r'{"i":1,"q\"":"a","d":1.50,"b":true,"r":{"x":1.0}}',
        r'{"q\"":"b\"\\\n\u0001ä","b":false}',
        r'{"i":-3,"d":0.00,"r":{"y":"\t"}}',
    ]
    assert _text(pa.table({"i": pa.array([None], pa.int64())}), ignores_null=True) == ["{}"]


@pytest.mark.parametrize("scale", [0, 6, 7, 20])
def test_decimals_have_no_exponent(scale: int) -> None:
    values = [Decimal(n).scaleb(-scale) for n in (0, 1, -1, 12345, -(10**19))]
    written = _text(pa.table({"d": pa.array(values, pa.decimal128(38, scale))}), ignores_null=False)
    assert written == [f'{{"d":{value:f}}}' for value in values]


@pytest.mark.parametrize("ignores_null", [False, True])
@given(texts=st.lists(st.none() | st.text(max_size=5), max_size=4), start=st.integers(0, 3))
def test_a_parser_reads_the_same_texts(texts: list[str | None], start: int, ignores_null: bool) -> None:
    rows = pa.table({"s": pa.array(texts, pa.string())}).slice(start)
    read = b"".join(json_lines(rows, ignores_null=ignores_null)).split(b"\n")[:-1]
    assert [json.loads(line).get("s") for line in read] == texts[start:]
