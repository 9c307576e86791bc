"""Bytes that are changed anyhow: both readers give the same rows, or both refuse the file.

Batch mode reads by the same two. ``READERS_SEED`` and ``READERS_FILES`` say which files and how many.
"""

from __future__ import annotations

import gzip
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from sqlext.connectors.filesystem.reader.tables import READER
from sqlext.spark.settings_scope import query_settings
from sqlext.types import BIGINT, DOUBLE, INT, STRING, TIMESTAMP3, TIMESTAMP_LTZ3, LogicalType

from .both_paths import by_arrow, by_spark, table_of
from .mutated import COLUMNS, LINES, columns_of, mutated, text_file

SEED = int(os.environ.get("READERS_SEED", "1"))
FILES = int(os.environ.get("READERS_FILES", "80"))


@pytest.fixture(scope="module")
def reading(spark: SparkSession) -> Iterator[SparkSession]:
    """A session in UTC that says nothing of the failures."""
    session = spark.newSession()
    for key, value in query_settings("UTC", ()).items():
        session.conf.set(key, value)
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.sparkContext.setLogLevel("WARN")


def compared(
    session: SparkSession, folder: Path, data: bytes, name: str, columns: dict[str, LogicalType], rowtime: str | None
) -> tuple[bool, str]:
    """Return whether both readers say the same of a file, and what they say."""
    folder.mkdir()
    (folder / name).write_bytes(data)
    table = table_of(folder, name.split(".")[1], columns, rowtime=rowtime)
    ours, sparks = by_arrow(table, folder.parent / f"log-{folder.name}"), by_spark(session, table)
    return ours == sparks, f"{data!r} of {list(columns)}: ours {ours}, Spark's {sparks}"


@pytest.mark.parametrize("form", ["json", "csv"])
def test_texts(reading: SparkSession, tmp_path: Path, form: str) -> None:
    chance = random.Random(f"{form} {SEED}")
    differ = []
    for number in range(FILES):
        columns = columns_of(form, chance)
        rowtime = chance.choice((None, "w")) if "w" in columns else None
        same, told = compared(reading, tmp_path / str(number), text_file(form, chance), f"a.{form}", columns, rowtime)
        differ += [] if same else [told]
    assert differ == []


#: What was found to differ, one rule each: docs/time.md.
_FOUND: dict[str, tuple[str, bytes]] = {
    "no UTF-8": ("json", b'{"s":"a\xff"}'),
    "no UTF-8 in a value that nobody reads": ("json", b'{"x":"\xff","s":"a"}'),
    "no UTF-8 in csv": ("csv", b"1,a\xff\xed\xa0\x80"),
    **{
        f"{kind} {place}": ("json", before + data + after)
        for kind, data in {
            "longer than needed": b"\xc0\xa2\xe0\x82\xa9\xc1\x9c",
            "a long NUL": b"\xc0\x80",
            "four bytes that are too many": b"\xf0\x80\x80\x80",
            "beyond all characters": b"\xf4\x90\x80\x80",
            "five bytes": b"\xf8\x88\x80\x80\x80",
            "a pair in bytes": b"\xed\xa0\xb4\xed\xb4\x9e",
            "cut off": b"\xe2\x82",
        }.items()
        for place, before, after in (
            ("in a text", b'{"s":"a', b'b"}'),
            ("in what nobody reads", b'{"x":"a', b'b","s":"a"}'),
            ("in a key", b'{"k', b'":1,"s":"a"}'),
            ("between", b'{"s":"a"', b"}"),
        )
    },
    "NUL in quotes": ("csv", b'1,"a\x00b"\n2,"\x00"\n3,"\x00\x00"\n4,"a\x00""b\x00"\n5,"\x00 '),
    "NUL in quotes before a delimiter": ("csv", b'"1\x00","\x00"'),
    "NUL elsewhere": ("csv", b'1\x00,a\x00b\n2,\x00\n\x00\n3,"a"\x00\x01 \n4,\x00"a"\n\x005,a'),
    "long in csv": ("csv", b"0,a\n1," + b"a" * 20_000_100 + b'\n2,"b"'),
    "long in quotes": ("csv", b'1,"' + b'"",' * 7_000_000 + b'"\n2,b'),
    "long and open": ("csv", b'1,"' + b"a" * 20_000_100),
    "a long number in csv": ("csv", b" " * 20_000_100 + b"1,a"),
    "half of a pair": ("json", b'{"s":"a\\ud800"}'),
    "half of a pair in a key": ("json", b'{"s\\ud800":"a"}'),
    "a pair": ("json", b'{"s":"\\ud834\\udd1e"}'),
    "an object in a STRING": ("json", b'{"s": {"a" : [1.50, "\\u00e4"]}}'),
    "an array in a STRING": ("json", b'{"s":[1e5,{}]}'),
    "two objects in a line": ("json", b'{"s":"a"} {"s":"b"}'),
    "an object and more": ("json", b'{"s":"a"}x\n{"s":"b"}'),
    "quotes of one stroke": ("json", b"{'s':'a\"'}"),
    "no number": ("json", b'{"s":+INF,"x":NaN}'),
    "a mark of the encoding in a line": ("json", b'{"s":"a"}\n\xef\xbb\xbf{"s":"b"}'),
    "an open quote": ("csv", b'1,"a'),
    "an open quote over a delimiter": ("csv", b'1,"a,b'),
    "a quote alone": ("csv", b'1,"'),
    "a quote escaped by a backslash": ("csv", b'1,"a\\"b"'),
    "a quote within quotes": ("csv", b'1,"a"b"'),
    "a quote within": ("csv", b'1,a"b'),
    "blanks behind a quote": ("csv", b'1,"a"  \n2,"b"\t'),
    "fewer fields": ("csv", b"1"),
    "more fields": ("csv", b"1,a,b"),
    "deep": ("json", b'{"x":' + b'{"x":[' * 2000 + b"]}" * 2000 + b',"s":"a"}'),
    "long": ("json", b'{"s":"' + b"a" * 20_000_100 + b'"}'),
    "a long number": ("json", b'{"s":"a","x":1' + b"0" * 2000 + b"}"),
}


@pytest.mark.parametrize("kind", _FOUND)
def test_what_was_found(reading: SparkSession, tmp_path: Path, kind: str) -> None:
    form, data = _FOUND[kind]
    columns: dict[str, LogicalType] = {"s": STRING} if form == "json" else {"n": INT, "s": STRING}
    same, told = compared(reading, tmp_path / "in", data, f"a.{form}", columns, None)
    assert same, told[:2000]


_TIMES = (
    *("10:00:00", "T10", "1:2", " 10:0:0.5 ", "10:00:00+05:00", "10:00:00 America/New_York", "10", "10:", "25:00"),
    *("2024-01-01 00:00:00Z", "2024-01-01 00:00:00+02:00", "2024-01-01 10:", "-0001-01-01", "+12345-01-01 00:00:00"),
)


@pytest.mark.parametrize("text", _TIMES)
@pytest.mark.parametrize("kind", ["TIMESTAMP", "rowtime", "TIMESTAMP_LTZ"])
@pytest.mark.parametrize("form", ["json", "csv"])
def test_times(reading: SparkSession, tmp_path: Path, text: str, kind: str, form: str) -> None:
    line = f'{{"id":1,"w":"{text}"}}' if form == "json" else f"1,{text}"
    columns: dict[str, LogicalType] = {"id": BIGINT, "w": TIMESTAMP_LTZ3 if kind == "TIMESTAMP_LTZ" else TIMESTAMP3}
    rowtime = "w" if kind == "rowtime" else None
    for attempt in ("in", "again"):  # midnight may come between the two readers, once
        same, told = compared(reading, tmp_path / attempt, line.encode(), f"a.{form}", columns, rowtime)
        if same:
            break
    assert same, told


@pytest.mark.parametrize("form", ["json", "csv"])
def test_packed(reading: SparkSession, tmp_path: Path, form: str) -> None:
    """A packed file that is cut off anywhere, or has another byte, is refused by both; an empty one has no rows."""
    chance = random.Random(SEED)
    whole = gzip.compress("\n".join(LINES[form] * 200).encode())
    packed = [whole, b"", whole[:-4], whole + whole, *(whole[: chance.randrange(1, len(whole))] for _ in range(6))]
    for number, data in enumerate(packed):
        same, told = compared(reading, tmp_path / str(number), data, f"a.{form}.gz", COLUMNS, None)
        assert same, told[-300:]


def test_parquet(reading: SparkSession, tmp_path: Path) -> None:
    columns: dict[str, LogicalType] = {"id": BIGINT, "s": STRING, "d": DOUBLE}
    pq.write_table(
        pa.table({"id": range(50), "s": [f"k{i % 7}" for i in range(50)], "d": [i / 8 for i in range(50)]}),
        tmp_path / "whole.parquet",
        write_page_checksum=True,
        store_schema=False,  # which only Arrow reads
    )
    whole = (tmp_path / "whole.parquet").read_bytes()
    chance = random.Random(SEED)
    differ = []
    for number in range(FILES // 2):
        data = mutated(whole, chance)
        same, told = compared(reading, tmp_path / str(number), data, "a.parquet", columns, None)
        differ += [] if same else [told[-400:]]
    assert differ == []


@pytest.mark.parametrize("form", ["json", "csv"])
def test_where_errors_are_ignored_one_reader_reads(tmp_path: Path, form: str) -> None:
    """Spark's, whatever the size."""
    option = {f"{form}_ignore-parse-errors": "true"}
    assert READER.why_not(table_of(tmp_path, form, COLUMNS, **option))
