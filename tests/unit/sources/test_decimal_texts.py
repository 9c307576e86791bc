"""DECIMAL and DATE of JSON and csv: what reads many at once gives what texts give one by one, or leaves it to them."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.connectors.jdbc.sqlite import Sqlite
from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.csv_decoder import CsvDecoder
from sqlext.sources.decoding.json_blocks import LayoutReader
from sqlext.sources.decoding.json_decoder import JsonBlocks, JsonDecoder
from sqlext.sources.decoding.spark_casts import to_decimal
from sqlext.types import decimal

COLUMNS = (
    ArrowField("m", pa.decimal128(6, 2)),
    ArrowField("d", pa.date32()),
    ArrowField("r", pa.struct([("m", pa.decimal128(4, 0))])),
)
WHOLE = st.integers(-100_000, 100_000).map(str)
NUMBERS = st.one_of(
    WHOLE,
    st.builds("{}.{}".format, WHOLE, st.integers(0, 99_999)),
    st.text(st.sampled_from("0123456789.eE+-,"), min_size=1, max_size=6),
    st.sampled_from(["1e400", "1e-400", "NaN", " 5", ""]),
)
DATES = st.one_of(
    st.dates().map(str),
    st.builds("{}-{}-{}".format, st.integers(0, 99_999), st.integers(0, 13), st.integers(0, 32)),
    st.sampled_from(["5", "-7", "2024", " 2024-01-01", "2024-01-01T", "20240101", "x", ""]),
)
QUOTED_NUMBERS = NUMBERS.map('"{}"'.format)
LINES = st.builds(
    '{{"m":{},"d":{},"r":{}}}'.format,
    NUMBERS | QUOTED_NUMBERS | st.just("null"),
    DATES.map('"{}"'.format) | st.sampled_from(["null", "5"]),
    NUMBERS.map('{{"m":{}}}'.format) | st.just("null"),
)


@settings(max_examples=600, deadline=None)
@given(lines=st.lists(LINES, min_size=1, max_size=3))
def test_json(lines: list[str]) -> None:
    block = "\n".join(lines).encode()
    try:
        wanted = JsonDecoder(COLUMNS)._by_line(block, str)
    except SqlExtError:
        wanted = None
    for made in (LayoutReader(COLUMNS).read(block), JsonBlocks(COLUMNS)._by_arrow(block)):
        assert made is None or made.equals(wanted), block


@settings(max_examples=600, deadline=None)
@given(number=NUMBERS.filter(lambda text: "," not in text), date=DATES)
def test_csv(number: str, date: str) -> None:
    decoder = CsvDecoder(COLUMNS[:2], ("m", "d"))
    line = f"{number},{date}".encode()

    def read(text: bytes) -> pa.RecordBatch | None:
        try:
            return decoder.line(text) if text is line else decoder.decoded(text)
        except (SqlExtError, pa.ArrowInvalid):
            return None

    assert read(line + b"\n") == read(line), line


@pytest.mark.parametrize("digits", ["9" * 20 + "." + "9" * 18, "-" + "9" * 20 + "." + "9" * 18])
def test_all_38_digits_are_kept_one_by_one(digits: str) -> None:
    assert to_decimal(digits, 38, 18) == Decimal(digits)
    read = Sqlite().read(decimal(38, 18))
    assert read is not None
    assert read(digits) == Decimal(digits)
    with pytest.raises(OverflowError):
        to_decimal(digits.replace(".", "0."), 38, 18)
