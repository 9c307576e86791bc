"""Write records to Kafka without Spark: the bytes, the guarantees and the identities of ``sink``.

Transactions have the names and numbers that Spark's have, so either finds what the other has committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from sqlext.connectors.formats.changelog import JSON_CHANGELOG_FORMATS
from sqlext.connectors.kafka.at_least_once import Sender, why_no_sender
from sqlext.connectors.kafka.client import client_settings, why_no_client
from sqlext.connectors.kafka.guarantee import exactly_once, transactional_name, writers
from sqlext.connectors.kafka.messages import Message
from sqlext.connectors.kafka.sink import KafkaSink, UpsertKafkaSink
from sqlext.connectors.kafka.transactions import OpenWriter, Transactions
from sqlext.connectors.spec import WriteSpec
from sqlext.plan.nodes import EXISTS
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.sinks.base import Mode, SinkContext, refuse_mode
from sqlext.sinks.json_lines import can_be_json, json_texts
from sqlext.sinks.last_rows import existence
from sqlext.sinks.local import LocalSink, made_of, selected
from sqlext.sinks.standing import last_of_keys
from sqlext.sources.queries import TableQuery
from sqlext_udfs.kernel.spark_hash import SEED, hash_of_bytes

#: The formats whose messages are made here.
_FORMATS = {"", "json", "raw", *JSON_CHANGELOG_FORMATS}


def local_kafka(spec: WriteSpec, context: SinkContext, schema: pa.Schema) -> LocalSink:
    """Return the sink of ``'connector' = 'kafka'``.

    Raises:
        Unsuited: for records that only Spark makes or sends.
    """
    return LocalKafka(spec, context, _parts(KafkaSink(spec, context), schema), _client(spec, context))


def local_upserts(spec: WriteSpec, context: SinkContext, schema: pa.Schema) -> LocalSink:
    """Return the sink of ``'connector' = 'upsert-kafka'``; raises as ``local_kafka``."""
    return LocalUpserts(spec, context, _parts(UpsertKafkaSink(spec, context), schema), _client(spec, context))


@dataclass(frozen=True)
class _Part:
    """How a field of a record is made of rows.

    Attributes:
        query: the fields of a text, or the field itself.
        json: whether it is a text of JSON.
        ignores_null: whether fields of that which are NULL are left out.
    """

    query: TableQuery
    json: bool = False
    ignores_null: bool = False

    def of(self, rows: pa.Table) -> pa.ChunkedArray:
        """Return the field of each row."""
        made = made_of(self.query, rows)
        return json_texts(made, ignores_null=self.ignores_null) if self.json else made.column(0)


class _Client(Protocol):
    """Hands records to the broker; columns ``value`` and, where it is wanted, ``key``."""

    def send(self, records: pa.Table, batch_id: int, *, repeated: bool) -> None:
        """Send the records of a batch; see ``LocalSink.write``."""


@dataclass(frozen=True)
class LocalKafka(LocalSink):
    """A record per row; see ``sink.KafkaSink``.

    Attributes:
        parts: the fields of a record.
        client: sends them; it is connected when the first batch is written.
    """

    spec: WriteSpec
    context: SinkContext
    parts: Mapping[str, _Part]
    client: _Client = field(compare=False)
    mode: Mode = "append"

    def require(self) -> None:
        """Refuse a mode in which records are not written."""
        refuse_mode(self.spec, self.context, self.mode)

    def open(self) -> None:
        """Refuse as ``require``; the broker has the topic."""
        self.require()

    def write(self, rows: pa.Table, batch_id: int, *, repeated: bool) -> None:
        """Send a batch; exactly once only what is not there."""
        self.client.send(self.records(rows), batch_id, repeated=repeated)

    def records(self, rows: pa.Table) -> pa.Table:
        """Return the records of rows."""
        return pa.table({name: part.of(rows) for name, part in self.parts.items()})


@dataclass(frozen=True)
class LocalUpserts(LocalKafka):
    """A record per key and batch; see ``sink.UpsertKafkaSink``."""

    mode: Mode = "upsert"

    def records(self, rows: pa.Table) -> pa.Table:
        """Return a record for the last row of every key; without a value if that is gone."""
        hidden = (self.context.exists, self.context.kind)
        columns = [*(c.name for c in self.spec.columns), *(c for c in hidden if c is not None)]
        last = last_of_keys(rows.select(columns), self.spec.primary_key, self.context)
        found = super().records(last)
        if existence(self.context) is None:
            return found
        at = found.column_names.index("value")
        there = pc.if_else(last[EXISTS], found["value"], pa.scalar(None, found["value"].type))
        return found.set_column(at, "value", there)


@dataclass(frozen=True)
class _AtLeastOnce:
    sender: Sender

    def send(self, records: pa.Table, batch_id: int, *, repeated: bool) -> None:
        self.sender.send(records.to_batches())


@dataclass
class _ExactlyOnce:
    """Sends a batch by transactions, whose producers stay open from batch to batch.

    Attributes:
        wanted: how many writers a new batch has.
        make: gives its transactions, with resolved secrets in them.
    """

    wanted: int
    make: Callable[[], Transactions]
    _open: dict[int, OpenWriter] = field(default_factory=dict)

    def send(self, records: pa.Table, batch_id: int, *, repeated: bool) -> None:
        transactions = self.make()
        count = transactions.writers(batch_id, self.wanted) if repeated else self.wanted
        if repeated:
            self._open.clear()  # who asked has shut them out
        for number, rows in enumerate(_spread(records, count)):
            # One that fails does not stay: the next one ends what it has left open.
            kept = self._open.pop(number, None)
            writer = kept if kept is not None and kept.is_fresh else transactions.opened(number)
            writer.write(count, rows.to_batches(), batch_id)
            self._open[number] = writer


def _parts(sink: KafkaSink, schema: pa.Schema) -> Mapping[str, _Part]:
    unknown = {sink.spec.format or "", sink.spec.option("key.format")} - _FORMATS
    # Asked first: a message of Avro may have to register its schema.
    if unknown:
        raise Unsuited(f"messages of format '{min(unknown)}' are made by Spark alone")
    return {name: _part(message, schema, sink.context.zone) for name, message in sink.messages().items()}


def _part(message: Message, schema: pa.Schema, zone: str) -> _Part:
    if isinstance(message, str):
        return _Part(selected({"field": message}, schema, zone))
    query = selected(message.fields, schema, zone)
    if not query.columns or not all(can_be_json(of) for _, of in query.columns):
        raise Unsuited("values that only Spark writes as JSON")
    return _Part(query, json=True, ignores_null=message.settings["ignoreNullFields"] == "true")


def _client(spec: WriteSpec, context: SinkContext) -> _Client:
    options, topic = spec.options, spec.option("topic")
    once = exactly_once(options)
    why_not = why_no_client(options) or ("" if once else why_no_sender(options))
    if why_not:
        raise Unsuited(f"Kafka's client in this process: {why_not}")
    if not once:
        return _AtLeastOnce(Sender(options, topic))
    name = transactional_name(options, context.identity)
    return _ExactlyOnce(writers(options), lambda: Transactions(client_settings(options), topic, name))


def _spread(records: pa.Table, count: int) -> Iterator[pa.Table]:
    """Yield the records of each writer, as Spark's ``repartition`` spreads them: by key, or without one by value."""
    if count == 1:
        yield records
        return
    by = records["key" if "key" in records.column_names else "value"].cast(pa.binary()).to_pylist()
    writer = pa.array([(SEED if data is None else hash_of_bytes(data)) % count for data in by], pa.int64())
    for number in range(count):
        yield records.filter(pc.equal(writer, number))
