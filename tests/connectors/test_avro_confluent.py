"""Avro with a schema registry: a real registry, and records that other programs wrote by schemas of their own."""

from __future__ import annotations

import json
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pytest
from confluent_kafka import Producer
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from kafka_broker import fetch_spark_avro, fetch_spark_connector, make_topic
from pyspark.sql import SparkSession

from sqlext.connectors.formats.avro import avro_schema
from sqlext.connectors.formats.base import ReadField
from sqlext.connectors.formats.schema_registry import schema_number, schema_text
from sqlext.errors import SqlExtError
from sqlext.sources.decoding.malformed import BadValueError
from sqlext.sources.decoding.registry_avro import FromRegistry
from sqlext.types import BIGINT, DOUBLE, STRING, TIMESTAMP3, Field, LogicalType, decimal, row
from tests.workspace import Workspace

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

FIRST = {"type": "record", "name": "Order", "namespace": "shop", "fields": [
    {"name": "customer", "type": "string"},
    {"name": "amount", "type": "int"},
]}  # fmt: skip
SECOND = {"type": "record", "name": "OrderPlaced", "namespace": "shop", "fields": [
    {"name": "amount", "type": ["double", "null"]},
    {"name": "gift", "type": {"type": "enum", "name": "Gift", "symbols": ["YES", "NO"]}},
    {"name": "n", "type": ["null", "long"], "default": None},
    {"name": "customer", "type": ["null", "string"]},
]}  # fmt: skip


def value(registry: str, subject: str, schema: dict[str, Any], record: dict[str, Any]) -> bytes:
    """Return a record as Confluent's serializer writes it, its schema registered."""
    number = SchemaRegistryClient({"url": registry}).register_schema(subject, Schema(json.dumps(schema), "AVRO"))
    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), record)
    return b"\x00" + number.to_bytes(4, "big") + out.getvalue()


def source(registry: str, *columns: tuple[str, LogicalType]) -> FromRegistry:
    schema = avro_schema(tuple(ReadField(name, declared) for name, declared in columns), {})
    return FromRegistry((("url", registry),), schema)


def read(found: FromRegistry, *values: bytes) -> list[object]:
    """Return the records that come out."""
    schema = fastavro.parse_schema(json.loads(found.schema))
    return [fastavro.schemaless_reader(BytesIO(record), schema, None) for record in found.records(values)]


def test_schemas_are_resolved(registry: str) -> None:
    """Other names, orders, types and fields; what the writer lacks is NULL."""
    found = source(registry, ("customer", STRING), ("amount", DOUBLE), ("n", BIGINT))
    old = value(registry, "resolved-value", FIRST, {"customer": "ann", "amount": 7})
    new = value(registry, "resolved-2", SECOND, {"amount": 2.5, "gift": "NO", "n": 3, "customer": None})
    assert read(found, old, new) == [
        {"customer": "ann", "amount": 7.0, "n": None},
        {"customer": None, "amount": 2.5, "n": 3},
    ]


def test_records_within_records(registry: str) -> None:
    """A row of the table's takes a record of any name; a type that is named twice is one."""
    place = {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "int"}, {"name": "z", "type": "int"}]}
    written = {"type": "record", "name": "Way", "namespace": "maps", "fields": [
        {"name": "a", "type": place}, {"name": "b", "type": ["null", "Place"]},
    ]}  # fmt: skip
    of = row(Field("x", BIGINT))
    record = value(registry, "ways", written, {"a": {"x": 1, "z": 9}, "b": {"x": 2, "z": 9}})
    assert read(source(registry, ("b", of), ("a", of)), record) == [{"b": {"x": 2}, "a": {"x": 1}}]


def test_equal_schemas_pass_through(registry: str) -> None:
    found = source(registry, ("customer", STRING.not_null()), ("amount", LogicalType("INT").not_null()))
    record = value(registry, "equal", FIRST, {"customer": "b", "amount": 7})
    assert found.records([record]) == [record[5:]]


@pytest.mark.parametrize(
    ("declared", "written", "reason"),
    [
        (
            TIMESTAMP3,
            {"type": "long", "logicalType": "timestamp-micros"},
            "`v` is written as timestamp-micros and read",
        ),
        (decimal(9, 2), {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3}, r"decimal\(9, 3\)"),
        (BIGINT, "string", "it is no record of its columns, by schema"),
    ],
)
def test_what_would_be_another_value(registry: str, declared: LogicalType, written: Any, reason: str) -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "v", "type": written}]}
    given = {"string": "a"}.get(str(written), b"\x01" if declared.root == "DECIMAL" else 1)
    number = SchemaRegistryClient({"url": registry}).register_schema("other", Schema(json.dumps(schema), "AVRO"))
    out = BytesIO()
    plain = json.loads(json.dumps(schema).replace('"logicalType"', '"once"'))
    fastavro.schemaless_writer(out, fastavro.parse_schema(plain), {"v": given})
    with pytest.raises(BadValueError, match=reason):
        source(registry, ("v", declared)).records([b"\x00" + number.to_bytes(4, "big") + out.getvalue()])


def test_refusals(registry: str) -> None:
    found = source(registry, ("v", STRING))
    with pytest.raises(BadValueError, match="does not begin with the number of a schema"):
        found.records([b"\x02\x02a"])
    with pytest.raises(SqlExtError, match=r"RUN-074.*does not answer for schema 999999"):
        found.records([b"\x00" + (999999).to_bytes(4, "big")])
    with pytest.raises(SqlExtError, match=r"RUN-074.*does not answer for subject 'none'"):
        schema_number((("url", registry),), "none", found.schema, registers=False)
    assert json.loads(
        schema_text((("url", registry),), schema_number((("url", registry),), "some", found.schema, registers=True))
    )


DEBEZIUM = {"type": "record", "name": "Envelope", "namespace": "db.users", "fields": [
    {"name": "before", "default": None, "type": ["null", {"type": "record", "name": "Value", "fields": [
        {"name": "id", "type": "int"}, {"name": "name", "type": ["null", "string"], "default": None},
        {"name": "seen", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
    ]}]},
    {"name": "after", "type": ["null", "Value"], "default": None},
    {"name": "source", "type": {"type": "record", "name": "Source", "fields": [{"name": "db", "type": "string"}]}},
    {"name": "op", "type": "string"},
    {"name": "ts_ms", "type": ["null", "long"], "default": None},
]}  # fmt: skip


def test_changes_of_debezium(spark: SparkSession, tmp_path: Path, broker: str, registry: str) -> None:
    """Snapshots, changes and tombstones as Debezium's converter writes them; a changelog is written and read again."""
    session = spark.newSession()
    for jar in (*fetch_spark_connector(), *fetch_spark_avro()):
        session.sql(f"ADD JAR '{jar}'")
    work = Workspace(session, tmp_path)
    topic = make_topic(broker, "users", 1)
    make_topic(broker, "named", 1)

    def image(id_: int, name: str | None) -> dict[str, Any]:
        return {"id": id_, "name": name, "seen": 1_704_103_200_500}

    producer = Producer({"bootstrap.servers": broker})
    for op, before, after in (
        ("r", None, image(1, "ann")),
        ("c", None, image(2, None)),
        ("u", image(1, "ann"), image(1, "eve")),
        ("d", image(2, None), None),
        ("c", None, image(3, "bob")),
    ):
        record = {"before": before, "after": after, "source": {"db": "d"}, "op": op, "ts_ms": 1}
        producer.produce(topic, value(registry, f"{topic}-value", DEBEZIUM, record))
    # Debezium writes a tombstone behind a DELETE.
    producer.produce(topic, None)
    assert producer.flush(30) == 0
    options = f"""'connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}',
      'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset',
      'format' = 'debezium-avro-confluent',
      'debezium-avro-confluent.url' = '{registry}'"""
    work.run(f"""
    SET 'table.local-time-zone' = 'Europe/Berlin';
    CREATE TABLE users (name STRING, id BIGINT, seen TIMESTAMP(3)) WITH ({options}, 'topic' = '{topic}');
    CREATE TABLE named (name STRING, n BIGINT) WITH ({options}, 'topic' = 'named',
      'debezium-avro-confluent.subject' = 'names');
    """)
    seen = datetime(2024, 1, 1, 10, 0, 0, 500_000)
    assert sorted(work.run("SELECT * FROM users;")[-1].rows) == [("bob", 3, seen), ("eve", 1, seen)]
    work.run("INSERT INTO named SELECT CASE WHEN id < 3 THEN name ELSE 'eve' END, COUNT(*) FROM users GROUP BY 1;")
    assert "names" in SchemaRegistryClient({"url": registry}).get_subjects()
    assert work.run("SELECT * FROM named;")[-1].rows == [("eve", 2)]
    # An update whose row before is not known: the database does not tell it.
    lost = {"before": None, "after": image(1, "x"), "source": {"db": "d"}, "op": "u", "ts_ms": 1}
    producer.produce(topic, value(registry, f"{topic}-value", DEBEZIUM, lost))
    assert producer.flush(30) == 0
    with pytest.raises(SqlExtError, match=r"RUN-044.*debezium-avro-confluent"):
        work.run("SELECT * FROM users;")


def test_topics(spark: SparkSession, tmp_path: Path, broker: str, registry: str) -> None:
    """Read by Arrow and by Spark, written with another subject; a record of no schema is told with its place."""
    session = spark.newSession()
    for jar in (*fetch_spark_connector(), *fetch_spark_avro()):
        session.sql(f"ADD JAR '{jar}'")
    work = Workspace(session, tmp_path)
    topic = make_topic(broker, "confluent", 1)
    make_topic(broker, "confluent-copy", 1)
    producer = Producer({"bootstrap.servers": broker})
    producer.produce(topic, value(registry, f"{topic}-value", FIRST, {"customer": "ann", "amount": 7}))
    later = {"amount": 2.5, "gift": "NO", "n": 3, "customer": "bob"}
    producer.produce(topic, value(registry, "later", SECOND, later))
    producer.produce(topic, None)
    assert producer.flush(30) == 0
    columns = "customer STRING, amount DOUBLE, n BIGINT"
    options = f"""'connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'format' = 'avro-confluent',
      'avro-confluent.url' = '{registry}', 'scan.bounded.mode' = 'latest-offset'"""
    tables = f"""
    CREATE TABLE t ({columns}) WITH ({options}, 'topic' = '{topic}');
    CREATE TABLE copy ({columns}) WITH ({options}, 'topic' = 'confluent-copy', 'avro-confluent.subject' = 'mine');
    """
    rows = [("ann", 7.0, None), ("bob", 2.5, 3)]
    assert sorted(work.run(tables, "SET 'sqlext.source' = 'arrow';", "SELECT * FROM t;")[-1].rows) == rows
    work.run("RESET 'sqlext.source';", "INSERT INTO copy SELECT * FROM t;")
    assert "mine" in SchemaRegistryClient({"url": registry}).get_subjects()
    assert sorted(work.run("SELECT * FROM copy;")[-1].rows) == rows
    producer.produce(topic, b"plain")
    assert producer.flush(30) == 0
    with pytest.raises(SqlExtError, match=r"RUN-066.*partition 0, offset 3: it does not begin with the number"):
        work.run("SELECT * FROM t;")
