"""Kafka against a real broker: read to the latest offset, into Delta and into another topic."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from connectors.tables import table
from kafka_broker import fetch_spark_connector
from pyspark.sql import SparkSession

from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.sinks.base import Sink, SinkContext
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.sinks.opening import open_sink
from sqlext.spark.reading.spark_sources import open_batch, open_stream
from sqlext.types import BIGINT, BYTES, INT, STRING, TIMESTAMP3, TIMESTAMP_LTZ3, map_of
from sqlext_catalog.model import Column

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

COLUMNS = {"k": STRING, "v": INT, "ts": TIMESTAMP3}


@pytest.fixture(scope="module")
def connected(spark: SparkSession) -> SparkSession:
    """A session that has Spark's Kafka connector."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    for jar in fetch_spark_connector():
        session.sql(f"ADD JAR '{jar}'")
    return session


def options(broker: str, topic: str, **more: str) -> dict[str, str]:
    where = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": broker}
    return where | {"scan.bounded.mode": "latest-offset", "value.format": more.pop("form", "json")} | more


def sink_of(session: SparkSession, definition: Any) -> Sink:
    connector_of(definition).validate(definition, "sink")
    return open_sink(session, connector_of(definition).write_spec(definition), SinkContext("q", "1"))


def send(session: SparkSession, broker: str, topic: str, *values: str | None) -> None:
    rows = session.createDataFrame([(v,) for v in values], "value STRING").coalesce(1)
    rows.write.format("kafka").option("kafka.bootstrap.servers", broker).option("topic", topic).save()


def read(session: SparkSession, definition: Any) -> list[tuple[Any, ...]]:
    connector_of(definition).validate(definition, "source")
    return sorted(tuple(r) for r in open_batch(session, connector_of(definition).read_spec(definition)).collect())


def copied(session: SparkSession, definition: Any, sink: Sink, folder: Path) -> None:
    """Stream what the table holds now into a sink."""
    frame = open_stream(session, connector_of(definition).read_spec(definition))
    query = frame.writeStream.foreachBatch(sink.write).option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()


def test_json_to_delta_and_to_another_topic(connected: SparkSession, broker: str, tmp_path: Path) -> None:
    lines = [f'{{"k":"k{i}","v":{i},"ts":"2024-01-01 08:00:0{i}"}}' for i in range(5)]
    send(connected, broker, "events", *lines, None)
    events = table(COLUMNS, options(broker, "events"), rowtime="ts")
    delta = table(COLUMNS | {"ts": TIMESTAMP_LTZ3}, {"connector": "delta", "path": str(tmp_path / "d")})
    copied(connected, events, sink_of(connected, delta), tmp_path)
    found = read(connected, delta)
    assert [r[:2] for r in found] == [(f"k{i}", i) for i in range(5)]
    send(connected, broker, "events", '{"k":"k5","v":5,"ts":"2024-01-01 08:00:05"}')
    copied(connected, events, sink_of(connected, delta), tmp_path)
    assert len(read(connected, delta)) == 6
    key = {"key.format": "json", "key.fields": "k", "value.fields-include": "EXCEPT_KEY"}
    keyed = options(broker, "copy", **key)
    copy = table(COLUMNS | {"ts": TIMESTAMP_LTZ3}, keyed)
    copied(connected, events, sink_of(connected, copy), tmp_path / "copy")
    assert read(connected, copy) == read(connected, delta)
    raw = table({"value": STRING}, options(broker, "copy", form="raw"))
    assert read(connected, raw)[0] == ('{"v":0,"ts":"2024-01-01 08:00:00Z"}',)


def test_metadata_and_positions(connected: SparkSession, broker: str) -> None:
    send(connected, broker, "meta", *(f'{{"k":"{c}"}}' for c in "abcd"))
    metadata = {
        "topic": (STRING, "topic"),
        "part": (INT, "partition"),
        "off": (BIGINT, "offset"),
        "at": (TIMESTAMP_LTZ3, "timestamp"),
        "kind": (STRING, "timestamp-type"),
        "epoch": (INT, "leader-epoch"),
        "h": (map_of(STRING, BYTES), "headers"),
    }
    definition = table({"k": STRING}, options(broker, "meta"), metadata=metadata)
    first = open_batch(connected, connector_of(definition).read_spec(definition)).orderBy("off").first()
    assert first is not None
    assert (first["k"], first["topic"], first["part"], first["off"]) == ("a", "meta", 0, 0)
    assert (first["kind"], first["epoch"], first["h"]) == ("CreateTime", None, None)
    assert abs(first["at"].timestamp() - dt.datetime.now().timestamp()) < 600  # noqa: DTZ005
    some = options(broker, "meta") | {
        "scan.startup.mode": "specific-offsets",
        "scan.startup.specific-offsets": "partition:0,offset:1",
        "scan.bounded.mode": "specific-offsets",
        "scan.bounded.specific-offsets": "partition:0,offset:3",
    }
    assert read(connected, table({"k": STRING}, some)) == [("b",), ("c",)]
    later = options(broker, "meta") | {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1"}
    assert len(read(connected, table({"k": STRING}, later))) == 4


def test_broken_messages(connected: SparkSession, broker: str) -> None:
    send(connected, broker, "broken", '{"v":1}', '{"v":"x"}', "{oops", '{"v":4}')
    with pytest.raises(Exception, match="MALFORMED"):
        read(connected, table({"v": INT}, options(broker, "broken")))
    skipped = options(broker, "broken") | {"json.ignore-parse-errors": "true"}
    frame = open_batch(connected, connector_of(table({"v": INT}, skipped)).read_spec(table({"v": INT}, skipped)))
    assert [r[0] for r in frame.collect()] == [1, None, 4]


def test_csv_messages(connected: SparkSession, broker: str) -> None:
    definition = table({"k": STRING, "v": INT}, options(broker, "csv", form="csv"))
    rows = connected.createDataFrame([("a,b", 1), ("c", 2)], "k STRING, v INT")
    sink_of(connected, definition).write(rows, 0)
    assert read(connected, definition) == [("a,b", 1), ("c", 2)]


def test_a_batch_that_is_written_again_is_there_once(connected: SparkSession, broker: str) -> None:
    once = {"sink.delivery-guarantee": "exactly-once", "sink.parallelism": "2"}
    key = {"key.format": "raw", "key.fields": "k", "value.fields-include": "EXCEPT_KEY"}
    definition = table({"k": STRING, "v": INT}, options(broker, "once", **once, **key))
    sink = sink_of(connected, definition)
    rows = connected.createDataFrame([("a", 1), ("b", 2), ("c", None)], "k STRING, v INT")
    for write, batch_id in ((sink.write_new, 0), (sink.write, 0), (sink.write, 1)):
        write(rows, batch_id)
    read_committed = options(broker, "once", **key) | {"properties.isolation.level": "read_committed"}
    assert read(connected, table({"k": STRING, "v": INT}, read_committed)) == sorted(
        [("a", 1), ("b", 2), ("c", None)] * 2, key=repr
    )


def test_changes_by_key_and_their_metadata(connected: SparkSession, broker: str) -> None:
    key = {"key.format": "json", "key.fields": "k"}
    changes = options(broker, "changes", form="debezium-json", **key)
    definition = table({"k": STRING, "v": INT}, changes, metadata={"at": (TIMESTAMP_LTZ3, "value.ingestion-timestamp")})
    sink = open_sink(
        connected,
        connector_of(definition).write_spec(table({"k": STRING, "v": INT}, changes)),
        SinkContext("q", "1", kind="__row_kind"),
    )
    rows = connected.createDataFrame([("a", 1, 2), ("a", 2, 3)], "k STRING, v INT, __row_kind TINYINT").coalesce(1)
    sink.write(rows, 0)
    send(connected, broker, "changes", '{"before":null,"after":{"k":"b"},"op":"r","ts_ms":1500}', None)
    connector_of(definition).validate(definition, "source")
    frame = open_batch(connected, connector_of(definition).read_spec(definition))
    found = [(r.k, r.v, r["__row_kind"], r["at"].timestamp() if r["at"] else None) for r in frame.collect()]
    assert found == [("a", 1, 0, None), ("a", 2, 3, None), ("b", None, 0, 1.5)]


@pytest.mark.parametrize("keyed", [False, True], ids=["values", "headers"])
@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
def test_records_that_are_too_large_are_told_of(
    connected: SparkSession, broker: str, guarantee: str, keyed: bool
) -> None:
    """By the byte: the largest record that the client sends goes there, and one byte more is a dead letter."""
    topic = f"large-{guarantee}-{keyed}"
    limit = {"properties.max.request.size": "5000"}
    limit = {"properties.message.max.bytes": "5000"} if guarantee == "exactly-once" else limit
    key = {"key.format": "raw", "key.fields": "k", "value.fields-include": "EXCEPT_KEY"} if keyed else {}
    own = options(broker, topic, form="raw", **limit, **key, **{"sink.delivery-guarantee": guarantee})
    definition = table({"k": STRING, "v": STRING} if keyed else {"v": STRING}, own)
    if keyed:
        headers = Column("h", map_of(STRING, BYTES), "metadata", metadata_key="headers")
        definition = replace(definition, columns=(*definition.columns, headers))
    connector_of(definition).validate(definition, "sink")
    spec = connector_of(definition).write_spec(definition)
    sink = open_sink(connected, spec, SinkContext(f"q-{topic}", "1", refusals=True))
    strict = open_sink(connected, spec, SinkContext(f"s-{topic}", "1"))

    def rows(*lengths: int) -> Any:
        headers = "map('a', unhex('00'), 'b', NULL, repeat('c', 70), unhex(repeat('00', 63)))"
        key = ["repeat('k', 100) AS k", f"{headers} AS h"] if keyed else []
        given = connected.createDataFrame([(n,) for n in lengths], "n INT")
        return given.selectExpr(*key, "repeat('x', n) AS v")

    send(connected, broker, topic, "")  # makes the topic
    every = range(4700, 5001)
    refused = sink.take(rows(*every), 0, LetterLimit(), new=True)
    assert {row.code for row in refused} == {"RUN-077"}
    too_large = sorted(len(json.loads(row.text)["v"]) for row in refused)
    assert too_large == list(range(too_large[0], 5001))
    taken = read(connected, table({"v": STRING}, options(broker, topic, form="raw")))
    assert sorted(len(row[0]) for row in taken) == [0, *range(every[0], too_large[0])]
    with pytest.raises(Exception, match=r"Job aborted|too large"):
        strict.write_new(rows(too_large[0]), 0)
    # The batch comes again.
    if guarantee == "exactly-once":
        assert sorted(r.text for r in sink.take(rows(*every), 0, LetterLimit(), new=False)) == sorted(
            r.text for r in refused
        )
        assert len(read(connected, table({"v": STRING}, options(broker, topic, form="raw")))) == len(taken)
    with pytest.raises(SqlExtError, match="RUN-081"):
        sink.take(rows(6000, 6001), 1, LetterLimit(most=1), new=True)
