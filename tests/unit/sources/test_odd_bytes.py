"""The rules of docs/time.md for odd bytes, as our readers have them: no Spark."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.csv_decoder import CsvDecoder
from sqlext.sources.decoding.json_decoder import JsonDecoder
from sqlext.sources.decoding.json_scanner import decoded, scanned
from sqlext.sources.decoding.parquet_decoder import ParquetDecoder
from sqlext.sources.decoding.spark_casts import parser_of
from sqlext.sources.decoding.text_messages import JsonValues
from sqlext.sources.file_slices import FileDecoder, Range
from sqlext.stores.files import file_access

_S = ArrowField("s", pa.string())
_JSON = JsonDecoder((_S, ArrowField("w", pa.timestamp("us"))))
_CSV = CsvDecoder((ArrowField("n", pa.int64()), _S), ("n", "s"))


def read(decoder: FileDecoder, folder: Path, data: bytes, name: str = "a") -> list[str | None]:
    """Return the texts of a file."""
    path = folder / name
    path.write_bytes(data)
    found = decoder.read(Range(str(path), 0, len(data), file_access(str(path))))
    return [text for batch in found for text in batch.column("s").to_pylist()]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"s":"a"} {"s":"b"}', "a"),
        (b'{"s":"a"}x', "a"),
        (b'{"s":"a"}\xff', "a"),
        (b'{"s":"\xc0\xa2\xe0\x82\xa9\xc1\x9c"}', '"\u00a9\\'),
        (b'{"s":"a\xf4\x90\x80\x80"}', "a??"),
        (b'{"x":"\xed\xa0\x80","s":"a"}', "a"),
        (b'{"k\xf4\x90\x80\x80":1,"s":"a"}', "a"),
        (b'{"s":"a\\ud800"}', "a?"),
        (b'{"s":"\\ud834\\udd1e"}', "\U0001d11e"),
        (b'{"s": {"a" : [1.50, "\\u00e4"]}}', '{"a" : [1.50, "\\u00e4"]}'),
        (b'{"s":[1e5,{}]}', "[1e5,{}]"),
        (b"{'s':'a\"\\''}", "a\"'"),
        (b'{"s":+INF,"x":NaN}', "+INF"),
        (b'\xef\xbb\xbf{"s":"a"}', "a"),
        (b'{"x":' + b'{"x":[' * 3000 + b"]}" * 3000 + b',"s":"a"}', "a"),
        ('{"s":"ä"}'.encode("utf-16-le"), "ä"),
    ],
)
def test_json_that_is_taken(tmp_path: Path, line: bytes, text: str) -> None:
    assert read(_JSON, tmp_path, b'{"s":"0"}\n' + line) == ["0", text]


@pytest.mark.parametrize(
    "line",
    [
        b'{"s":"a\xff"}',
        b'{"s":"\xed\xa0\xb4\xed\xb4\x9e"}',
        b'{"k\xed\xa0\x80":1,"s":"a"}',
        b'{"s":"\xe2\x82"}',
        b'{"s":"\xf8\x88\x80\x80\x80"}',
        b'{"s":"a"\xc0\xa0}',
        b'{"s":{"k":"\xc0\xaf"}}',
        b'{"x":"\xff","s":"a"}',
        b'{"s\\ud800":"a"}',
        b'{"s":"\\x"}',
        b'{"s":"\\u00e"}',
        b'{"s":"a\tb"}',
        b"{'s':'a}",
        b'{"s":INF}',
        b'{"s":01}',
        b'{"s":"a",}',
        b'{s:"a"}',
        b'{"s":"a"/*c*/}',
        b"\x0b",
        b"null",
        b'[{"s":"a"},5]',
        b'{"w":"2024-01-01 00:00:00Z"}',
        b'{"w":"2024-01-01 00:00:00+02:00"}',
        b'{"w":"2024-01-01 00:"}',
    ],
)
def test_json_that_is_refused(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(SqlExtError, match="RUN-066"):
        read(_JSON, tmp_path, b'{"s":"0"}\n' + line)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'1,"a', "a"),
        (b'1,"a,b', "a,b"),
        (b'1,"', '"'),
        (b'1,"a""', 'a"'),
        (b'1,a"b', 'a"b'),
        (b'1,"a\x00b"', "a\x00b"),
        (b'1,"a\x00""b" \x00', 'a\x00"b'),
        (b"1,\x00", "\x00"),
        (b'1,"a" \t', "a"),
        (b'1, "a"', ' "a"'),
        (b"1,a\xff\xed\xa0\x80", "a\ufffd\ufffd"),
    ],
)
def test_csv_that_is_taken(tmp_path: Path, line: bytes, text: str) -> None:
    assert read(_CSV, tmp_path, b'0,"0"\n' + line) == ["0", text]


@pytest.mark.parametrize("line", [b"1", b"1,a,b", b'1,"a"b', b'1,"a\\"b"', b'1,""a', b'1,"a" b'])
def test_csv_that_is_refused(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(SqlExtError, match="RUN-066"):
        read(_CSV, tmp_path, b"0,x\n" + line)


def test_arrow_does_not_end_the_process(tmp_path: Path) -> None:
    """Its parser does where `null` begins a block."""
    for line in (b"null", b'null":1,"s":"a"}', b' null\n{"s":"a"}'):
        with pytest.raises(SqlExtError, match="RUN-066"):
            read(_JSON, tmp_path, line)


def test_a_line_of_20_megabytes(tmp_path: Path) -> None:
    long = "a" * 20_000_100
    assert read(_JSON, tmp_path, f'{{"s":"0"}}\n{{"s":"{long}"}}\n'.encode()) == ["0", long]
    assert read(_CSV, tmp_path, f'0,0\n1,"{long}"\n2,b'.encode()) == ["0", long, "b"]


@pytest.mark.parametrize(
    ("line", "length"),
    [
        (b'1,"' + b'"",' * 7_000_000 + b'"', 14_000_000),
        (b'1,"' + b"a" * 20_000_100, 20_000_100),
        (b'1,"' + b"\x00" * 20_000_100 + b'"', 20_000_100),
        (b" " * 20_000_100 + b"1,a", 1),
    ],
    ids=["doubled quotes", "an open quote", "NUL", "blanks"],
)
def test_a_csv_line_of_20_megabytes(tmp_path: Path, line: bytes, length: int) -> None:
    assert [len(text or "") for text in read(_CSV, tmp_path, line + b"\n2,b")] == [length, 1]


@pytest.mark.parametrize("line", [b'1,"' + b"a" * 20_000_100 + b'"b', b"1" + b",a" * 10_000_000])
def test_a_csv_line_of_20_megabytes_that_is_refused(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(SqlExtError, match=r"RUN-066.*a:1"):
        read(_CSV, tmp_path, line)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_packed_file_that_is_cut_off(tmp_path: Path, share: float) -> None:
    packed = gzip.compress(b"".join(b'{"s":"%d"}\n' % n for n in range(500)))
    with pytest.raises(SqlExtError, match=r"RUN-066.*a\.json\.gz") as refused:
        read(_JSON, tmp_path, packed[: int(share * len(packed))], "a.json.gz")
    assert refused.value.hint


def test_a_page_that_is_not_as_it_was_written(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"s": [f"text {n}" for n in range(50)]}),
        tmp_path / "p",
        compression="none",
        use_dictionary=False,
        write_page_checksum=True,
    )
    data = (tmp_path / "p").read_bytes()
    assert len(read(ParquetDecoder((_S,)), tmp_path, data)) == 50
    changed = data.replace(b"text 7", b"text 8", 1)
    assert changed != data
    with pytest.raises(SqlExtError, match="RUN-066"):
        read(ParquetDecoder((_S,)), tmp_path, changed)


def test_years_that_python_has_not() -> None:
    instant, day = parser_of(pa.timestamp("us", "UTC")), parser_of(pa.date32())
    assert day("-0001-02-03") == -719_860
    assert day("+12345") == 3_789_391
    assert instant("+12345") == 327_403_382_400_000_000
    assert instant(" -0001-02-03") == -62_195_904_000_000_000
    assert instant("2024-01-01 00:00:00 UTC+2:5") == instant("2023-12-31 21:55:00")


@pytest.mark.parametrize(
    ("text", "hours"),
    [("10:00", 10), ("T10", 10), (" 10:0:0.5 ", 10), ("10:00:00Z", 10), ("00:00:00 UTC", 0), ("23:00:00 UTC", 23)],
)
def test_a_time_without_a_date_is_of_today(text: str, hours: int) -> None:
    """For an instant; a wall clock refuses it."""
    day = 86_400_000_000
    days = {time.time_ns() // 1000 // day * day}
    found = parser_of(pa.timestamp("us", "UTC"))(text)
    days.add(time.time_ns() // 1000 // day * day)
    assert found - hours * 3_600_000_000 - (500_000 if ".5" in text else 0) in days
    with pytest.raises(ValueError, match=r"."):
        parser_of(pa.timestamp("us"))(text)


def test_today_is_that_of_the_zone() -> None:
    """Of two zones 26 hours apart, one has another day than the other at any time."""
    instant = parser_of(pa.timestamp("us", "UTC"))
    noon = {zone: instant(f"12:00:00 {zone}") for zone in ("Etc/GMT-14", "Etc/GMT+12", "UTC")}
    now = time.time_ns() // 1000
    for zone, hours in (("Etc/GMT-14", 14), ("Etc/GMT+12", -12), ("UTC", 0)):
        there = now + hours * 3_600_000_000
        assert noon[zone] + hours * 3_600_000_000 - there // 86_400_000_000 * 86_400_000_000 == 43_200_000_000


@pytest.mark.parametrize("text", ["10", "10:", "T", "10Z", "T10:00Z", "25:00", "10:00:61", "2024 10:00", "10:00 PM"])
def test_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parser_of(pa.timestamp("us", "UTC"))(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('{"a" : [1.50, "\\u00e4"]}', '{"a":[1.5,"ä"]}'),
        ("[1e5, {}]", "[100000.0,{}]"),
        ('{"b" : {"c" : [true, null, 10]}}', '{"b":{"c":[true,null,10]}}'),
        ("1.50", "1.50"),
        ("1e5", "1e5"),
        ("100000000000000000000000.10", "100000000000000000000000.10"),
        ("true", "true"),
        ("null", None),
    ],
)
def test_a_message_with_anything_in_a_string(value: str, text: str | None) -> None:
    """As Flink 2.3 shows it."""
    assert JsonValues((_S,)).reader()([f'{{"s":{value}}}'.encode()]).column("s").to_pylist() == [text]


def test_the_scanner_and_pythons_parser_say_the_same() -> None:
    for text in ('{"a":[1,-2.5e3,{"b":null}],"c":"\\u00e4\\n\\/"}', "[]", "{}", '[{"a":true},{}]', '{"":{"":[[]]}}'):
        assert json.dumps(scanned(decoded(text.encode()))) == json.dumps(
            json.loads(text, parse_int=str, parse_float=str)
        )
