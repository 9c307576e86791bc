"""Fields of integers and times are read as Arrow reads them, or not at all."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.csv_decoder import CsvDecoder
from sqlext.sources.decoding.csv_fields import FieldReader

COLUMNS = (
    ArrowField("k", pa.int64()),
    ArrowField("v", pa.int16()),
    ArrowField("ts", pa.timestamp("us", "UTC")),
    ArrowField("at", pa.timestamp("us")),
    ArrowField("s", pa.string()),
)
LINES = [
    "1,-2,2024-01-01 00:00:01.500,2024-01-01T00:00:01,some text",
    "1234567890,32767,2024-01-01 00:00:02.500,2024-01-01T00:00:01,",
    "-7,0,1969-12-31 23:59:59.999,1969-12-31T00:00:00,a b c d e f g h",
]
NEEDED = ("k", "v", "ts", "at")


def both(block: bytes, null: str | None = None) -> pa.RecordBatch | None:
    """Return the rows of a block, if they are read here; a parser reads the same then."""
    decoder = CsvDecoder(COLUMNS, NEEDED, null=null)
    made = FieldReader(COLUMNS, decoder.read_columns, ",", '"', null or "").read(block)
    if made is not None:
        assert made.equals(decoder.decoded(block))
    return made


def test_rows() -> None:
    made = both("\n".join(LINES).encode())
    assert made is not None
    assert made.column("k").to_pylist() == [1, 1234567890, -7]
    assert made.column("v").to_pylist() == [-2, 32767, 0]


def test_instants_with_a_zone() -> None:
    block = "\n".join(LINES).replace(".500", ".5Z").replace(".999", ".9Z").encode()
    assert both(block) is not None
    assert both(block.replace(b".9Z", b".99")) is None


@pytest.mark.parametrize(
    "odd",
    [
        "1,2,2024-01-01 00:00:01.500,2024-01-01T00:00:01",
        "1,2,2024-01-01 00:00:01.500,2024-01-01T00:00:01,a,b",
        "1,32768,2024-01-01 00:00:01.500,2024-01-01T00:00:01,a",
        "1,,2024-01-01 00:00:01.500,2024-01-01T00:00:01,a",
        '1,2,2024-01-01 00:00:01.500,2024-01-01T00:00:01,"a"',
        "1,2,2024-01-01 00:00:01.5,2024-01-01T00:00:01,a",
        "1,2,2024-01-01 00:00:01.500,2024-01-01T00:00:01,a\r",
        "",
    ],
)
def test_a_parser_reads_other_lines(odd: str) -> None:
    assert both("\n".join([*LINES, odd, *LINES]).encode() + b"\n") is None


def test_fields_are_counted_line_by_line() -> None:
    assert both(b"1,2\n3\n4,5,6\n" + "\n".join(LINES).encode()) is None
    decoder = CsvDecoder(COLUMNS[:2], ("k", "v"))
    reader = FieldReader(decoder.columns, decoder.read_columns, ",", '"', "")
    assert reader.read(b"1,2\n3\n4,5,6\n") is None
    assert reader.read(b"1,2\n3,4") is not None


def test_a_text_of_digits_that_is_null_needs_a_parser() -> None:
    block = "\n".join(LINES).encode()
    assert both(block, null="n/a") is not None
    assert both(block, null="-2") is None


@given(st.data())
def test_changed_bytes(data: st.DataObject) -> None:
    """What is read is what a parser reads."""
    block = bytearray("\n".join(LINES[:2] + LINES).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(block) - 1))
        change = data.draw(st.sampled_from(b'0123456789-+.,:; TZ\r\n"\x00x\xff'))
        block[place : place + data.draw(st.integers(0, 2))] = bytes([change])
    try:
        both(bytes(block))
    except (SqlExtError, pa.ArrowInvalid) as error:
        raise AssertionError("a parser refuses what was read") from error
