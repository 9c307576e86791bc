"""LATE DATA TO: which tables can take late rows, and which queries can keep them."""

from __future__ import annotations

import pytest

from .conftest import Analysis

TABLES = """
CREATE TABLE late (ts TIMESTAMP(3), user_name STRING, `watermark` TIMESTAMP(3), operator STRING)
WITH ('connector' = 'delta', 'path' = '/late');
CREATE TABLE late_keyed (user_name STRING, PRIMARY KEY (user_name) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '/late_keyed');
CREATE TABLE late_other (user_name STRING, colour STRING) WITH ('connector' = 'blackhole');
CREATE TABLE late_types (user_name STRING, amount DATE) WITH ('connector' = 'blackhole');
CREATE TABLE late_zoned (k STRING, rt TIMESTAMP_LTZ(3), `watermark` TIMESTAMP_LTZ(3)) WITH ('connector' = 'blackhole');
CREATE TABLE late_country (user_name STRING) WITH ('connector' = 'blackhole');
CREATE TABLE unwritable (user_name STRING) WITH ('connector' = 'datagen');
CREATE VIEW a_view AS SELECT user_name FROM clicks;
"""
TUMBLE = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
HOP = "TABLE(HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))"


@pytest.fixture
def tables(flink: Analysis) -> Analysis:
    flink.run(TABLES)
    return flink


def windowed(table: str, source: str = TUMBLE, by: str = "user_name, window_start, window_end", where: str = "") -> str:
    select = f"SELECT window_start, COUNT(*) AS n FROM {source} {where} GROUP BY {by}"
    return f"{select} EMIT AFTER WATERMARK LATE DATA TO {table}"


def test_columns_are_found_by_name(tables: Analysis) -> None:
    compiled = tables.run(windowed("late"))
    assert compiled is not None
    (late,) = compiled.script.sides
    assert [name for _, name in late.outputs] == ["ts", "user_name", "watermark", "operator"]
    assert [t for t, _ in late.outputs][1:] == [
        "user_name",
        "CAST(__watermark AS TIMESTAMP_NTZ)",
        "__operator",
    ]
    assert compiled.script.query.startswith("SELECT CASE WHEN __late IS NULL")


def test_the_watermark_is_of_the_rowtimes_type(tables: Analysis) -> None:
    source = "TABLE(TUMBLE(TABLE instants, DESCRIPTOR(rt), INTERVAL '10' SECOND))"
    compiled = tables.run(windowed("late_zoned", source, "k, window_start, window_end"))
    assert compiled is not None
    (late,) = compiled.script.sides
    assert {n: t for t, n in late.outputs}["watermark"] == "__watermark"


@pytest.mark.parametrize(
    ("table", "code", "said"),
    [
        ("nowhere", "EMIT-114", "late table `nowhere` does not exist"),
        ("a_view", "EMIT-114", "late table `a_view` does not exist"),
        ("late_other", "EMIT-114", "late table `late_other` has a column `colour`, which the rows do not have"),
        ("late_types", "EMIT-114", "column `amount` of late table `late_types` is DATE, the rows' is INT"),
        ("unwritable", "OPT-", ""),
    ],
)
def test_tables_that_cannot_take_them(tables: Analysis, table: str, code: str, said: str) -> None:
    if code == "EMIT-114":
        assert tables.refuse(windowed(table), code, table).message == said
        return
    from sqlext.errors import SqlExtError

    with pytest.raises(SqlExtError) as caught:
        tables.run(windowed(table))
    assert caught.value.code.startswith(code)


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT window_start, SUM(n) FROM ({windowed('late')}) GROUP BY window_start",
        f"({windowed('late')}) UNION ALL ({windowed('late')})",
        f"SELECT DISTINCT n FROM ({windowed('late')})",
        f"SELECT x.n, u.country FROM ({windowed('late')}) AS x JOIN users AS u ON u.country = CAST(x.n AS STRING)",
        windowed("late", by="window_start, window_end, GROUPING SETS ((user_name), ())"),
        windowed("late", HOP, where="WHERE window_start IS NOT NULL"),
    ],
)
def test_queries_that_cannot_keep_them(tables: Analysis, query: str) -> None:
    tables.refuse(query, "EMIT-118")


@pytest.mark.parametrize("query", [windowed("late", HOP), f"SELECT n + 1 FROM ({windowed('late')}) WHERE n > 1"])
def test_queries_that_can(tables: Analysis, query: str) -> None:
    compiled = tables.run(query)
    assert compiled is not None
    assert [s.side for s in compiled.script.sides] == ["late"]


def test_a_name_of_two_relations(tables: Analysis) -> None:
    joined = f"{TUMBLE} AS w JOIN users AS u ON u.user_name = w.user_name"
    query = windowed("late_country", joined, "u.country, window_start, window_end")
    assert "which two relations have" in tables.refuse(query, "EMIT-114").message


def test_late_rows_need_a_window_or_once(tables: Analysis) -> None:
    grouped = "SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name EMIT {} LATE DATA TO late_keyed"
    tables.refuse(grouped.format("EVERY 3 ROWS"), "EMIT-104")
    assert tables.run(grouped.format("ONCE AFTER 3 ROWS")) is not None


def test_drop_late_data_is_the_default(tables: Analysis) -> None:
    said = tables.run(windowed("late").replace("LATE DATA TO late", "DROP LATE DATA"))
    default = tables.run(windowed("late").replace("LATE DATA TO late", ""))
    assert said is not None
    assert default is not None
    assert said.script == default.script
