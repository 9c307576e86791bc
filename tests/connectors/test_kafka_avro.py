"""Avro values and keys by a real broker; their bytes are put together here, by the Avro specification."""

from __future__ import annotations

import datetime as dt
import struct
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from kafka_broker import fetch_spark_avro, fetch_spark_connector, make_topic
from pyspark.sql import SparkSession

from sqlext.errors import SqlExtError
from tests.avro_bytes import NULL, some, text, whole
from tests.workspace import Workspace

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def wall(value: str) -> int:
    """Return the milliseconds of a wall clock, taken as UTC."""
    return int(dt.datetime.fromisoformat(value).replace(tzinfo=dt.timezone.utc).timestamp() * 1000)


EVERY_TYPE = {
    "b BOOLEAN": (some(b"\x01"), True),
    "t TINYINT": (some(whole(-7)), -7),
    "s SMALLINT NOT NULL": (whole(300), 300),
    "i INT": (some(whole(-70000)), -70000),
    "l BIGINT NOT NULL": (whole(2**40), 2**40),
    "f FLOAT": (some(struct.pack("<f", 1.5)), 1.5),
    "d DOUBLE": (some(struct.pack("<d", 2.25)), 2.25),
    "v VARCHAR(9)": (some(text("żółw")), "żółw"),
    "y BYTES": (some(whole(2) + b"\x00\xff"), b"\x00\xff"),
    "n DECIMAL(10, 2)": (some(whole(2) + b"\xff\x38"), Decimal("-2.00")),
    "da DATE": (some(whole(19723)), dt.date(2024, 1, 1)),
    "ti TIME(3)": (some(whole(3_600_001)), dt.time(1, 0, 0, 1000)),
    "ts TIMESTAMP(3)": (
        some(whole(wall("2024-01-01 08:00:00.250"))),
        dt.datetime(2024, 1, 1, 8, 0, 0, 250000),
    ),
    "a ARRAY<INT>": (some(whole(2) + some(whole(5)) + NULL + whole(0)), [5, None]),
    "m MAP<STRING, BIGINT NOT NULL>": (some(whole(1) + text("k") + whole(9) + whole(0)), {"k": 9}),
    "r ROW<x INT, w TIMESTAMP(0) NOT NULL>": (
        some(some(whole(4)) + whole(1000)),
        (4, dt.datetime(1970, 1, 1, 0, 0, 1)),
    ),
    "e STRING": (NULL, None),
}
OPTIONS = """'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}',
  'scan.bounded.mode' = 'latest-offset'"""


@pytest.fixture(scope="module")
def avro(spark: SparkSession) -> SparkSession:
    """A session that has Spark's connector for Kafka, and Avro."""
    session = spark.newSession()
    for jar in (*fetch_spark_connector(), *fetch_spark_avro()):
        session.sql(f"ADD JAR '{jar}'")
    return session


@pytest.fixture
def connected(avro: SparkSession, tmp_path: Path) -> Workspace:
    return Workspace(avro, tmp_path)


def send(broker: str, topic: str, *records: tuple[bytes | None, bytes | None]) -> None:
    producer = Producer({"bootstrap.servers": broker})
    for key, value in records:
        producer.produce(topic, value, key=key, partition=0)
    assert producer.flush(30) == 0


def received(broker: str, topic: str) -> list[tuple[object, bytes | None, object]]:
    """Return key, value and headers of the records of the only partition of a topic."""
    consumer = Consumer({"bootstrap.servers": broker, "group.id": topic, "enable.auto.commit": False})
    place = TopicPartition(topic, 0, 0)
    _, end = consumer.get_watermark_offsets(place, timeout=30)
    consumer.assign([place])
    found = []
    while len(found) < end:
        message = consumer.poll(30)
        assert message is not None
        assert message.error() is None
        found.append((message.key(), message.value(), message.headers()))
    consumer.close()
    return found


def tables(columns: str, broker: str, topic: str, *more: str) -> str:
    """Return a table of a topic, and one beside it that is written."""
    options = ", ".join((OPTIONS.format(topic=topic, broker=broker), *more))
    written = ", ".join((OPTIONS.format(topic=f"{topic}-copy", broker=broker), *more))
    return f"CREATE TABLE t ({columns}) WITH ({options}); CREATE TABLE copy ({columns}) WITH ({written});"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("zone", ["America/New_York", "UTC"])
def test_every_type_both_ways(connected: Workspace, broker: str, zone: str) -> None:
    topic = make_topic(broker, f"avro-{zone[:3]}", 1)
    make_topic(broker, f"{topic}-copy", 1)
    value = b"".join(encoded for encoded, _ in EVERY_TYPE.values())
    send(broker, topic, (None, value), (None, None))
    script = tables(", ".join(EVERY_TYPE), broker, topic, "'format' = 'avro'")
    settings = f"SET 'table.local-time-zone' = '{zone}';"
    (row,) = connected.run(settings + script, "SELECT * FROM t;")[-1].rows
    assert tuple(row) == tuple(expected for _, expected in EVERY_TYPE.values())
    connected.run(settings, "INSERT INTO copy SELECT * FROM t;")
    assert received(broker, f"{topic}-copy") == [(None, value, None)]


def test_times_without_the_legacy_mapping(connected: Workspace, broker: str) -> None:
    """A rowtime, digits beyond milliseconds, and an instant."""
    topic = make_topic(broker, "avro-times", 1)
    make_topic(broker, f"{topic}-copy", 1)
    eight, micros = wall("2024-01-01 08:00:00"), wall("2024-01-01 08:00:00") * 1000 + 7
    value = some(whole(eight)) + some(whole(micros)) + some(whole(micros))
    send(broker, topic, (None, value))
    columns = "ts TIMESTAMP(3), w TIMESTAMP(6), z TIMESTAMP_LTZ(6), WATERMARK FOR ts AS ts"
    mapping = "'value.avro.timestamp_mapping.legacy' = 'false'"
    script = tables(columns, broker, topic, "'value.format' = 'avro'", mapping)
    connected.run("SET 'table.local-time-zone' = 'America/New_York';", script, "INSERT INTO copy SELECT * FROM t;")
    assert received(broker, f"{topic}-copy") == [(None, value, None)]
    texts = "SELECT CAST(ts AS STRING), CAST(w AS STRING), CAST(z AS STRING) FROM t;"
    (row,) = connected.run("SET 'table.local-time-zone' = 'America/New_York';", texts)[-1].rows
    assert tuple(row) == ("2024-01-01 08:00:00", "2024-01-01 08:00:00.000007", "2024-01-01 03:00:00.000007")


def test_keys_and_headers(connected: Workspace, broker: str) -> None:
    topic = make_topic(broker, "avro-keys", 1)
    make_topic(broker, f"{topic}-copy", 1)
    producer = Producer({"bootstrap.servers": broker})
    producer.produce(topic, some(whole(7)), key=text("a"), partition=0, headers=[("h", b"\x01")])
    assert producer.flush(30) == 0
    columns = "k_id STRING NOT NULL, v INT, h MAP<STRING, BYTES> METADATA FROM 'headers'"
    keys = "'key.format' = 'avro', 'key.fields' = 'k_id', 'key.fields-prefix' = 'k_'"
    script = tables(columns, broker, topic, keys, "'value.format' = 'avro'", "'value.fields-include' = 'EXCEPT_KEY'")
    assert connected.run(script, "SELECT * FROM t;")[-1].rows == [("a", 7, {"h": bytearray(b"\x01")})]
    connected.run("INSERT INTO copy SELECT * FROM t;")
    assert received(broker, f"{topic}-copy") == [(text("a"), some(whole(7)), [("h", b"\x01")])]


def test_bad_rows(connected: Workspace, broker: str) -> None:
    """What is no record fails the query, or is kept; a row of NULLs alone is none of these."""
    topic = make_topic(broker, "avro-bad", 1)
    good = whole(1) + some(whole(1))
    send(broker, topic, (None, good), (None, b"\x02"), (None, whole(300) + NULL), (None, b""), (None, whole(0) + NULL))
    script = tables("t TINYINT NOT NULL, v INT", broker, topic, "'format' = 'avro'")
    with pytest.raises(
        SqlExtError, match="it is no Avro record of its columns; at topic avro-bad, partition 0, offset 1"
    ) as failed:
        connected.run(script, "SELECT * FROM t;")
    assert "sqlext.bad-rows" in (failed.value.hint or "")
    kept = """
    CREATE TABLE broken (text STRING, place STRING, reason STRING)
    WITH ('connector' = 'delta', 'path' = '${OUT}/broken');
    SELECT * FROM t /*+ OPTIONS('sqlext.bad-rows' = 'broken') */;
    """
    assert connected.run(kept)[-1].rows == [(1, 1), (0, None)]
    at = f"topic {topic}, partition 0, offset "
    assert sorted(connected.delta("broken"), key=lambda row: row[1]) == [
        ("02", f"{at}1", "it is no Avro record of its columns"),
        ("D80400", f"{at}2", "a value does not fit its column: t"),
        ("", f"{at}3", "it is no Avro record of its columns"),
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("statement", ["SELECT * FROM t", "INSERT INTO copy VALUES (1)"])
def test_without_the_package(tmp_path: Path, broker: str, statement: str) -> None:
    """In a process of its own: jars that were added stay in a JVM."""
    make_topic(broker, f"avro-{statement[:6].lower()}", 1)
    script = tmp_path / "job.sql"
    definitions = tables("v INT", broker, f"avro-{statement[:6].lower()}", "'format' = 'avro'")
    script.write_text(f"{definitions} {statement};")
    command = [
        str(Path(sys.executable).with_name("sqlext")),
        "run",
        str(script),
        "--catalog",
        str(tmp_path / "catalog"),
    ]
    ended = subprocess.run(command, capture_output=True, timeout=180, check=False, text=True)
    assert ended.returncode == 1
    assert "OPT-014: Spark has no format 'avro' here" in ended.stderr
    assert "spark-avro_2.13" in ended.stderr
