"""'sqlext.dead-letters.table': what it takes of a query, and what it refuses."""

from __future__ import annotations

import pytest

from sqlext.plan.bad_rows import REFUSED
from sqlext.rewrite.script.model import SparkScript

from .conftest import Analysis

TABLES = """
CREATE TABLE letters (cause STRING, code STRING, query_name STRING, operator STRING, text STRING)
WITH ('connector' = 'delta', 'path' = '/letters');
CREATE TABLE other (cause STRING, colour STRING) WITH ('connector' = 'blackhole');
CREATE TABLE t (v INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH
('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE computed (s STRING, w AS CAST(s AS INT)) WITH
('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE kept (v INT) WITH
('connector' = 'filesystem', 'path' = '/in', 'format' = 'json', 'sqlext.bad-rows' = 'drop');
CREATE TABLE parquet (v INT) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'parquet');
"""
ON = "SET 'sqlext.dead-letters.table' = 'letters';"
TUMBLE = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
PER_WINDOW = f"SELECT window_start, COUNT(*) AS n FROM {TUMBLE} GROUP BY window_start, window_end"
HOPS = "(SELECT * FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)) WHERE v > 1)"


@pytest.fixture
def tables(flink: Analysis) -> Analysis:
    flink.run(TABLES + ON)
    return flink


def script(analysis: Analysis, select: str) -> SparkScript:
    compiled = analysis.run(select)
    assert compiled is not None
    return compiled.script


def test_late_rows_and_bad_ones_go_to_one_table(tables: Analysis) -> None:
    found = script(tables, PER_WINDOW)
    assert [(s.side, s.table.name.name, s.letters) for s in found.sides] == [
        ("late", "letters", True),
        ("bad", "letters", True),
    ]
    assert {name for _, name in found.sides[0].outputs} == {"cause", "code", "query_name", "operator", "text"}


def test_causes_choose(tables: Analysis) -> None:
    tables.run("SET 'sqlext.dead-letters.causes' = 'decode';")
    found = script(tables, PER_WINDOW)
    assert [s.side for s in found.sides] == ["bad"]


@pytest.mark.parametrize("table", ["kept", "parquet"])
def test_tables_that_say_something_else_or_cannot_judge(tables: Analysis, table: str) -> None:
    assert script(tables, f"SELECT v FROM {table}").sides == ()


@pytest.mark.parametrize(
    ("table", "said"),
    [("nowhere", "there is no table `nowhere`"), ("other", "has a column `colour`, which dead letters do not have")],
)
def test_tables_that_take_no_dead_letters(tables: Analysis, table: str, said: str) -> None:
    tables.run(f"SET 'sqlext.dead-letters.table' = '{table}';")
    error = tables.refuse("SELECT v FROM t", "OPT-038")
    assert said in error.message
    assert error.span is not None


@pytest.mark.parametrize(
    "select",
    [
        f"SELECT window_start, COUNT(*) FROM {HOPS} GROUP BY window_start, window_end",
        f"SELECT n, COUNT(*) FROM ({PER_WINDOW}) GROUP BY n",
    ],
)
def test_late_rows_that_could_not_be_kept_once_are_refused(tables: Analysis, select: str) -> None:
    error = tables.refuse(select, "EMIT-118")
    assert "sqlext.dead-letters.table" in error.message
    assert "SET 'sqlext.dead-letters.causes' = 'decode, expression'" in (error.hint or "")


@pytest.mark.parametrize(
    ("select", "said"),
    [
        (f"SELECT window_start, SUM(CAST(s AS INT)) FROM {TUMBLE} GROUP BY window_start, window_end", "CAST(s AS INT)"),
        (f"SELECT 1 / n FROM ({PER_WINDOW})", "1 / n"),
        ("SELECT a.v % b.v FROM t AS a JOIN t AS b ON a.ts = b.ts", "a.v % b.v"),
    ],
)
def test_rows_that_cannot_leave_the_query_are_refused(tables: Analysis, select: str, said: str) -> None:
    error = tables.refuse(select, "OPT-039")
    assert error.span is not None
    assert error.span.text == said
    tables.run("SET 'sqlext.dead-letters.causes' = 'decode'; RESET 'sqlext.dead-letters.table';")
    assert tables.run(select) is not None


def test_a_computed_column_that_can_fail_is_refused(tables: Analysis) -> None:
    error = tables.refuse("SELECT w FROM computed", "OPT-039")
    assert "`CAST(s AS INT)` fails in a computed column" in error.message
    assert error.span is not None


def test_through_views_each_step_says_which_rows_fail(tables: Analysis) -> None:
    found = script(tables, "SELECT 10 % w AS x FROM (SELECT CAST(s AS INT) AS w FROM t) WHERE w > 0")
    assert [(s.side, s.table.name.name, s.letters) for s in found.sides] == [("bad", "letters", True)]
    assert found.query.count("UNION ALL") == 1  # of the rows that cannot be decoded
    assert "TRY_CAST" in found.query
    assert "nullif(w, 0)" in found.query


@pytest.mark.parametrize(
    ("insert", "sides"),
    [
        ("INSERT INTO strict SELECT s, COUNT(*) FROM {} GROUP BY s, window_start, window_end", ["late", "bad"]),
        ("INSERT INTO loose SELECT s, COUNT(*) FROM {} GROUP BY s, window_start, window_end", ["late", "bad"]),
        (
            "INSERT INTO strict SELECT a.s, CAST(1 AS BIGINT) FROM t AS a JOIN t AS b ON a.ts = b.ts AND a.v = b.v",
            ["bad"],
        ),
    ],
)
def test_rows_of_other_queries_that_a_sink_refuses(tables: Analysis, insert: str, sides: list[str]) -> None:
    """Behind windows and joins too: no row that the sink does not take ends the query."""
    tables.run(
        "CREATE TABLE strict (s STRING NOT NULL, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '/o', "
        "'format' = 'json');"
        "CREATE TABLE loose (s STRING, n BIGINT) WITH ('connector' = 'blackhole');"
    )
    compiled = tables.run(insert.format(TUMBLE))
    assert compiled is not None
    found = compiled.script
    assert [s.side for s in found.sides] == sides
    assert "raise_error('[RUN-003]" not in found.query
    assert ("'RUN-003'" in found.query) == ("strict" in insert)
    assert [bool(s.refused_of) for s in found.sides] == [False] * (len(sides) - 1) + ["loose" not in insert]


def test_updates_that_a_sink_refuses(tables: Analysis) -> None:
    """Of rows that replace others the sink chooses the last; what is written at the end has no micro-batch."""
    tables.run(
        "SET 'sqlext.dead-letters.causes' = 'expression';"
        "CREATE TABLE keyed (v INT, s STRING NOT NULL, PRIMARY KEY (v) NOT ENFORCED) "
        "WITH ('connector' = 'delta', 'path' = '/o');"
        "CREATE TABLE shown (v INT, s STRING NOT NULL) WITH ('connector' = 'print');"
        "CREATE TABLE files (v INT, s STRING NOT NULL) WITH ('connector' = 'filesystem', 'path' = '/f', "
        "'format' = 'json');"
    )
    totals = "SELECT v, MAX(s) FROM t GROUP BY v"
    found = script(tables, f"INSERT INTO keyed {totals}")
    assert "raise_error('[RUN-003]" not in found.query
    assert REFUSED in found.query
    found = script(tables, f"INSERT INTO shown {totals}")
    assert "raise_error('[RUN-003]" not in found.query
    assert REFUSED not in found.query
    assert "CASE WHEN __exists THEN CASE WHEN __why IS NOT NULL" in found.query
    tables.run("SET 'sqlext.sink.updates' = 'final-state';")
    assert "raise_error('[RUN-003]" in script(tables, f"INSERT INTO files {totals}").query


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("cause STRING, place STRING NOT NULL", "a column `place` that is NOT NULL"),
        ("cause STRING, text STRING, PRIMARY KEY (cause) NOT ENFORCED", "the PRIMARY KEY cause"),
    ],
)
@pytest.mark.parametrize("enforcer", ["error", "drop"])
def test_tables_that_would_lose_some(tables: Analysis, columns: str, said: str, enforcer: str) -> None:
    tables.run(
        f"CREATE TABLE some ({columns}) WITH ('connector' = 'delta', 'path' = '/some');"
        "SET 'sqlext.dead-letters.table' = 'some';"
        f"SET 'table.exec.sink.not-null-enforcer' = '{enforcer}';"
    )
    assert said in tables.refuse("SELECT v FROM t", "OPT-038").message


def test_a_key_that_names_each_and_a_name_with_a_dot(tables: Analysis) -> None:
    tables.run(
        "CREATE TABLE `a.b` (letter STRING NOT NULL, cause STRING, PRIMARY KEY (letter) NOT ENFORCED) "
        "WITH ('connector' = 'delta', 'path' = '/some');"
        "SET 'sqlext.dead-letters.table' = 'default_database.`a.b`';"
    )
    assert [s.table.name.name for s in script(tables, "SELECT v FROM t").sides] == ["a.b"]


@pytest.mark.parametrize("name", ["letters", "same"])
def test_a_query_that_reads_its_dead_letters(tables: Analysis, name: str) -> None:
    """Each would come in again, and fail again; by another name of the table, too."""
    tables.run("CREATE TABLE same (text STRING) WITH ('connector' = 'delta', 'path' = '/letters');")
    tables.run("CREATE TABLE numbers (v INT) WITH ('connector' = 'print');")
    failing = f"INSERT INTO numbers SELECT CAST(text AS INT) FROM {name}"
    error = tables.refuse(failing, "OPT-038")
    assert "the query reads `letters`" in error.message
    assert error.span is not None
    tables.run("RESET 'sqlext.dead-letters.table';")
    assert script(tables, failing).sides == ()
