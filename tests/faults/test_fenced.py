"""A driver from which a query was taken over writes nothing more, and the next one goes on: each row is there once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import udf

from sqlext import SqlExtError
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.jobs.checkpoint import QueryHome
from sqlext.session.notices import TakenOverNotice
from sqlext.sinks.base import Sink, SinkContext
from sqlext.sinks.opening import open_sink
from sqlext.types import BIGINT
from tests.workspace import COUNTS, WINDOWED, Workspace

EVENTS = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv', 'source.monitor-interval' = '1 s');
"""
SCRIPT = (EVENTS, COUNTS, WINDOWED)
ALL = [("a", "1", "1"), ("a", "2", "9"), ("b", "1", "3")]


def counts(workspace: Workspace) -> list[tuple[str, str, str]]:
    return [(k, n, s) for k, _, n, s in workspace.delta()]


def test_what_is_taken_away_fails(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    away = workspace.run(*SCRIPT)[-1].query
    away.process_available()
    assert counts(workspace) == ALL[:1]
    with QueryHome(workspace.folder / "catalog", "sql.counts", force=True) as home:
        assert home.taken_from is not None
        workspace.put("b.csv", "a,7,14", "a,1,40")
        with pytest.raises(SqlExtError, match="was taken over by process") as fenced:
            away.await_termination(120)
        assert (fenced.value.code, fenced.value.line) == ("RUN-029", 10)
        assert counts(workspace) == ALL[:1]
        home.fence.check()
    again = workspace.run(*SCRIPT)[-1].query
    again.process_available()
    again.stop()
    assert counts(workspace) == ALL


def test_a_setting_takes_over(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    away = workspace.run(*SCRIPT)[-1].query
    away.process_available()
    with pytest.warns(TakenOverNotice, match="is taken over from process"):
        result = workspace.run("SET 'sqlext.take-over' = 'true';", *SCRIPT)[-1]
    assert "is taken over from process" in result.notices[0]
    with pytest.raises(SqlExtError) as fenced:
        away.await_termination(120)
    assert fenced.value.code == "RUN-029"
    assert workspace.queries()["sql.counts"]["status"] == "running"
    workspace.put("b.csv", "a,7,14", "a,1,40")
    result.query.process_available()
    result.query.stop()
    assert workspace.queries()["sql.counts"]["status"] == "stopped"
    assert counts(workspace) == ALL


# One sink, two drivers


class Amid:
    """Rows that are computed when the test says so, within one job of Spark."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        begun, go = str(folder / "begun"), str(folder / "go")
        for pipe in (begun, go):
            os.mkfifo(pipe)

        def waited(n: int) -> int:
            with open(begun, "w"), open(go):  # noqa: PTH123 - runs in a worker
                return n

        self.rows: DataFrame = spark.range(1, 2, numPartitions=1).selectExpr("id AS n").select(udf(waited, "long")("n"))
        self.rows = self.rows.toDF("n")
        self._begun, self._go = Path(begun), Path(go)

    def wait(self) -> None:
        """Return when they are being computed."""
        with self._begun.open():
            pass

    def go_on(self) -> None:
        """Let them be computed to the end."""
        with self._go.open("w"):
            pass


def opened(spark: SparkSession, home: QueryHome, connector: str, place: Path) -> Sink:
    text = "csv" if connector == "filesystem" else None
    spec = WriteSpec(connector, (WriteColumn("n", BIGINT),), "snk", format=text, path=str(place))
    return open_sink(spark, spec, SinkContext("q", "1", fence=home.fence))


def written(spark: SparkSession, connector: str, place: Path) -> list[int]:
    kind = "csv" if connector == "filesystem" else "delta"
    return sorted(int(row[0]) for row in spark.read.format(kind).load(str(place)).collect())


@pytest.mark.parametrize("connector", ["delta", "filesystem"])
def test_a_driver_that_was_away_amid_a_commit(spark: SparkSession, tmp_path: Path, connector: str) -> None:
    """It has taken the batch, and goes on when another driver has written the same batch."""
    place = tmp_path / "out"
    away = QueryHome(tmp_path, "q")
    sink = opened(spark, away, connector, place)
    amid = Amid(spark, tmp_path)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(sink.write_new, amid.rows, 0)
        amid.wait()
        with QueryHome(tmp_path, "q", force=True) as home:
            other = opened(spark, home, connector, place)
            other.write(spark.range(1, 2, numPartitions=1).toDF("n"), 0)
            amid.go_on()
            with pytest.raises(Exception, match=r"MetadataChanged|was taken over|FileNotFound"):
                late.result()
            other.write_new(spark.range(2, 3, numPartitions=1).toDF("n"), 1)
            with pytest.raises(SqlExtError, match="was taken over"):
                sink.write_new(spark.range(9, 10).toDF("n"), 2)
            other.finish(spark)
    assert written(spark, connector, place) == [1, 2]
