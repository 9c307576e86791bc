"""Write records to Kafka: by Spark at least once, or by transactions exactly once.

By Spark, a batch that is run again sends its records again. ``transactions`` has the other way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlext.connectors.formats import csv, json
from sqlext.connectors.formats.avro import AvroFormat, avro_schema, encoded_record
from sqlext.connectors.formats.avro_confluent import (
    AvroConfluentFormat,
    framed_record,
    registers,
    registry_option,
    registry_settings,
)
from sqlext.connectors.formats.base import ReadField
from sqlext.connectors.formats.changelog import CHANGELOG_FORMATS, ChangelogFormat
from sqlext.connectors.formats.debezium_avro import record_fields, registry_options
from sqlext.connectors.formats.raw import raw_message
from sqlext.connectors.formats.schema_registry import schema_number
from sqlext.connectors.kafka.client import client_settings
from sqlext.connectors.kafka.guarantee import exactly_once, transactional_name, writers
from sqlext.connectors.kafka.messages import Message, TextMessage, struct
from sqlext.connectors.kafka.options import AVRO_FORMATS, key_names, part_options
from sqlext.connectors.kafka.sizes import largest, size
from sqlext.connectors.kafka.spark_options import connection_options
from sqlext.connectors.kafka.transactions import Transactions
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.quoting import identifier
from sqlext.sinks.base import RefusedRow, Sink, SinkContext, SparkStream, refuse_mode, row_text
from sqlext.sinks.encoding import encode_column, message_fields, message_options
from sqlext.sinks.last_rows import existence, one_row_per_key
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.spark.packages import require_avro
from sqlext.spark.workers.ready import require_python
from sqlext_catalog.secrets import resolve_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The row as JSON, beside the fields of its record.
_TEXT = "__text"


@dataclass(frozen=True)
class KafkaSink(Sink):
    """A record per row: key and value by their formats, headers from a metadata column."""

    spec: WriteSpec
    context: SinkContext

    @property
    def single_pass(self) -> bool:
        """One job sends all rows."""
        return True

    def require(self, spark: SparkSession) -> None:
        """Refuse what Kafka's records cannot hold."""
        refuse_mode(self.spec, self.context, "append")
        self._require(spark)

    def open(self, spark: SparkSession) -> None:
        """Refuse as ``require``; the broker has the topic."""
        self.require(spark)

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Send the rows of a batch; exactly once only those that are not there."""
        self._send(self.records(df), batch_id, repeated=True)

    def write_new(self, df: DataFrame, batch_id: int) -> None:
        """Send the rows of a batch that was never begun."""
        self._send(self.records(df), batch_id, repeated=False)

    def take(self, df: DataFrame, batch_id: int, limit: LetterLimit, *, new: bool) -> Sequence[RefusedRow]:
        """Send the rows of a batch but for those whose records are too large; see ``Sink.take``."""
        if not self.context.refusals:
            return super().take(df, batch_id, limit, new=new)
        records = self.records(df)
        bytes_, (option, most) = size(records.columns, self.spec.options), largest(self.spec.options)
        large = records.where(f"{bytes_} > {most}").selectExpr(f"{_TEXT} AS text", f"{bytes_} AS bytes").collect()
        # A copy: the query counts them when the batch is in.
        replace(limit).refuse(len(large), self.context.query)
        self._send(records.where(f"{bytes_} <= {most}"), batch_id, repeated=not new)
        said = f"of topic `{self.spec.option('topic')}`, and '{option}' is {most}"
        return tuple(RefusedRow(row["text"], "RUN-077", f"the record has {row['bytes']} bytes {said}") for row in large)

    def stream(self, rows: DataFrame) -> SparkStream | None:
        """Return the records for Spark's own sink, which sends each at least once."""
        if exactly_once(self.spec.options):
            return None
        options = {**resolve_options(connection_options(self.spec.options)), "topic": self.spec.option("topic")}
        return SparkStream(self.records(rows).drop(_TEXT), "kafka", options)

    def records(self, df: DataFrame) -> DataFrame:
        """Return the records of rows."""
        return _selected(df, self._told())

    def _told(self) -> dict[str, str]:
        """Return the fields of a record, and the row as JSON where refused ones are told of."""
        text = {_TEXT: row_text(self.spec, self.context.zone)} if self.context.refusals else {}
        return {**self.record(), **text}

    def _require(self, spark: SparkSession) -> None:
        """Check that records can be made."""
        self.record()
        formats = {self.spec.format, self.spec.option("key.format")}
        if formats & set(AVRO_FORMATS) or any(f.avro for name, f in CHANGELOG_FORMATS.items() if name in formats):
            require_avro(spark)
        if exactly_once(self.spec.options):
            require_python(spark)

    def _send(self, records: DataFrame, batch_id: int, *, repeated: bool) -> None:
        # Secrets are resolved here, where the query runs: what is pickled or printed before has references only.
        options, topic, records = self.spec.options, self.spec.option("topic"), records.drop(_TEXT)
        if exactly_once(options):
            name = transactional_name(options, self.context.identity)
            _commit(records, Transactions(client_settings(options), topic, name), batch_id, writers(options), repeated)
        else:
            connection = resolve_options(connection_options(options))
            records.write.format("kafka").options(**connection).option("topic", topic).save()

    def record(self) -> dict[str, str]:
        """Return the fields of a record as SQL over the rows."""
        return {name: made if isinstance(made, str) else made.sql for name, made in self.messages().items()}

    def messages(self) -> dict[str, Message]:
        """Return what the fields of a record hold."""
        keys = key_names(self.spec.options)
        physical = [c for c in self.spec.columns if c.metadata_key is None]
        without_keys = self.spec.option("value.fields-include", "ALL").upper() == "EXCEPT_KEY"
        values = [c for c in physical if not (without_keys and c.name in keys)]
        record: dict[str, Message] = {"value": self._part("value", values, "")}
        if keys:
            prefix = self.spec.option("key.fields-prefix")
            record["key"] = self._part("key", [c for c in physical if c.name in keys], prefix)
        for column in self.spec.columns:
            if column.metadata_key == "headers":
                # Spark's column is an array of keys and values, as a record may have a key twice.
                record["headers"] = f"map_entries({identifier(column.name)})"
        return record

    def _part(self, part: str, columns: list[WriteColumn], prefix: str) -> Message:
        form = self.spec.option("key.format") if part == "key" else self.spec.format or ""
        own = part_options(self.spec.options, part)
        if form == "raw":
            return raw_message(columns[0].type, identifier(columns[0].name), own)
        options = dict(AVRO_FORMATS[form].plain(own)) if form in AVRO_FORMATS else own
        if form in CHANGELOG_FORMATS:
            return self._changes(CHANGELOG_FORMATS[form], part, columns, own)
        held = AvroFormat.name if form in AVRO_FORMATS else form
        values = {c.name[len(prefix) :]: encode_column(c, held, options, self.context.zone) for c in columns}
        if form in AVRO_FORMATS:
            named = tuple(ReadField(c.name[len(prefix) :], c.type) for c in columns)
            return self._avro(part, struct(values), avro_schema(named, options), own)
        settings = csv.writer_options(options) if form == "csv" else json.writer_options(options)
        return TextMessage(form, values, dict(settings))

    def _changes(
        self, form: ChangelogFormat, part: str, columns: list[WriteColumn], options: dict[str, str]
    ) -> Message:
        """Return a message that tells of a change."""
        if not form.avro:
            fields = message_fields(form, columns, options, self.context)
            return TextMessage("json", fields, message_options(form, options))
        own = registry_options(options)
        plain = AVRO_FORMATS[AvroConfluentFormat.name].plain(own)
        record = record_fields(tuple(ReadField(c.name, c.type) for c in columns), form.op)
        fields = message_fields(form, columns, plain, self.context)
        return self._avro(part, struct(fields), avro_schema(record, plain), own)

    def _avro(self, part: str, row: str, schema: str, options: dict[str, str]) -> str:
        """Return SQL of a record of Avro, behind the number of its schema where a registry has it."""
        settings = registry_settings(options)
        if not settings:
            return encoded_record(row, schema)
        from sqlext_catalog.secrets import resolve_options

        schema = registry_option(options, "schema") or schema
        subject = registry_option(options, "subject") or f"{self.spec.option('topic')}-{part}"
        resolved = tuple(sorted(resolve_options(settings).items()))
        return framed_record(row, schema_number(resolved, subject, schema, registers=registers(options)), schema)


class UpsertKafkaSink(KafkaSink):
    """A record per key and batch: its last row, or no value if that is gone. Sent again they say the same."""

    def require(self, spark: SparkSession) -> None:
        """Refuse what Kafka's records cannot hold."""
        refuse_mode(self.spec, self.context, "upsert")
        self._require(spark)

    def records(self, df: DataFrame) -> DataFrame:
        """Return a record for the last row of every key."""
        there, record = existence(self.context), self._told()
        if there is not None:
            record["value"] = f"CASE WHEN {identifier(there)} THEN {record['value']} END"
        columns = [*(c.name for c in self.spec.columns), self.context.exists, self.context.kind]
        rows = df.select(*(identifier(c) for c in columns if c is not None))
        return _selected(one_row_per_key(rows, self.spec.primary_key, self.context), record)


@dataclass(frozen=True)
class _Work:
    """Sends the records of a partition in a worker of Spark's, in a transaction."""

    transactions: Transactions
    batch_id: int
    writers: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        written = self.transactions.write(task.partitionId(), self.writers, batches, self.batch_id)
        yield pa.record_batch([pa.array([written], pa.int64())], ["written"])


def _commit(records: DataFrame, transactions: Transactions, batch_id: int, wanted: int, repeated: bool) -> None:
    """Send a batch by transactions. Records of a key, or without one of a value, have the same writer each time."""
    count = transactions.writers(batch_id, wanted) if repeated else wanted
    by = "key" if "key" in records.columns else "value"
    spread = records.repartition(count, by) if count > 1 else records.repartition(1)
    spread.mapInArrow(_Work(transactions, batch_id, count), "written BIGINT").collect()


def _selected(rows: DataFrame, record: Mapping[str, str]) -> DataFrame:
    return rows.selectExpr(*(f"{expression} AS {identifier(name)}" for name, expression in record.items()))
