"""Changelogs from messages and feeds to tables and messages, on a real Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from connectors.tables import table
from pyspark.sql import DataFrame, SparkSession

from sqlext.connectors.registry import connector_of
from sqlext.plan.nodes import KIND
from sqlext.sinks.base import Sink, SinkContext
from sqlext.sinks.opening import open_sink
from sqlext.spark.reading.spark_sources import open_stream
from sqlext.types import BIGINT, INT, STRING
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE

KV = {"k": STRING, "v": INT}
A, B = {"k": "a", "v": 1}, {"k": "a", "v": None}
#: A row inserted, updated and deleted, as each format tells it.
MESSAGES: dict[str, list[dict[str, Any]]] = {
    "debezium-json": [
        {"before": None, "after": A, "op": "r"},
        {"before": A, "after": B, "op": "u"},
        {"before": B, "after": None, "op": "d"},
    ],
    "canal-json": [
        {"data": [A], "type": "INSERT"},
        {"data": [B], "old": [{"v": 1}], "type": "UPDATE"},
        {"data": None, "type": "CREATE"},
        {"data": [B], "type": "DELETE"},
    ],
    "maxwell-json": [
        {"data": A, "type": "insert"},
        {"data": B, "old": {"v": 1}, "type": "update"},
        {"data": B, "type": "delete"},
    ],
    "ogg-json": [
        {"after": A, "op_type": "I"},
        {"before": A, "after": B, "op_type": "U"},
        {"op_type": "T"},
        {"before": B, "op_type": "D"},
    ],
}


def read(session: SparkSession, definition: Any, path: Path) -> list[tuple[Any, ...]]:
    """Return the rows that a stream of a table gives."""
    found: list[tuple[Any, ...]] = []
    frame = open_stream(session, connector_of(definition).read_spec(definition))
    query = (
        frame.writeStream.foreachBatch(lambda df, _: found.extend(tuple(r) for r in df.collect()))
        .option("checkpointLocation", str(path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return found


def written(folder: Path, *messages: dict[str, Any] | str) -> str:
    folder.mkdir()
    lines = (m if isinstance(m, str) else json.dumps(m) for m in messages)
    (folder / "changes.json").write_text("".join(f"{line}\n" for line in lines))
    return str(folder)


def sink_of(session: SparkSession, options: dict[str, str], **more: Any) -> Sink:
    key = more.pop("primary_key", ())
    definition = table(KV, options, primary_key=key, name="snk")
    context = SinkContext(**({"query": "q", "checkpoint": "1", "kind": KIND} | more))
    return open_sink(session, connector_of(definition).write_spec(definition), context)


def changes(session: SparkSession, *values: tuple[Any, ...]) -> DataFrame:
    return session.createDataFrame(list(values), f"k STRING, v INT, {KIND} TINYINT").coalesce(1)


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_are_read(session: SparkSession, tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "in", *MESSAGES[name], "")
    definition = table(KV, {"connector": "filesystem", "path": path, "format": name})
    assert read(session, definition, tmp_path) == [
        ("a", 1, INSERT),
        ("a", 1, UPDATE_BEFORE),
        ("a", None, UPDATE_AFTER),
        ("a", None, DELETE),
    ]


@pytest.mark.parametrize("message", ["no json", '{"op": "x"}', '{"op": "u", "after": {"k": "a"}}', '{"after": {}}'])
def test_what_is_no_message_fails_or_is_skipped(session: SparkSession, tmp_path: Path, message: str) -> None:
    path = written(tmp_path / "in", message, MESSAGES["debezium-json"][0])
    options = {"connector": "filesystem", "path": path, "format": "debezium-json"}
    with pytest.raises(Exception, match=r"RUN-044|MALFORMED_RECORD"):
        read(session, table(KV, options), tmp_path / "1")
    skipping = table(KV, options | {"debezium-json.ignore-parse-errors": "true"})
    assert read(session, skipping, tmp_path / "2") == [("a", 1, INSERT)]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "debezium-json",
            ['{"before":null,"after":{"k":"a","v":1},"op":"c"}', '{"before":{"k":"a","v":null},"after":null,"op":"d"}'],
        ),
        ("canal-json", ['{"data":[{"k":"a","v":1}],"type":"INSERT"}', '{"data":[{"k":"a","v":null}],"type":"DELETE"}']),
        ("maxwell-json", ['{"data":{"k":"a","v":1},"type":"insert"}', '{"data":{"k":"a","v":null},"type":"delete"}']),
        (
            "ogg-json",
            [
                '{"before":null,"after":{"k":"a","v":1},"op_type":"I"}',
                '{"before":{"k":"a","v":null},"after":null,"op_type":"D"}',
            ],
        ),
    ],
)
def test_messages_are_written(session: SparkSession, tmp_path: Path, name: str, lines: list[str]) -> None:
    sink = sink_of(session, {"connector": "filesystem", "path": str(tmp_path / "out"), "format": name})
    sink.write(changes(session, ("a", 1, UPDATE_AFTER), ("a", None, UPDATE_BEFORE)), 0)
    (file,) = (tmp_path / "out").glob("part*")
    assert file.read_text().splitlines() == lines


def test_a_delta_table_gets_what_is_left_of_a_batch(session: SparkSession, tmp_path: Path) -> None:
    options = {"connector": "delta", "path": str(tmp_path / "d")}
    sink = sink_of(session, options, mode="upsert", primary_key=("k",))
    sink.write(changes(session, ("a", 1, INSERT), ("b", 1, INSERT), ("c", 1, INSERT)), 0)
    there_and_gone = [("x", 1, INSERT), ("x", 1, UPDATE_BEFORE), ("x", 2, UPDATE_AFTER), ("x", 2, DELETE)]
    back = [("a", 1, DELETE), ("a", 3, INSERT)]
    sink.write(changes(session, *there_and_gone, *back, ("b", 1, DELETE)), 1)
    found = session.read.format("delta").load(str(tmp_path / "d")).orderBy("k").collect()
    assert [tuple(r) for r in found] == [("a", 3), ("c", 1)]


def test_the_change_feed_of_a_delta_table(session: SparkSession, tmp_path: Path) -> None:
    place = f"delta.`{tmp_path / 'd'}`"
    session.sql(f"CREATE TABLE {place} (k STRING, v INT) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)")
    session.sql(f"INSERT INTO {place} VALUES ('a', 1), ('b', 1)")
    session.sql(f"UPDATE {place} SET v = 2 WHERE k = 'a'")
    session.sql(f"DELETE FROM {place} WHERE k = 'b'")
    options = {"connector": "delta", "path": str(tmp_path / "d"), "readChangeFeed": "true", "startingVersion": "0"}
    definition = table(KV, options, metadata={"at": (BIGINT, "commit-version")})
    connector_of(definition).validate(definition, "source")
    assert sorted(read(session, definition, tmp_path), key=lambda r: (r[2], r[0], r[3])) == [
        ("a", 1, 1, INSERT),
        ("b", 1, 1, INSERT),
        ("a", 1, 2, UPDATE_BEFORE),
        ("a", 2, 2, UPDATE_AFTER),
        ("b", 1, 3, DELETE),
    ]
