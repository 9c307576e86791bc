"""A topic of Avro with a schema registry whose writers get, lose, rename and widen columns under a query."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pytest
from confluent_kafka import Producer
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from deltalake import DeltaTable
from kafka_broker import fetch_spark_avro, fetch_spark_connector, make_topic
from pyspark.sql import SparkSession

from sqlext.errors import SqlExtError
from tests.workspace import Workspace

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

COLUMNS = {"k": "string", "n": "int"}
#: How the next record is written: its columns, its values, and what the query has of it; a code where it ends.
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str | None, int | None] | str]] = {
    "gets a column": ({**COLUMNS, "z": "string"}, {"k": "x", "n": 1, "z": "new"}, ("x", 1)),
    "gets one between": ({"k": "string", "z": "long", "n": "int"}, {"k": "x", "z": 9, "n": 1}, ("x", 1)),
    "loses a column": ({"k": "string"}, {"k": "x"}, ("x", None)),
    "another name": ({"k": "string", "m": "int"}, {"k": "x", "m": 1}, ("x", None)),
    "another order": ({"n": "int", "k": "string"}, {"n": 1, "k": "x"}, ("x", 1)),
    "may be NULL": ({"k": "string", "n": ["null", "int"]}, {"k": "x", "n": None}, ("x", None)),
    "wider": ({"k": "string", "n": "long"}, {"k": "x", "n": 1}, "RUN-066"),
    "another type": ({"k": "string", "n": "string"}, {"k": "x", "n": "1"}, "RUN-066"),
}


def record(registry: str, topic: str, columns: dict[str, Any], values: dict[str, Any]) -> bytes:
    """Return a record as Confluent's serializer writes it."""
    fields = [{"name": name, "type": of} for name, of in columns.items()]
    schema: dict[str, Any] = {"type": "record", "name": "r", "fields": fields}
    client = SchemaRegistryClient({"url": registry})
    # Each schema has a subject of its own: whether one follows another there is the registry's affair.
    number = client.register_schema(f"{topic}-{len(client.get_subjects())}", Schema(json.dumps(schema), "AVRO"))
    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), values)
    return b"\x00" + number.to_bytes(4, "big") + out.getvalue()


@pytest.mark.parametrize("reader", ["arrow", "spark"])
def test_a_column_that_changes_under_a_query(
    spark: SparkSession, tmp_path: Path, broker: str, registry: str, reader: str
) -> None:
    session = spark.newSession()
    for jar in (*fetch_spark_connector(), *fetch_spark_avro()):
        session.sql(f"ADD JAR '{jar}'")
    producer = Producer({"bootstrap.servers": broker})
    found = {}
    for number, (name, (columns, values, _)) in enumerate(CHANGES.items()):
        topic = make_topic(broker, f"columns-{reader}-{number}", 1)
        (folder := tmp_path / topic).mkdir()
        work = Workspace(session, folder)
        script = f"""SET 'sqlext.source' = '{reader}'; SET 'sqlext.bounded' = 'catch-up';
        CREATE TABLE IF NOT EXISTS t (k STRING, n INT) WITH ('connector' = 'kafka', 'topic' = '{topic}',
          'properties.bootstrap.servers' = '{broker}', 'format' = 'avro-confluent', 'avro-confluent.url' = '{registry}',
          'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
        CREATE TABLE IF NOT EXISTS out (k STRING, n INT) WITH ('connector' = 'delta', 'path' = '{work.folder}/o');
        INSERT INTO out SELECT k, n FROM t;"""
        for batch in (record(registry, topic, COLUMNS, {"k": "a", "n": 7}), record(registry, topic, columns, values)):
            producer.produce(topic, batch)
            assert producer.flush(30) == 0
            try:
                work.run(script)
            except SqlExtError as error:
                found[name] = error.code
        rows = DeltaTable(str(work.folder / "o")).to_pyarrow_table().to_pylist()
        (first, *others) = sorted((row["k"], row["n"]) for row in rows)
        assert first == ("a", 7)
        if name not in found:
            (found[name],) = others
    assert found == {name: outcome for name, (_, _, outcome) in CHANGES.items()}
