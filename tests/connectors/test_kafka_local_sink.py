"""Queries of this process that write to a real broker: rows, current rows, and each batch once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from connectors.tables import table
from kafka_broker import committed_values, make_topic

import sqlext
from sqlext.connectors.kafka import transactions
from sqlext.connectors.kafka.at_least_once import sender_settings
from sqlext.connectors.kafka.local_sink import local_kafka
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.jobs.query import Query
from sqlext.sinks.base import SinkContext
from sqlext.sinks.local import LocalSink
from sqlext.types import BIGINT, STRING

pytestmark = pytest.mark.kafka

_SOURCE = """
CREATE TABLE src (k STRING, v BIGINT) WITH ('connector' = 'kafka', 'topic' = '{source}',
  'properties.bootstrap.servers' = '{broker}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'{end});
"""
_COPY = """
CREATE TABLE copy (k STRING, v BIGINT) WITH ('connector' = 'kafka', 'topic' = '{sink}',
  'properties.bootstrap.servers' = '{broker}', 'format' = 'json'{more});
SET 'pipeline.name' = 'copy';
INSERT INTO copy SELECT k, v * 10 FROM src WHERE v > 0;
"""
_TOTALS = """
CREATE TABLE totals (k STRING, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{sink}', 'properties.bootstrap.servers' = '{broker}',
  'key.format' = 'raw', 'value.format' = 'json'{more});
SET 'pipeline.name' = 'totals';
INSERT INTO totals SELECT k, COUNT(*), SUM(v) FROM src GROUP BY k HAVING COUNT(*) < 3;
"""
_ONCE = {"sink.delivery-guarantee": "exactly-once"}
_GUARANTEES = pytest.mark.parametrize(
    "more", ["", ", 'sink.delivery-guarantee' = 'exactly-once'"], ids=["least", "once"]
)
_ROWS = pa.table({"k": ["a", "b", "c"], "v": [1, 2, None]})


class Work(NamedTuple):
    """A session without Spark, and a topic to read from and one to write to."""

    session: sqlext.Session
    broker: str
    source: str
    sink: str

    def send(self, *rows: tuple[str, int]) -> None:
        producer = Producer({"bootstrap.servers": self.broker})
        for k, v in rows:
            producer.produce(self.source, f'{{"k":"{k}","v":{v}}}')
        assert producer.flush(30) == 0

    def run(self, script: str, *, more: str = "", end: str = "") -> Query:
        text = script.format(source=self.source, sink=self.sink, broker=self.broker, more=more, end=end)
        query = self.session.run(text)[-1].query
        assert query is not None
        return query

    def records(self) -> list[tuple[str | None, str | None]]:
        return records(self.broker, self.sink)


@pytest.fixture
def work(broker: str, tmp_path: Path, request: pytest.FixtureRequest) -> Work:
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    source, sink = make_topic(broker, f"{name}-in", 1), make_topic(broker, f"{name}-out", 1)
    session = sqlext.connect(catalog=tmp_path / "catalog", settings={"sqlext.engine": "local"})
    return Work(session, broker, source, sink)


def records(broker: str, topic: str) -> list[tuple[str | None, str | None]]:
    """Return key and value of the committed records of the only partition of a topic."""
    settings = {"group.id": topic, "isolation.level": "read_committed", "enable.partition.eof": "true"}
    consumer = Consumer({"bootstrap.servers": broker, **settings})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = []
    while (message := consumer.poll(30)) is not None and message.error() is None:
        found.append((_text(message.key()), _text(message.value())))
    consumer.close()
    return found


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def sink_of(broker: str, topic: str, more: Mapping[str, str], checkpoint: str = "1") -> LocalSink:
    """Return the sink of a query without Spark."""
    options = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": broker, "format": "json", **more}
    definition = table({"k": STRING, "v": BIGINT}, options)
    spec = connector_of(definition).write_spec(definition)
    return local_kafka(spec, SinkContext("q", checkpoint), _ROWS.schema)


@_GUARANTEES
def test_rows_without_an_end(work: Work, more: str) -> None:
    query = work.run(_SOURCE + _COPY, more=more)
    for number in range(3):
        work.send(("a", number), ("b", 5))
        query.process_available()
    query.stop()
    values = ['{"k":"b","v":50}', '{"k":"a","v":10}', '{"k":"b","v":50}', '{"k":"a","v":20}', '{"k":"b","v":50}']
    assert work.records() == [(None, value) for value in values]
    work.send(("a", 7))
    query = work.run(_COPY.partition(";")[2])
    query.process_available()
    query.stop()
    assert work.records()[5:] == [(None, '{"k":"a","v":70}')]


@_GUARANTEES
def test_rows_with_an_end(work: Work, more: str) -> None:
    work.send(("a", 1), ("b", 2))
    assert work.run(_SOURCE + _COPY, more=more, end=", 'scan.bounded.mode' = 'latest-offset'").progress["rows_out"] == 2
    assert work.records() == [(None, '{"k":"a","v":10}'), (None, '{"k":"b","v":20}')]


@_GUARANTEES
def test_current_rows(work: Work, more: str) -> None:
    """A group that is none any more leaves a record without a value."""
    query = work.run(_SOURCE + _TOTALS, more=more)
    for rows in ((("a", 1), ("a", 2), ("b", 3)), (("a", 4), ("c", 5))):
        work.send(*rows)
        query.process_available()
    query.stop()
    current = dict(work.records())
    assert current == {"a": None, "b": '{"k":"b","n":1,"s":3}', "c": '{"k":"c","n":1,"s":5}'}
    assert ("a", '{"k":"a","n":2,"s":3}') in work.records()


def test_changes_of_rows(work: Work) -> None:
    changes = _TOTALS.replace("upsert-kafka", "kafka").replace(", PRIMARY KEY (k) NOT ENFORCED", "")
    changes = changes.replace("'key.format' = 'raw', 'value.format' = 'json'", "'format' = 'debezium-json'")
    query = work.run(_SOURCE + changes)
    for row in (("a", 1), ("a", 2)):
        work.send(row)
        query.process_available()
    query.stop()
    one, two = '{"k":"a","n":1,"s":1}', '{"k":"a","n":2,"s":3}'
    assert [value for _, value in work.records()] == [
        f'{{"before":null,"after":{one},"op":"c"}}',
        f'{{"before":{one},"after":null,"op":"d"}}',
        f'{{"before":null,"after":{two},"op":"c"}}',
    ]


@pytest.mark.parametrize("writers", ["1", "3"])
def test_a_batch_that_is_written_again_is_there_once(broker: str, writers: str) -> None:
    topic, more = make_topic(broker, f"local-again-{writers}", 1), {**_ONCE, "sink.parallelism": writers}
    sink, other = (sink_of(broker, topic, more) for _ in "ab")
    sink.write(_ROWS, 0, repeated=False)
    sink.write(_ROWS, 0, repeated=True)
    other.write(_ROWS, 0, repeated=True)  # another driver's
    other.write(_ROWS.slice(0, 1), 1, repeated=False)
    assert committed_values(broker, topic) == sorted(
        [*(f'{{"k":"{k}","v":{v}}}' for k, v in (("a", 1), ("b", 2), ("c", "null"))), '{"k":"a","v":1}']
    )
    # The identity is the query's with its checkpoint: another one counts its batches by itself.
    sink_of(broker, topic, more, checkpoint="2").write(_ROWS.slice(0, 1), 0, repeated=False)
    assert committed_values(broker, topic).count('{"k":"a","v":1}') == 3


def test_a_driver_that_was_thought_dead_is_shut_out(broker: str) -> None:
    """Its producer stays open from batch to batch; another driver takes its id away."""
    topic = make_topic(broker, "local-fenced", 1)
    old, new = (sink_of(broker, topic, _ONCE) for _ in "ab")
    old.write(_ROWS.slice(0, 1), 0, repeated=False)
    new.write(_ROWS.slice(1, 1), 1, repeated=True)
    with pytest.raises(SqlExtError, match="does not take records") as raised:
        old.write(_ROWS.slice(2, 1), 1, repeated=False)
    assert raised.value.code == "RUN-077"
    assert committed_values(broker, topic) == ['{"k":"a","v":1}', '{"k":"b","v":2}']


def test_a_writer_that_was_not_used_for_long_is_opened_anew(broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = make_topic(broker, "local-quiet", 1)
    opened: list[str] = []
    monkeypatch.setattr(transactions, "at_step", lambda name: opened.append(name) if name == "begun" else None)
    sink = sink_of(broker, topic, _ONCE)
    for number, fresh in enumerate((3600.0, 3600.0, 0.0)):
        monkeypatch.setattr(transactions, "_FRESH", fresh)
        sink.write(_ROWS.slice(number, 1), number, repeated=False)
    assert len(opened) == 2
    assert len(committed_values(broker, topic)) == 3


def test_a_record_that_is_too_large(broker: str) -> None:
    topic = make_topic(broker, "local-large", 1)
    sink = sink_of(broker, topic, {"properties.max.request.size": "2000"})
    with pytest.raises(SqlExtError, match=r"RUN-077.*too large"):
        sink.write(pa.table({"k": ["x" * 3000], "v": [1]}), 0, repeated=False)


def test_no_broker() -> None:
    sink = sink_of("127.0.0.1:1", "t", {"properties.delivery.timeout.ms": "500"})
    with pytest.raises(SqlExtError, match=r"RUN-077.*127\.0\.0\.1:1"):
        sink.write(_ROWS, 0, repeated=False)


def test_settings_are_those_of_javas_client() -> None:
    servers = ("properties.bootstrap.servers", "b:1")
    plain = sender_settings((servers,))
    assert (plain["enable.idempotence"], plain["message.max.bytes"]) == ("true", "1048576")
    told = sender_settings((servers, ("properties.acks", "1"), ("properties.max.request.size", "7")))
    assert ("enable.idempotence" in told, told["acks"], told["message.max.bytes"]) == (False, "1", "7")
