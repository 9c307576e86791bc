"""Current rows in a topic, by a real broker: updates, rows that are gone, and what a batch nets out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from kafka_broker import fetch_spark_connector, make_topic
from pyspark.sql import SparkSession

from tests.workspace import EVENTS, Workspace

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

TOTALS = """
CREATE TABLE totals (k STRING, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}',
  'key.format' = 'json', 'value.format' = 'json'{more});
SET 'sqlext.bounded' = 'catch-up';
SET 'pipeline.name' = 'totals';
"""
INSERT = "INSERT INTO totals SELECT k, COUNT(*), SUM(CAST(v AS BIGINT)) FROM events GROUP BY k HAVING COUNT(*) < 3;"
Record = tuple[object, object]


def records(broker: str, topic: str) -> list[Record]:
    """Return the records of the only partition of a topic: key and value, as JSON says them."""
    consumer = Consumer({"bootstrap.servers": broker, "group.id": topic, "enable.auto.commit": False})
    place = TopicPartition(topic, 0, 0)
    _, end = consumer.get_watermark_offsets(place, timeout=30)
    consumer.assign([place])
    found: list[Record] = []
    while len(found) < end:
        message = consumer.poll(30)
        assert message is not None
        assert message.error() is None
        found.append((_parsed(message.key()), _parsed(message.value())))
    consumer.close()
    return found


def _parsed(text: bytes | None) -> object:
    return None if text is None else json.loads(text)


def current(found: list[Record]) -> dict[str, object]:
    """Return what a compacted topic keeps, by key."""
    rows = {json.dumps(key): value for key, value in found}
    return {key: value for key, value in rows.items() if value is not None}


@pytest.fixture
def connected(spark: SparkSession, tmp_path: Path) -> Workspace:
    session = spark.newSession()
    for jar in fetch_spark_connector():
        session.sql(f"ADD JAR '{jar}'")
    return Workspace(session, tmp_path)


def test_rows_replace_each_other_and_go(connected: Workspace, broker: str) -> None:
    topic = make_topic(broker, "upserts", 1)
    script = (EVENTS, TOTALS.format(topic=topic, broker=broker, more=""), INSERT)
    connected.put("1.csv", "a,1,1", "a,2,2", "b,3,3")
    connected.run(*script)
    a, b, c = {"k": "a"}, {"k": "b"}, {"k": "c"}
    assert sorted(records(broker, topic), key=repr) == [(a, a | {"n": 2, "s": 3}), (b, b | {"n": 1, "s": 3})]
    connected.put("2.csv", "a,4,4", "c,5,5", "c,6,6")  # a is no group of less than three any more
    connected.run(*script)
    assert sorted(records(broker, topic)[2:], key=repr) == [(a, None), (c, c | {"n": 2, "s": 11})]
    assert current(records(broker, topic)) == {
        json.dumps(b): b | {"n": 1, "s": 3},
        json.dumps(c): c | {"n": 2, "s": 11},
    }


def test_a_changelog_by_another_key(connected: Workspace, broker: str) -> None:
    """Two rows of the query take turns under one key: the one that is left counts, not the one that goes."""
    topic = make_topic(broker, "upserts-netted", 1)
    more = ", 'value.fields-include' = 'EXCEPT_KEY'"
    top = "SELECT k, v, ROW_NUMBER() OVER (ORDER BY v DESC) AS n FROM events"
    insert = f"INSERT INTO totals SELECT 'first ' || CAST(n AS STRING), n, v FROM ({top}) WHERE n <= 2;"
    script = (EVENTS, TOTALS.format(topic=topic, broker=broker, more=more), insert)
    connected.put("1.csv", "a,10,1", "b,20,2")
    connected.run(*script)
    connected.put("2.csv", "c,30,3", "d,5,4")
    connected.run(*script)
    found = records(broker, topic)
    assert current(found) == {'{"k": "first 1"}': {"n": 1, "s": 30}, '{"k": "first 2"}': {"n": 2, "s": 20}}
    assert len(found) == 4


def test_a_row_that_the_table_does_not_take(connected: Workspace, broker: str) -> None:
    """It is a dead letter, and the record of its key stays until the next one that is fine; what goes is told."""
    topic = make_topic(broker, "upserts-refused", 1)
    totals = TOTALS.format(topic=topic, broker=broker, more="").replace("n BIGINT", "n TINYINT")
    letters = """
    CREATE TABLE letters (code STRING, text STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
    SET 'sqlext.dead-letters.table' = 'letters';"""
    insert = "INSERT INTO totals SELECT k, SUM(v), COUNT(*) FROM events GROUP BY k HAVING COUNT(*) < 3;"
    script = EVENTS, letters, totals, insert
    for number, rows in enumerate((("a,1,1", "b,500,1"), ("a,300,2", "b,-499,2"), ("a,1,3",))):
        connected.put(f"{number}.csv", *rows)
        connected.run(*script)
    a, b = {"k": "a"}, {"k": "b"}
    assert records(broker, topic) == [(a, a | {"n": 1, "s": 1}), (b, b | {"n": 1, "s": 2}), (a, None)]
    found = [(code, json.loads(text)["k"]) for code, text in connected.delta("letters")]
    assert sorted(found) == [("RUN-041", "a"), ("RUN-041", "b")]
