"""SELECT ... LIMIT over an endless table ends when it has its rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from kafka_broker import make_topic

import sqlext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '20');"


def test_it_ends_with_its_rows(spark: SparkSession, tmp_path: Path) -> None:
    session = sqlext.connect(spark, catalog=tmp_path / "catalog")
    session.spark.conf.set("spark.sql.shuffle.partitions", "1")
    session.run(TABLE)
    result = session.sql("SELECT n / 10 AS m FROM numbers WHERE n <> 2 LIMIT 4 OFFSET 1")
    assert result.query is not None
    assert not result.query.bounded
    assert result.query.await_termination(120)
    assert result.query.exception is None
    assert len(set(result.rows)) == 4


@pytest.mark.kafka
def test_samples_of_a_topic_and_of_rate(spark: SparkSession, broker: str, tmp_path: Path) -> None:
    """A query and a preview of each; they wait for rows, and for nothing behind them."""
    session = sqlext.connect(spark, catalog=tmp_path / "catalog")
    session.spark.conf.set("spark.sql.shuffle.partitions", "1")
    topic = make_topic(broker, "sampled", 2)
    producer = Producer({"bootstrap.servers": broker})
    for number in range(6):
        producer.produce(topic, f'{{"n": {number}}}', partition=number % 2)
    assert producer.flush(30) == 0
    session.run(f"""CREATE TABLE messages (n BIGINT) WITH ('connector' = 'kafka', 'topic' = '{topic}',
        'properties.bootstrap.servers' = '{broker}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
        CREATE TABLE ticks (`timestamp` TIMESTAMP_LTZ(3), `value` BIGINT)
        WITH ('connector' = 'rate', 'rows-per-second' = '10');""")
    for query, some in (
        ("SELECT n FROM messages LIMIT 4", range(6)),
        ("SELECT `value` FROM ticks LIMIT 4", range(999)),
    ):
        result = session.sql(query)
        assert result.query is not None
        assert not result.query.bounded
        assert result.query.await_termination(60)
        found = {n for (n,) in result.rows}
        assert len(found) == 4
        assert found <= set(some)
    assert sorted(session.preview("messages").rows) == [(n,) for n in range(6)]
    assert len(session.table("ticks").preview(3).rows) == 3


def test_a_preview_shows_what_has_come(spark: SparkSession, tmp_path: Path) -> None:
    """Of an endless table with few rows, of one with many, and of one that ends."""
    session = sqlext.connect(spark, catalog=tmp_path / "catalog")
    session.spark.conf.set("spark.sql.shuffle.partitions", "1")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"n": 1}\n{"n": 2}\n')
    session.run(TABLE)
    source = f"'connector' = 'filesystem', 'path' = '{tmp_path}/in', 'format' = 'json'"
    session.run(f"CREATE TABLE few (n BIGINT) WITH ({source}, 'source.monitor-interval' = '1 s');")
    session.run(f"CREATE TABLE ends (n BIGINT) WITH ({source});")
    assert sorted(session.table("few").preview().rows) == [(1,), (2,)]
    assert sorted(session.preview("ends").rows) == [(1,), (2,)]
    many = session.preview("numbers", 3)
    assert len(many.rows) == 3
    assert many.query is not None
    assert not many.query.is_active
