"""Records of Kafka that this process makes, beside those that Spark makes of the same rows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from connectors.tables import table
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from sqlext.connectors.kafka.local_sink import LocalKafka, local_kafka, local_upserts
from sqlext.connectors.kafka.sink import KafkaSink, UpsertKafkaSink
from sqlext.connectors.registry import connector_of
from sqlext.plan.nodes import EXISTS, KIND
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.sinks.base import SinkContext
from sqlext.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP3,
    TIMESTAMP_LTZ3,
    TINYINT,
    LogicalType,
    decimal,
)
from sqlext_catalog.model import Table
from sqlext_udfs.kernel.spark_hash import hash_of_bytes

_INSTANT, _WALL = pa.timestamp("us", "UTC"), pa.timestamp("us")
_AT = [dt.datetime(2024, 1, 1, 8, 0, 30, 500_000), dt.datetime(1969, 12, 31, 23, 59, 59, 1), None]
#: Column -> its type, and what stands in it.
_COLUMNS: dict[str, tuple[LogicalType, pa.Array]] = {
    "k": (STRING, pa.array(["a", 'q"\\\n\x01\x7f é 😀 </', ""])),
    "yes": (BOOLEAN, pa.array([True, False, None])),
    "t": (TINYINT, pa.array([-128, 127, None], pa.int8())),
    "s": (SMALLINT, pa.array([-32768, 32767, None], pa.int16())),
    "i": (INT, pa.array([-(2**31), 2**31 - 1, None], pa.int32())),
    "n": (BIGINT, pa.array([-(2**63), 2**63 - 1, None], pa.int64())),
    "f": (FLOAT, pa.array([1.1, 1e10, float("nan")], pa.float32())),
    "d": (DOUBLE, pa.array([0.1, -1e300, float("inf")], pa.float64())),
    "p": (decimal(20, 2), pa.array([Decimal("0.01"), Decimal("-123456789012345678.90"), None], pa.decimal128(20, 2))),
    "day": (DATE, pa.array([dt.date(2024, 2, 29), dt.date(1, 1, 1), None])),
    "wall": (TIMESTAMP3, pa.array(_AT, _WALL)),
    "at": (TIMESTAMP_LTZ3, pa.array(_AT, _WALL).cast(_INSTANT)),
    "b": (BYTES, pa.array([b"\x00\xff", b"", None])),
}
_WHERE = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "b:1"}
_UPSERT = {**_WHERE, "connector": "upsert-kafka", "key.format": "json", "value.format": "json"}
_KEYED = {"key.format": "json", "key.fields": "k;n", "value.fields-include": "EXCEPT_KEY"}


def _rows(*names: str) -> tuple[dict[str, LogicalType], pa.Table]:
    wanted = names or tuple(_COLUMNS)
    return {n: _COLUMNS[n][0] for n in wanted}, pa.table({n: _COLUMNS[n][1] for n in wanted})


def _local(of: Table, rows: pa.Table, context: SinkContext) -> LocalKafka:
    make = local_upserts if of.option("connector") == "upsert-kafka" else local_kafka
    sink = make(connector_of(of).write_spec(of), context, rows.schema)
    assert isinstance(sink, LocalKafka)
    sink.require()
    return sink


def _both(
    spark: SparkSession, of: Table, rows: pa.Table, context: SinkContext
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the records of both engines, each in an order of its own."""
    connector_of(of).validate(of, "sink")
    kind = UpsertKafkaSink if of.option("connector") == "upsert-kafka" else KafkaSink
    frame = spark.createDataFrame(rows)
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if column.type == _WALL:  # Spark reads each of Arrow's times as an instant of the session's zone
            frame = frame.withColumn(name, f.col(name).cast("timestamp_ntz"))
    made = kind(connector_of(of).write_spec(of), context).records(frame).collect()
    here = _local(of, rows, context).records(rows).to_pylist()
    return sorted((_plain(row.asDict()) for row in made), key=repr), sorted(map(_plain, here), key=repr)


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    return {name: bytes(v) if isinstance(v, bytearray) else v for name, v in sorted(record.items())}


@pytest.mark.parametrize(
    "more",
    [
        {"value.format": "json"},
        {"value.format": "json", "value.json.encode.ignore-null-fields": "true"},
        {"value.format": "json", "value.json.timestamp-format.standard": "ISO-8601", **_KEYED},
        {"value.format": "debezium-json", **_KEYED},
        {"value.format": "ogg-json"},
        {"value.format": "maxwell-json"},
    ],
    ids=str,
)
def test_records_of_all_types(zoned: SparkSession, more: dict[str, str]) -> None:
    zone = zoned.conf.get("spark.sql.session.timeZone") or ""
    columns, rows = _rows()
    context = SinkContext("q", "1", zone=zone)
    on_spark, here = _both(zoned, table(columns, _WHERE | more), rows, context)
    assert here == on_spark


@pytest.mark.parametrize("column", ["k", "b"])
def test_raw_records(session: SparkSession, column: str) -> None:
    columns, rows = _rows(column)
    on_spark, here = _both(session, table(columns, _WHERE | {"value.format": "raw"}), rows, SinkContext("q", "1"))
    assert here == on_spark


def test_changes_of_rows(session: SparkSession) -> None:
    columns, rows = _rows("k", "n")
    changed = rows.append_column(KIND, pa.array([0, 1, 3], pa.int8()))
    context = SinkContext("q", "1", kind=KIND)
    on_spark, here = _both(session, table(columns, _WHERE | {"value.format": "debezium-json"}), changed, context)
    assert here == on_spark
    assert [r["value"].endswith('"op":"d"}') for r in here].count(True) == 2


def test_the_last_row_of_each_key(session: SparkSession) -> None:
    """Updated, gone, taken back and added again under a key that is not the query's."""
    columns = {"k": STRING, "n": BIGINT}
    of = table(columns, _UPSERT, primary_key=("k",))
    rows = pa.table({"k": ["a", "a", "b", "c", "c"], "n": [1, 2, 3, 4, 5], EXISTS: [True, True, False, True, False]})
    by_exists = SinkContext("q", "1", mode="upsert", keys=("n",), exists=EXISTS)
    on_spark, here = _both(session, of, rows, by_exists)
    assert here == on_spark
    assert [r["value"] for r in here] == ['{"k":"a","n":2}', None, '{"k":"c","n":4}']
    kinds = pa.array([0, 1, 1, 0, 0], pa.int8())
    changes = rows.drop_columns([EXISTS]).append_column(KIND, kinds)
    on_spark, here = _both(session, of, changes, SinkContext("q", "1", mode="upsert", kind=KIND))
    assert here == on_spark


def test_rows_spread_as_on_spark(session: SparkSession) -> None:
    texts = ["", "a", "ab", "abc", "abcd", "é😀x", "a longer key: 1234567890"]
    rows = session.createDataFrame([(t,) for t in texts], "t STRING").selectExpr("t", "hash(t) AS h", "hash(NULL) AS n")
    assert {r["t"]: r["h"] for r in rows.collect()} == {t: hash_of_bytes(t.encode()) for t in texts}
    assert {r["n"] for r in rows.collect()} == {42}


@pytest.mark.parametrize(
    ("name", "more", "why"),
    [
        ("k", {"value.format": "csv"}, "format 'csv'"),
        ("k", {"value.format": "avro"}, "format 'avro'"),
        ("n", {"value.format": "raw"}, "unhex"),
        ("k", {"value.format": "json", "properties.max.block.ms": "1"}, "'max.block.ms'"),
        ("k", {"value.format": "json", "properties.ssl.protocol": "TLS"}, 'property: "ssl.protocol"'),
        ("k", {"value.format": "canal-json"}, "ARRAY"),
    ],
)
def test_what_spark_alone_writes(name: str, more: dict[str, str], why: str) -> None:
    columns, rows = _rows(name)
    with pytest.raises(Unsuited, match=f"(?i){why}"):
        _local(table(columns, _WHERE | more), rows, SinkContext("q", "1"))
