"""Topics of current rows, read, by a real broker: changes, restarts, versions; several partitions and formats."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path

import pytest
from confluent_kafka import Producer
from kafka_broker import fetch_spark_avro, fetch_spark_connector, make_topic
from pyspark.sql import SparkSession

from tests.workspace import Workspace

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

PRICES = """
CREATE TABLE prices (item STRING, price INT, PRIMARY KEY (item) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}',
  'scan.bounded.mode' = 'latest-offset', 'key.format' = '{key}', 'value.format' = '{value}'{more});
SET 'sqlext.bounded' = 'catch-up';
SET 'pipeline.name' = 'prices';
"""
BY_PRICE = """
CREATE TABLE by_price (price INT, items BIGINT, PRIMARY KEY (price) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/by_price');
INSERT INTO by_price SELECT price, COUNT(*) FROM prices GROUP BY price;
"""


def prices(broker: str, topic: str, key: str = "json", value: str = "json", more: str = "") -> str:
    return PRICES.format(broker=broker, topic=topic, key=key, value=value, more=more)


def send(
    broker: str,
    topic: str,
    records: Iterable[tuple[str | None, str | None]],
    partitions: int = 1,
    at: dt.datetime | None = None,
) -> None:
    """Send records (key, value), each key to a partition of its own choice."""
    producer, stamp = Producer({"bootstrap.servers": broker}), int(at.timestamp() * 1000) if at is not None else 0
    for key, value in records:
        partition = sum((key or "").encode()) % partitions
        producer.produce(topic, value, key=key, partition=partition, timestamp=stamp)
    assert producer.flush(30) == 0


def record(item: str, price: int | None) -> tuple[str, str | None]:
    """Return a record of JSON; without a price the item is gone."""
    key = f'{{"item": "{item}"}}'
    return key, None if price is None else f'{{"item": "{item}", "price": {price}}}'


@pytest.fixture
def connected(spark: SparkSession, tmp_path: Path) -> Workspace:
    session = spark.newSession()
    for jar in (*fetch_spark_connector(), *fetch_spark_avro()):
        session.sql(f"ADD JAR '{jar}'")
    return Workspace(session, tmp_path)


def test_changes_across_restarts(workspace: Workspace, broker: str) -> None:
    """What is taken back after a restart is what was there before; a tombstone takes a row away."""
    topic = make_topic(broker, "prices", 3)
    script = (prices(broker, topic), BY_PRICE)
    nothing = ("{}", None)
    send(broker, topic, [record("a", 1), record("b", 1), record("c", 2), record("a", 2), record("x", None)], 3)
    workspace.run(*script)
    assert workspace.delta("by_price") == [("1", "1"), ("2", "2")]
    send(broker, topic, [record("a", 2), record("b", 3), record("c", None), (None, '{"item": "n"}'), nothing], 3)
    workspace.run(*script)
    assert workspace.delta("by_price") == [("2", "1"), ("3", "1")]
    send(broker, topic, [record("b", None), record("a", None), record("b", 3)], 3)
    workspace.run(*script)
    assert workspace.delta("by_price") == [("3", "1")]


def test_rows_by_key(workspace: Workspace, broker: str) -> None:
    """The rows themselves reach a sink by key, and a SELECT."""
    topic = make_topic(broker, "prices-rows", 1)
    send(broker, topic, [record("a", 1), record("b", 1), record("a", 2), record("c", 5)])
    sink = """
    CREATE TABLE kept (item STRING, price INT, PRIMARY KEY (item) NOT ENFORCED)
    WITH ('connector' = 'delta', 'path' = '${OUT}/kept');
    INSERT INTO kept SELECT * FROM prices WHERE price < 5;
    """
    workspace.run(prices(broker, topic), sink)
    assert workspace.delta("kept") == [("a", "2"), ("b", "1")]
    send(broker, topic, [record("a", 7), record("b", None), record("c", 4)])
    workspace.run(prices(broker, topic), sink)
    assert workspace.delta("kept") == [("c", "4")]
    assert sorted(workspace.run(prices(broker, topic), "SELECT * FROM prices;")[-1].rows) == [("a", 7), ("c", 4)]


def test_joins(workspace: Workspace, broker: str) -> None:
    """A regular join meets the row that is there, a temporal one the version of its time: after a tombstone none."""
    topic = make_topic(broker, "prices-versions", 1)
    start = dt.datetime.now(dt.timezone.utc).replace(microsecond=0) - dt.timedelta(hours=1)  # Kafka forgets old records
    for second, item, price in ((1, "a", 10), (5, "a", 20), (8, "a", None), (60, "b", 7)):
        send(broker, topic, [record(item, price)], at=start + dt.timedelta(seconds=second))
    rows = """
    CREATE TABLE orders (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
    ALTER TABLE prices ADD (changed TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL, WATERMARK FOR changed AS changed);
    """
    orders = (("a", 1, 0), ("a", 2, 3), ("a", 3, 6), ("a", 4, 9), ("b", 5, 61))
    texts = (f"{k},{v},{start + dt.timedelta(seconds=s):%Y-%m-%d %H:%M:%S}" for k, v, s in orders)
    workspace.put("1.csv", *texts)
    regular = "SELECT v, price FROM orders JOIN prices ON k = item;"
    versions = "SELECT v, price FROM orders LEFT JOIN prices FOR SYSTEM_TIME AS OF orders.ts ON k = item;"
    joined, versioned = (r for r in workspace.run(prices(broker, topic), rows, regular, versions) if r.rows)
    assert sorted(joined.rows) == [(5, 7)]
    assert sorted(versioned.rows) == [(1, None), (2, 10), (3, 20), (4, None), (5, 7)]


@pytest.mark.parametrize(
    ("key", "value", "more"),
    [
        ("raw", "csv", ", 'value.fields-include' = 'EXCEPT_KEY'"),
        ("csv", "json", ", 'value.json.fail-on-missing-field' = 'true'"),
        ("avro", "avro", ""),
    ],
)
def test_formats(connected: Workspace, broker: str, key: str, value: str, more: str) -> None:
    """What the sink writes, tombstones included, the source reads."""
    topic = make_topic(broker, f"prices-{key}", 1)
    table = prices(broker, topic, key, value, more)
    told = """
    CREATE TABLE told (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
    INSERT INTO prices SELECT k, MAX(v) FROM told GROUP BY k HAVING COUNT(*) < 3;
    """
    for name, rows in (("1.csv", ("a,1", "b,2")), ("2.csv", ("a,3", "b,4", "b,5"))):
        connected.put(name, *rows)
        connected.run(table, told)
    assert connected.run(table, "SELECT * FROM prices;")[-1].rows == [("a", 3)]


def test_bad_records(workspace: Workspace, broker: str) -> None:
    """A record that cannot be decoded leaves the row of its key as it was."""
    topic = make_topic(broker, "prices-bad", 1)
    bad = ('{"item": "a"}', '{"item": "a", "price": "x"}')
    send(broker, topic, [record("a", 1), bad, record("b", 2), ("{", None), record("b", None)])
    result = workspace.run(prices(broker, topic, more=", 'sqlext.bad-rows' = 'drop'"), "SELECT * FROM prices;")[-1]
    assert result.rows == [("a", 1)]
    assert result.query.progress["rows_bad"] == 2
