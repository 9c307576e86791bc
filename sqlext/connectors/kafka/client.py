"""A Kafka table as our own reader takes it (``consumer``): its client's settings, where it begins."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.connectors.base import OwnSource, metadata_columns, metadata_key
from sqlext.connectors.kafka.options import parsed_offsets
from sqlext.connectors.kafka.positions import connection_options
from sqlext_catalog.model import Options, Table
from sqlext_catalog.secrets import resolve_options

if TYPE_CHECKING:
    from sqlext.connectors.kafka.consumer import KafkaReader, Start
    from sqlext.connectors.kafka.rows import KafkaRows
    from sqlext.connectors.splits import Limit

#: Settings of Java's client that librdkafka has not, and that say nothing about what is read.
_JAVAS_OWN = (
    "key.deserializer",
    "value.deserializer",
    "client.dns.lookup",
    "max.poll.records",
    "partition.discovery.interval.ms",
    "receive.buffer.bytes",
    "send.buffer.bytes",
    "default.api.timeout.ms",
    "request.timeout.ms",
)
#: Settings whose meaning is Java's alone: such a table is read by Spark.
_JAVA_ONLY = ("sasl.jaas.config", "sasl.client.callback.handler.class", "ssl.truststore.", "ssl.keystore.type")
#: Rows of a micro-batch where alignment holds sources back: it can only do so between two of them.
ALIGNED_ROWS = 100_000


def why_not(table: Table) -> str:
    """Return why our own reader cannot read a table, empty if it can."""
    if find_spec("confluent_kafka") is None:
        return "confluent-kafka is not installed (the extra `kafka`)"
    foreign = next((k for k, _ in _client_options(table) if k.startswith(_JAVA_ONLY)), None)
    return f"'{foreign}' is for Java's client alone" if foreign else ""


def kafka_source(table: Table, state: Path | None) -> OwnSource:
    """Return a table's records; ``state`` is a folder of the query."""
    from sqlext.connectors.kafka.rows import RawRows

    headers = any(metadata_key(c) == "headers" for c in metadata_columns(table))
    reader = kafka_reader(table, RawRows(headers), state)
    return OwnSource(reader, reader.schema, kafka_limit(table))


def kafka_reader(table: Table, rows: KafkaRows, state: Path | None) -> KafkaReader:
    """Return the reader of a table's topics, given what becomes of messages; ``state`` is a folder of the query."""
    from sqlext.connectors.kafka.consumer import KafkaReader

    config = resolve_options(_client_options(table))
    topic, pattern = table.option("topic"), table.option("topic-pattern")
    return KafkaReader(
        tuple(sorted((k, v) for k, v in config.items() if k not in _JAVAS_OWN)),
        tuple(t.strip() for t in topic.split(";")) if topic is not None else (),
        pattern,
        _start(table),
        state,
        rows,
    )


def kafka_limit(table: Table) -> Limit | None:
    """Return the most rows of a micro-batch; None where it takes what there is."""
    from sqlext.connectors.splits import Limit

    most = table.option("maxOffsetsPerTrigger")
    if most is None and table.option("scan.watermark.alignment.group") is None:
        return None
    return Limit("rows", int(most) if most is not None else ALIGNED_ROWS)


def _client_options(table: Table) -> Options:
    return tuple((k.removeprefix("kafka."), v) for k, v in connection_options(table.options))


def _start(table: Table) -> Start:
    from sqlext.connectors.kafka.consumer import Start

    mode = (table.option("scan.startup.mode") or "group-offsets").lower()
    if mode == "timestamp":
        return Start("timestamp", timestamp=int(table.option("scan.startup.timestamp-millis") or 0))
    if mode == "specific-offsets":
        offsets = parsed_offsets(table, "scan.startup.specific-offsets")
        return Start("offsets", offsets={int(p): o for p, o in offsets.items()})
    if mode == "group-offsets":
        mode = table.option("properties.auto.offset.reset") or "earliest"
    return Start("latest" if mode.startswith("latest") else "earliest")
