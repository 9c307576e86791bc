"""A new version of a query over Kafka, or another reader, goes on where the old one is; in one process."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Producer
from kafka_broker import fetch_spark_connector, make_topic
from pyspark.sql import SparkSession

from tests.workspace import Workspace

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

SCRIPT = """SET 'sqlext.bounded' = 'catch-up'; SET 'pipeline.name' = 'q'; SET 'sqlext.source' = '{reader}';
CREATE TABLE events (k STRING, v INT) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'value.format' = 'json',
  'properties.bootstrap.servers' = '{broker}', 'scan.startup.mode' = 'earliest-offset'{bounded});
CREATE TABLE counts (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/counts');
INSERT INTO counts SELECT k, CAST(SUM(v) AS BIGINT) FROM events {where} GROUP BY k;
"""
BOUNDED = ", 'scan.bounded.mode' = 'latest-offset'"


@pytest.fixture
def workspace(spark: SparkSession, tmp_path: Path) -> Workspace:
    session = spark.newSession()
    for jar in fetch_spark_connector():
        session.sql(f"ADD JAR '{jar}'")
    return Workspace(session, tmp_path)


def send(broker: str, topic: str, *rows: tuple[str, int]) -> None:
    producer = Producer({"bootstrap.servers": broker})
    for key, value in rows:
        producer.produce(topic, f'{{"k":"{key}","v":{value}}}', key=key)
    assert producer.flush(30) == 0


@pytest.mark.parametrize("reader", ["spark", "arrow"])
def test_a_query_that_catches_up(workspace: Workspace, broker: str, reader: str) -> None:
    topic = make_topic(broker, f"deploy-{reader}", 2)
    old, new = (
        SCRIPT.format(reader=reader, topic=topic, broker=broker, bounded=BOUNDED, where=where)
        for where in ("", "WHERE v > 1")
    )
    send(broker, topic, ("a", 1), ("b", 2), ("b", 3))
    session = workspace.session()
    workspace.run(old, session=session)
    assert workspace.delta() == [("a", "1"), ("b", "5")]
    # They are not in what the old version has read.
    send(broker, topic, ("a", 7), ("c", 1))
    (found,) = session.deploy(new, workspace.variables, allow_differences="1").queries
    assert (found.outcome, workspace.delta()) == ("switched", [("b", "5")])
    workspace.run(new, session=session)
    assert workspace.delta() == [("a", "7"), ("b", "5")]
    session.roll_back(new, workspace.variables)
    workspace.run(old, session=session)
    assert workspace.delta() == [("a", "8"), ("b", "5"), ("c", "1")]


@pytest.mark.parametrize("reader", ["spark", "arrow"])
def test_rows_of_a_database_stay(workspace: Workspace, broker: str, reader: str) -> None:
    """The state is filled from the topic; a row of the database has its new value when its key is met next."""
    topic, file = make_topic(broker, f"keep-{reader}", 2), workspace.folder / "x.db"
    sink = f"'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{file}', 'table-name' = 'counts'"
    text = SCRIPT.replace("'connector' = 'delta', 'path' = '${{OUT}}/counts'", sink)
    old, new = (
        text.format(reader=reader, topic=topic, broker=broker, bounded=BOUNDED, where=where)
        for where in ("", "WHERE v > 1")
    )
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE counts (k TEXT PRIMARY KEY, n BIGINT)")

        def rows() -> list[tuple[str, int]]:
            return sorted(database.execute("SELECT k, n FROM counts").fetchall())

        send(broker, topic, ("a", 1), ("b", 2), ("b", 3))
        session = workspace.session()
        workspace.run(old, session=session)
        assert rows() == [("a", 1), ("b", 5)]
        send(broker, topic, ("a", 7), ("b", 1))
        (found,) = session.deploy(new, workspace.variables, keep_rows=True).queries
        assert (found.outcome, rows()) == ("switched", [("a", 1), ("b", 5)])
        send(broker, topic, ("c", 4))
        workspace.run(new, session=session)
        assert rows() == [("a", 7), ("b", 5), ("c", 4)]
        send(broker, topic, ("b", 2))
        workspace.run(new, session=session)
        assert rows() == [("a", 7), ("b", 7), ("c", 4)]


def test_another_reader(workspace: Workspace, broker: str) -> None:
    """It goes on from the offsets of each partition, with its groups."""
    topic = make_topic(broker, "other-reader", 2)
    for reader in ("spark", "arrow", "spark", "arrow"):
        send(broker, topic, ("a", 1), ("b", 2), ("a", 1))
        script = SCRIPT.format(reader=reader, topic=topic, broker=broker, bounded=BOUNDED, where="")
        workspace.run(script.replace("CAST(SUM(v) AS BIGINT)", "COUNT(DISTINCT v) + COUNT(*)"))
        (run,) = (workspace.folder / "catalog" / "queries").glob("*/run.json")
        assert ('"reader of events"' in run.read_text()) == (reader == "arrow")
    assert workspace.delta() == [("a", "9"), ("b", "5")]
