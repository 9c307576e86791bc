"""Values of messages read together are what each of them is alone; one that cannot be read is found by its place."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.csv_decoder import CsvDecoder
from sqlext.sources.decoding.malformed import BadValueError
from sqlext.sources.decoding.text_messages import CsvValues, JsonValues, MessageValues

_COLUMNS = (ArrowField("k", pa.string()), ArrowField("v", pa.int32()))
_CSV = CsvValues(CsvDecoder(_COLUMNS, ("k", "v"), null="-"))
_JSON = JsonValues(_COLUMNS)
_TEXTS = st.text(alphabet='ab ,"\n\r-ä\\', max_size=5)


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _rows(values: MessageValues, texts: list[str]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = values.reader()([t.encode() for t in texts]).to_pylist()
    return found


@given(st.lists(st.tuples(_TEXTS, st.integers(-9, 9)), min_size=1, max_size=9))
def test_lines_of_csv(rows: list[tuple[str, int]]) -> None:
    read = _rows(_CSV, [f"{_quoted(k)},{v}" for k, v in rows])
    assert read == [{"k": None if k == "-" else k, "v": v} for k, v in rows]


@given(st.lists(st.tuples(_TEXTS, st.integers(-9, 9)), min_size=1, max_size=9))
def test_objects_of_json(rows: list[tuple[str, int]]) -> None:
    assert _rows(_JSON, [json.dumps({"k": k, "v": v}) for k, v in rows]) == [{"k": k, "v": v} for k, v in rows]


def test_a_line_end_is_a_character_like_any_other() -> None:
    assert _rows(_CSV, ["a,1", "b\nc,2", "\nd, 3\r\n"]) == [
        {"k": "a", "v": 1},
        {"k": "b\nc", "v": 2},
        {"k": "\nd", "v": 3},
    ]


@pytest.mark.parametrize("bad", ["", "a", "a,1,2", "a,x", "a\nb,1\nc,2", '"a"b,1'])
def test_the_bad_one_is_found(bad: str) -> None:
    with pytest.raises(BadValueError) as found:
        _rows(_CSV, ["a,1", "b,2", "c\n,3", bad, "d,4"])
    assert found.value.index == 3
    assert found.value.hint


def test_the_bad_object_is_found() -> None:
    with pytest.raises(BadValueError) as found:
        _rows(_JSON, ['{"k": "a"}', '{"k":\n"b"}', '{"k": ', "{}"])
    assert found.value.index == 2


@pytest.mark.parametrize("depth", [100, 400, 3_000])
def test_a_message_that_nests_deeply_ends_no_query(depth: int) -> None:
    """At some hundred levels Python's own limit ended it."""
    for value in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        assert _rows(_JSON, [f'{{"k":{value}}}', '{"k":"a"}']) == [{"k": value, "v": None}, {"k": "a", "v": None}]
    with pytest.raises(BadValueError, match="it is nested deeply") as found:
        _rows(_JSON, ['{"k":"a"}', '{"k":' + "[" * 200_000])
    assert found.value.index == 1
