"""A query goes on by the reader that it began with, and takes each file once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka import Producer
from kafka_broker import fetch_spark_connector, make_topic
from pyspark.sql import SparkSession

from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

TOPIC = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
"""
_CATCH_UP = "SET 'sqlext.bounded' = 'catch-up'; SET 'sqlext.source' = '{source}'; SET 'pipeline.name' = 'q';"


def _explained(workspace: Workspace, source: str) -> set[str]:
    """Run the query once more; return which of the files beside its checkpoint say who read its table."""
    workspace.run(_CATCH_UP.format(source=source), EVENTS, COUNTS, WINDOWED)
    (home,) = (workspace.folder / "catalog" / "queries").iterdir()
    return {p.name for p in (home / "sources").iterdir()} if (home / "sources").exists() else set()


def test_a_query_of_spark_s_source_stays_one(workspace: Workspace) -> None:
    """Spark's source has left its own offsets in the checkpoint."""
    workspace.put("a.csv", "a,1,1", "a,2,15")
    assert _explained(workspace, "spark") == set()
    workspace.put("b.csv", "a,3,40")
    assert _explained(workspace, "arrow") == set()
    assert [(n, s) for _, _, n, s in workspace.delta()] == [("1", "1"), ("1", "2")]


def test_arrow_takes_each_file_once(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,15")
    assert _explained(workspace, "arrow") == {"sqlext_events"}
    workspace.put("b.csv", "a,3,2", "a,4,40")  # the first row is late
    assert _explained(workspace, "auto") == {"sqlext_events"}
    assert [(n, s) for _, _, n, s in workspace.delta()] == [("1", "1"), ("1", "2")]


def test_a_join_whose_sides_are_read_once_goes_on(workspace: Workspace) -> None:
    """What was read before the restart is joined with what comes after it, from either side."""
    pairs = "CREATE TABLE pairs (x INT, y INT) WITH ('connector' = 'delta', 'path' = '${OUT}/pairs');"
    insert = "INSERT INTO pairs SELECT a.v, b.v FROM events AS a JOIN events AS b ON a.k = b.k AND b.v = a.v + 1;"
    for source, rows in (("arrow", ("a,2,1", "a,3,2", "b,4,2")), ("auto", ("a,4,3", "a,1,4")), ("spark", ("b,5,5",))):
        workspace.put(f"{source}.csv", *rows)
        workspace.run(_CATCH_UP.format(source=source), EVENTS, pairs, insert)
        assert _own_reader(workspace)
    assert workspace.delta("pairs") == [("1", "2"), ("2", "3"), ("3", "4"), ("4", "5")]


def test_a_deletion_vector_of_spark_is_followed(workspace: Workspace) -> None:
    """The first table has one when the query begins, the other one gets one later: that commit is passed over."""
    table = f"delta.`{workspace.folder}/src`"
    spark = workspace.spark
    spark.sql(
        f"CREATE TABLE {table} (k STRING, v INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ 'k' || id % 5, 1 FROM range(5000)")
    spark.sql(f"DELETE FROM {table} WHERE k = 'k0'")
    source = (
        "CREATE TABLE src (k STRING, v INT) WITH ('connector' = 'delta', 'path' = "
        f"'{workspace.folder}/src', 'skipChangeCommits' = 'true');"
    )
    sums = (
        "CREATE TABLE sums (k STRING, s BIGINT, PRIMARY KEY (k) NOT ENFORCED) "
        "WITH ('connector' = 'delta', 'path' = '${OUT}/sums');"
    )
    insert = "INSERT INTO sums SELECT k, SUM(v) FROM src GROUP BY k;"
    workspace.run(_CATCH_UP.format(source="arrow"), source, sums, insert)
    assert workspace.delta("sums") == [(f"k{i}", "1000") for i in range(1, 5)]
    spark.sql(f"DELETE FROM {table} WHERE k = 'k1'")
    spark.sql(f"INSERT INTO {table} VALUES ('k2', 1)")
    workspace.run(_CATCH_UP.format(source="auto"), source, sums, insert)
    assert _own_reader(workspace)
    assert workspace.delta("sums") == [("k1", "1000"), ("k2", "1001"), ("k3", "1000"), ("k4", "1000")]


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.parametrize("first", ["spark", "auto"])
def test_a_topic_s_query_stays_with_its_reader(spark: SparkSession, broker: str, tmp_path: Path, first: str) -> None:
    """Whoever began has left its offsets in the checkpoint, and the other one is wanted then."""
    session = spark.newSession()
    for jar in fetch_spark_connector():
        session.sql(f"ADD JAR '{jar}'")
    workspace = Workspace(session, tmp_path)
    topic = make_topic(broker, f"restart-{first}", 1)
    script = (TOPIC.format(topic=topic, broker=broker), COUNTS, WINDOWED)
    _send(broker, topic, ("a", 1, 1), ("a", 2, 15))
    workspace.run(_CATCH_UP.format(source=first), *script)
    assert _own_reader(workspace) == (first == "auto")
    _send(broker, topic, ("a", 3, 40))
    workspace.run(_CATCH_UP.format(source={"spark": "auto", "auto": "spark"}[first]), *script)
    assert _own_reader(workspace) == (first == "auto")
    assert [(n, s) for _, _, n, s in workspace.delta()] == [("1", "1"), ("1", "2")]


def _own_reader(workspace: Workspace) -> bool:
    """Whether the run that is under way was begun by a reader of ours."""
    (run,) = (workspace.folder / "catalog" / "queries").glob("*/run.json")
    return any(part.startswith("reader of ") for part in json.loads(run.read_text())["fingerprint"])


def _send(broker: str, topic: str, *rows: tuple[str, int, int]) -> None:
    producer = Producer({"bootstrap.servers": broker})
    for k, v, second in rows:
        producer.produce(topic, json.dumps({"k": k, "v": v, "ts": f"2024-01-01 00:00:{second:02d}"}))
    assert producer.flush(30) == 0
