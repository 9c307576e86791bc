"""Format raw: numbers as bytes, and lines of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sqlext.connectors.formats.raw import raw_message, raw_value
from sqlext.types import BIGINT, BOOLEAN, INT, SMALLINT, TINYINT, LogicalType
from tests.workspace import Workspace

LITTLE = {"raw.endianness": "little-endian"}
VALUES: list[tuple[LogicalType, dict[str, str], object, str | None]] = [
    (TINYINT, {}, -2, "FE"),
    (SMALLINT, {}, 258, "0102"),
    (SMALLINT, LITTLE, -2, "FEFF"),
    (INT, {}, -(2**31), "80000000"),
    (INT, LITTLE, 1, "01000000"),
    (INT, {}, None, None),
    (BIGINT, {}, 2**63 - 1, "7FFFFFFFFFFFFFFF"),
    (BIGINT, {}, -1, "FFFFFFFFFFFFFFFF"),
    (BIGINT, LITTLE, -(2**63), "0000000000000080"),
    (BOOLEAN, {}, True, "01"),
    (BOOLEAN, {}, False, "00"),
    (BOOLEAN, {}, None, None),
]


def test_numbers_are_their_bytes(spark: SparkSession) -> None:
    """As Flink's RawFormat writes them."""
    for declared, options, value, digits in VALUES:
        literal = f"CAST({'NULL' if value is None else repr(str(value))} AS {declared.spark()})"
        written = f"SELECT {raw_message(declared, 'v', options)} AS m FROM (SELECT {literal} AS v)"
        found = spark.sql(f"SELECT hex(m), {raw_value(declared, 'm', options)} FROM ({written})").collect()
        assert tuple(found[0]) == (digits, value)


def test_bytes_of_another_length(spark: SparkSession) -> None:
    with pytest.raises(Exception, match=r"\[RUN-066\] format 'raw': INT has 4 bytes, not these: 0102"):
        spark.sql(f"SELECT {raw_value(INT, 'm', {})} FROM (SELECT X'0102' AS m)").collect()


def test_lines_of_files(spark: SparkSession, tmp_path: Path) -> None:
    """A line is a value as it stands, an empty one too; a carriage return before its end is none of it."""
    work = Workspace(spark, tmp_path)
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "a.txt").write_bytes(b'{"a": 1}\r\n\n  b\rc, "d"\n')
    tables = f"""
    CREATE TABLE t (line STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/lines', 'format' = 'raw');
    CREATE TABLE o (line BYTES, day INT) PARTITIONED BY (day) WITH (
      'connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'raw');
    """
    lines = ["", '  b\rc, "d"', '{"a": 1}']
    assert sorted(r[0] for r in work.run(tables, "SELECT * FROM t;")[-1].rows) == lines
    work.run("INSERT INTO o SELECT CAST(line AS BYTES), 7 FROM t WHERE line <> '';")
    (part,) = (tmp_path / "out" / "day=7").glob("part-*")
    assert sorted(part.read_bytes().splitlines()) == sorted(b'  b\rc, "d"\n{"a": 1}\n'.splitlines())
    assert sorted(bytes(r[0]) for r in work.run("SELECT * FROM o;")[-1].rows) == [b'  b\rc, "d"', b'{"a": 1}']
