"""CREATE TABLE: Flink's rules, each asked of Flink 2.3.0."""

from __future__ import annotations

import pytest

from sqlext.types import INT, STRING, TIMESTAMP3, TIMESTAMP_LTZ3
from sqlext_catalog.model import Column, PrimaryKey, Table, Watermark

from .conftest import Definitions

WITH = " WITH ('connector' = 'x')"


def test_columns_are_kept_as_written_and_computed_ones_get_a_type(flink: Definitions) -> None:
    flink.run(
        "CREATE TABLE t (a INT COMMENT 'c', b AS  a +1, m STRING METADATA FROM 'k' VIRTUAL, n STRING METADATA, "
        "p AS PROCTIME(), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, "
        "CONSTRAINT pk PRIMARY KEY (a) NOT ENFORCED) COMMENT 'x' PARTITIONED BY (a) WITH ('connector' = 'x')"
    )
    table = flink.table("t")
    assert table.columns == (
        Column("a", INT.not_null(), comment="c"),
        Column("b", INT.not_null(), "computed", "a +1"),
        Column("m", STRING, "metadata", metadata_key="k", virtual=True),
        Column("n", STRING, "metadata", metadata_key="n"),
        Column("p", TIMESTAMP_LTZ3.not_null(), "computed", "PROCTIME()"),
        Column("ts", TIMESTAMP3),
    )
    assert table.watermark == Watermark("ts", "ts - INTERVAL '5' SECOND")
    assert table.primary_key == PrimaryKey("pk", ("a",))
    assert (table.partitioned_by, table.comment, table.expressions) == (("a",), "x", "flink")
    assert table.proctime_columns == ("p",)


@pytest.mark.parametrize(
    ("elements", "code", "at"),
    [
        ("a INT, a STRING", "DDL-001", "a STRING"),
        ("a INT, PRIMARY KEY (b) NOT ENFORCED", "DDL-002", "PRIMARY"),
        ("a INT, PRIMARY KEY (a, a) NOT ENFORCED", "DDL-002", "PRIMARY"),
        ("a INT PRIMARY KEY NOT ENFORCED, b INT PRIMARY KEY NOT ENFORCED", "DDL-003", "b INT"),
        ("a INT PRIMARY KEY NOT ENFORCED, b INT, PRIMARY KEY (b) NOT ENFORCED", "DDL-003", "PRIMARY KEY (b)"),
        ("a INT, b AS a + 1, PRIMARY KEY (b) NOT ENFORCED", "DDL-004", "PRIMARY"),
        ("a INT METADATA, PRIMARY KEY (a) NOT ENFORCED", "DDL-004", "PRIMARY"),
        ("a INT, b AS (SELECT 1)", "DDL-006", "(SELECT"),
        ("a INT, b AS zz + 1", "NAME-003", "zz"),
        ("a INT, b AS a + 1, c AS b * 2", "NAME-003", "b * 2"),
        ("a INT, b AS nosuch(a)", "FUNC-001", "nosuch"),
    ],
)
def test_refused_elements(flink: Definitions, elements: str, code: str, at: str) -> None:
    flink.refuse(f"CREATE TABLE t ({elements}){WITH}", code, at)


@pytest.mark.parametrize(
    ("elements", "code", "at"),
    [
        ("ts BIGINT, WATERMARK FOR ts AS ts - 5", "TIME-011", "WATERMARK"),
        ("ts DATE, WATERMARK FOR ts AS ts - INTERVAL '1' DAY", "TIME-011", "WATERMARK"),
        ("ts TIMESTAMP(6), WATERMARK FOR ts AS ts", "TIME-011", "WATERMARK"),
        ("ts STRING, WATERMARK FOR ts AS ts", "TIME-011", "WATERMARK"),
        ("m ROW<ts TIMESTAMP(3)>, WATERMARK FOR m.ts AS m.ts", "TIME-010", "WATERMARK"),
        ("ts TIMESTAMP(3), WATERMARK FOR tz AS tz", "TIME-010", "WATERMARK"),
        ("p AS PROCTIME(), WATERMARK FOR p AS p", "TIME-013", "WATERMARK"),
        ("a TIMESTAMP(3), b TIMESTAMP(3), WATERMARK FOR a AS a, WATERMARK FOR b AS b", "TIME-012", "WATERMARK FOR b"),
        ("a TIMESTAMP(3), k STRING, WATERMARK FOR a AS UPPER(k)", "TIME-014", "UPPER"),
        ("a TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR a AS (p)", "TIME-014", "(p)"),
        ("a TIMESTAMP_LTZ(3), b TIMESTAMP(3), WATERMARK FOR a AS (b)", "TIME-014", "(b)"),
        ("a TIMESTAMP(3), b TIMESTAMP(6), WATERMARK FOR a AS (b)", "TIME-014", "(b)"),
        ("a TIMESTAMP(3), WATERMARK FOR a AS zz - INTERVAL '1' SECOND", "NAME-003", "zz"),
        ("a TIMESTAMP(3), WATERMARK FOR a AS (SELECT a)", "DDL-006", "(SELECT"),
    ],
)
def test_refused_watermarks(flink: Definitions, elements: str, code: str, at: str) -> None:
    flink.refuse(f"CREATE TABLE t ({elements}){WITH}", code, at)


@pytest.mark.parametrize(
    "elements",
    [
        "ts TIMESTAMP(0), WATERMARK FOR ts AS ts",
        "ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE - INTERVAL '5' SECOND",
        "ts TIMESTAMP(3) METADATA, WATERMARK FOR ts AS ts",
        "s STRING, ts AS TO_TIMESTAMP(s), WATERMARK FOR ts AS ts + INTERVAL '1' SECOND",
        "a TIMESTAMP(3), ts AS a, WATERMARK FOR ts AS ts",
        "ts TIMESTAMP(3), b AS ts - INTERVAL '1' SECOND, WATERMARK FOR ts AS b",
        "ts TIMESTAMP(3), WATERMARK FOR ts AS SOURCE_WATERMARK()",
        "m ROW<at TIMESTAMP(3)>, ts AS m.at, WATERMARK FOR ts AS ts",
    ],
)
def test_accepted_watermarks(flink: Definitions, elements: str) -> None:
    flink.run(f"CREATE TABLE t ({elements}){WITH}")
    mark = flink.table("t").watermark
    assert mark is not None
    assert mark.column == "ts"


def test_a_function_of_spark_gives_microseconds_and_can_carry_a_watermark(spark: Definitions) -> None:
    spark.run(f"CREATE TABLE t (s STRING, ts AS to_timestamp(s), WATERMARK FOR ts AS ts - INTERVAL 5 SECONDS){WITH}")
    assert spark.table("t").expressions == "spark"


def test_a_partition_must_be_a_physical_column(flink: Definitions) -> None:
    flink.refuse("CREATE TABLE t (a INT) PARTITIONED BY (b) WITH ('connector' = 'x')", "DDL-005")
    flink.refuse("CREATE TABLE t (a INT, b AS a) PARTITIONED BY (b) WITH ('connector' = 'x')", "DDL-005")


def test_nothing_is_asked_of_the_connector(flink: Definitions) -> None:
    flink.run("CREATE TABLE t (a INT) WITH ('connector' = 'nosuch', 'x' = '2', 'x' = '2')")
    assert flink.table("t").options == (("connector", "nosuch"), ("x", "2"))


def test_secrets_are_not_stored(flink: Definitions) -> None:
    options = "WITH ('connector' = 'x', 'password' = 'hunter2')"
    flink.run(f"CREATE TABLE t (a INT) {options}; CREATE TEMPORARY TABLE v (a INT) {options};")
    flink.run("CREATE TABLE s (a INT) WITH ('connector' = 'x', 'password' = 'env:PW'); CREATE TABLE u LIKE t;")
    assert [flink.table(name).option("password") for name in "tvsu"] == ["hunter2", "hunter2", "env:PW", "hunter2"]
    stored = flink.catalog.at_version(flink.catalog.snapshot().version)
    shown = [dict(table.options)["password"] for table in stored.relations() if isinstance(table, Table)]
    assert shown == ["env:PW", "******", "******"]  # s, t, u
