"""SQL of others on a real Spark: what it would reach, and how much it may take."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sqlext
from sqlext import Restrictions, SqlExtError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.json").write_text('{"k": "a"}\n{"k": "b"}\n{"k": "c"}\n')
    return folder


def test_what_others_reach(spark: SparkSession, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLEXT_TEST_SECRET", "hunter2")
    session = sqlext.connect(spark, data.parent / "catalog", restricted=Restrictions(paths=(str(data),), rows=2))
    table = f"CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = '{data}', 'format' = 'json'"
    session.run(f"{table}); {table.replace('TABLE t', 'TABLE s')}, 'scan.mode' = 'snapshot');")
    for text in ("SELECT k FROM {} LIMIT 2", "SELECT k FROM {} WHERE k < 'c'"):
        assert len(session.sql(text.format("s")).rows) == 2
    assert session.sql("SELECT k, '${env:SQLEXT_TEST_SECRET}' AS x FROM s LIMIT 1").rows[0][1].startswith("$")
    for file in ("csv.`/etc/passwd`", f"json.`{data}`"):
        with pytest.raises(SqlExtError, match="there is no"):
            session.sql(f"SELECT s.k FROM s JOIN {file} AS f ON true")
    with pytest.raises(SqlExtError) as refused:
        session.sql("SELECT k FROM s WHERE k = reflect('java.lang.System', 'getenv', 'HOME')")
    assert refused.value.code == "RESTRICT-007"
    for table in ("t", "s"):
        with pytest.raises(SqlExtError) as many:
            session.sql(f"SELECT k FROM {table}")
        assert many.value.code == "RESTRICT-009"


def test_state_that_takes_too_much(spark: SparkSession, data: Path) -> None:
    session = sqlext.connect(spark, data.parent / "catalog", restricted=Restrictions(state_bytes=1))
    script = """CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
    WITH ('connector' = 'datagen', 'rows-per-second' = '5');
    CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole');
    INSERT INTO gone SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
    GROUP BY window_start, window_end;"""
    query = session.run(script)[-1].query
    assert query is not None
    with pytest.raises(SqlExtError) as large:
        query.await_termination(120)
    assert (large.value.code, large.value.line) == ("RESTRICT-010", 4)


def test_a_query_that_runs_too_long(spark: SparkSession, data: Path) -> None:
    session = sqlext.connect(spark, data.parent / "catalog", restricted=Restrictions(seconds=1))
    script = """CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1');
    CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole');
    INSERT INTO gone SELECT n FROM ticks;"""
    query = session.run(script)[-1].query
    assert query is not None
    with pytest.raises(SqlExtError) as late:
        query.await_termination(120)
    assert (late.value.code, late.value.line) == ("RESTRICT-008", 3)
    assert query.progress["status"] == "failed"


def test_a_query_of_the_owners_stays_as_it_is(spark: SparkSession, data: Path) -> None:
    """Its sink and its dead letters may be used, what it reads may not: nobody gives it rows, or another version."""
    outside = data.parent / "outside"
    outside.mkdir()
    (outside / "a.json").write_text('{"k": "x"}\n{"k": "1"}\n')
    owner = sqlext.connect(spark, data.parent / "catalog")
    script = f"""CREATE TABLE own (k STRING) WITH ('connector' = 'filesystem', 'path' = '{outside}', 'format' = 'json');
    CREATE TABLE other (k STRING) WITH ('connector' = 'filesystem', 'path' = '{data}', 'format' = 'json');
    CREATE TABLE letters (letter STRING, query_name STRING, cause STRING, source STRING, text STRING)
    WITH ('connector' = 'delta', 'path' = '{data}/letters');
    CREATE TABLE s (k INT) WITH ('connector' = 'delta', 'path' = '{data}/s');
    SET 'sqlext.dead-letters.table' = 'letters'; SET 'sqlext.bounded' = 'catch-up';
    INSERT INTO s SELECT CAST(k AS INT) FROM own;"""
    owner.run(script)
    session = sqlext.connect(spark, data.parent / "catalog", restricted=Restrictions(paths=(str(data),)))
    attempts = (
        lambda: session.run("REPLAY letters SET k = '666';"),
        lambda: session.deploy("SET 'sqlext.bounded' = 'catch-up'; INSERT INTO s SELECT LENGTH(k) FROM other;"),
        lambda: session.run("DROP QUERY `sql.s`;"),
    )
    for attempt in attempts:
        with pytest.raises(SqlExtError) as refused:
            attempt()
        assert refused.value.code == "RESTRICT-002"
    owner.run(script)
    assert [tuple(row) for row in spark.read.format("delta").load(f"{data}/s").collect()] == [(1,)]
    (replayed,) = owner.run("REPLAY letters SET k = '2';")[-1].rows
    assert replayed[3] == 1
