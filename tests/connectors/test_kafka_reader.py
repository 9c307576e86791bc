"""Our own reader of Kafka against a real broker: positions, limits, records; no Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from kafka_broker import make_topic

from sqlext.connectors.kafka.reader.consumer import KafkaReader, KafkaStart
from sqlext.connectors.kafka.reader.rows import RawRows
from sqlext.connectors.splits import Limit, Offset
from sqlext.errors import SqlExtError
from sqlext.stores.location import Location

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def send(broker: str, name: str, partition: int, values: Sequence[str | None], **more: Any) -> None:
    """Send values, the key being the value's first letter."""
    producer = Producer({"bootstrap.servers": broker})
    for value in values:
        producer.produce(name, value, key=(value or "?")[0], partition=partition, **more)
    assert producer.flush(30) == 0


def reader(broker: str, *names: str, **more: Any) -> KafkaReader:
    """Return a reader of topics."""
    return KafkaReader((("bootstrap.servers", broker),), names, **more)


def rows(source: KafkaReader, start: Offset, end: Offset) -> list[dict[str, Any]]:
    """Return what lies between two offsets."""
    batches = [b for piece in source.slices(start, end) for b in source.read(piece)]
    found: list[dict[str, Any]] = pa.Table.from_batches(batches, schema=source.schema).to_pylist()
    return found


def test_records_and_where_they_are(broker: str) -> None:
    name = make_topic(broker, "reader-records", 2)
    send(broker, name, 0, ["a0", None, "a2"], timestamp=1_700_000_000_123)
    send(broker, name, 1, ["b0"], timestamp=1_700_000_001_000, headers=[("h", b"1"), ("h", b"2")])
    source = reader(broker, name, rows=RawRows(headers=True))
    end = source.latest(source.initial(), None)
    assert end == {f"{name}-0": 3, f"{name}-1": 1}
    found = rows(source, source.initial(), end)
    assert [(r["partition"], r["offset"], r["key"], r["value"]) for r in found] == [
        (0, 0, b"a", b"a0"),
        (0, 1, b"?", None),
        (0, 2, b"a", b"a2"),
        (1, 0, b"b", b"b0"),
    ]
    assert found[0]["timestamp"].isoformat() == "2023-11-14T22:13:20.123000+00:00"
    assert [r["timestampType"] for r in found] == [0, 0, 0, 0]
    assert [r["headers"] for r in found[2:]] == [None, [{"key": "h", "value": b"1"}, {"key": "h", "value": b"2"}]]
    middle = {f"{name}-0": 1, f"{name}-1": 1}
    assert [r["offset"] for r in rows(source, middle, end)] == [1, 2]
    assert rows(source, end, end) == []


def test_where_a_query_begins(broker: str, tmp_path: Path) -> None:
    name = make_topic(broker, "reader-start", 1)
    for second in range(3):
        send(broker, name, 0, [f"v{second}"], timestamp=1_700_000_000_000 + second * 1000)
    begins = {
        "earliest": KafkaStart(),
        "latest": KafkaStart("latest"),
        "at a time": KafkaStart("timestamp", timestamp=1_700_000_001_000),
        "after all": KafkaStart("timestamp", timestamp=1_800_000_000_000),
        "given": KafkaStart("offsets", offsets={0: 2}),
    }
    found = {what: reader(broker, name, start=start).initial()[f"{name}-0"] for what, start in begins.items()}
    assert found == {"earliest": 0, "latest": 3, "at a time": 1, "after all": 3, "given": 2}
    kept = reader(broker, name, start=KafkaStart("latest"), state=Location.of(tmp_path))
    assert kept.initial() == {f"{name}-0": 3}
    send(broker, name, 0, ["v3"])
    assert reader(broker, name, start=KafkaStart("latest"), state=Location.of(tmp_path)).initial() == {f"{name}-0": 3}


def test_a_limit_is_shared_by_what_waits(broker: str) -> None:
    name = make_topic(broker, "reader-limit", 3)
    send(broker, name, 0, ["x"] * 90)
    send(broker, name, 1, ["x"] * 10)
    source = reader(broker, name)
    assert source.latest({}, Limit("rows", 10)) == {f"{name}-0": 9, f"{name}-1": 1, f"{name}-2": 0}
    assert source.latest({}, Limit("rows", 1000)) == {f"{name}-0": 90, f"{name}-1": 10, f"{name}-2": 0}


def test_a_pattern_finds_topics_and_new_partitions_begin_at_their_beginning(broker: str) -> None:
    one, two = make_topic(broker, "reader-pattern.1", 1), make_topic(broker, "reader-pattern.2", 1)
    make_topic(broker, "other-reader-pattern.1", 1)
    source = KafkaReader((("bootstrap.servers", broker),), pattern=r"reader-pattern\.\d", discovery=0)
    assert set(source.latest({}, None)) == {f"{one}-0", f"{two}-0"}
    three = make_topic(broker, "reader-pattern.3", 1)
    send(broker, three, 0, ["new"])
    start = {f"{one}-0": 0, f"{two}-0": 0}
    end = source.latest(start, None)
    assert [r["value"] for r in rows(source, start, end)] == [b"new"]


def test_what_is_not_there_is_said(broker: str) -> None:
    with pytest.raises(SqlExtError, match="no topic `reader-nothing`"):
        reader(broker, "reader-nothing").initial()
    name = make_topic(broker, "reader-lost", 1)
    send(broker, name, 0, ["x"])
    source = reader(broker, name)
    with pytest.raises(SqlExtError, match=r"records 5 to 9 of reader-lost-0 cannot be read"):
        rows(source, {f"{name}-0": 5}, {f"{name}-0": 9})
