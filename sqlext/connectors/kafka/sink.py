"""Write records to Kafka, at least once: a batch that is run again sends its records again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.connectors.formats import csv, json
from sqlext.connectors.formats.avro import AvroFormat, avro_schema, encoded_record
from sqlext.connectors.formats.avro_confluent import framed_record, registers, registry_option, registry_settings
from sqlext.connectors.formats.base import ReadField
from sqlext.connectors.formats.changelog import CHANGELOG_FORMATS
from sqlext.connectors.formats.schema_registry import schema_number
from sqlext.connectors.kafka.options import AVRO_FORMATS, key_names, part_options
from sqlext.connectors.kafka.spark_options import connection_options
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.quoting import identifier, string
from sqlext.sinks.base import Sink, SinkContext, refuse_mode
from sqlext.sinks.encoding import encode_column, message_fields, message_options
from sqlext.sinks.last_rows import existence, one_row_per_key
from sqlext.spark.packages import require_avro

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class KafkaSink(Sink):
    """A record per row: key and value by their formats, headers from a metadata column."""

    spec: WriteSpec
    context: SinkContext

    def open(self, spark: SparkSession) -> None:
        """Refuse what Kafka's records cannot hold."""
        refuse_mode(self.spec, self.context, "append")
        self._require(spark)

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Send the rows of a batch."""
        self._send(df, self.record())

    def _require(self, spark: SparkSession) -> None:
        """Check that records can be made."""
        self.record()
        if {self.spec.format, self.spec.option("key.format")} & set(AVRO_FORMATS):
            require_avro(spark)

    def _send(self, rows: DataFrame, record: dict[str, str]) -> None:
        from sqlext_catalog.secrets import resolve_options

        # Resolved here: what is pickled or printed has references to secrets only.
        options = resolve_options(connection_options(self.spec.options))
        records = rows.selectExpr(*(f"{e} AS {identifier(n)}" for n, e in record.items()))
        records.write.format("kafka").options(**options).option("topic", self.spec.option("topic")).save()

    def record(self) -> dict[str, str]:
        """Return the fields of a record as SQL over the rows."""
        keys = key_names(self.spec.options)
        physical = [c for c in self.spec.columns if c.metadata_key is None]
        without_keys = self.spec.option("value.fields-include", "ALL").upper() == "EXCEPT_KEY"
        values = [c for c in physical if not (without_keys and c.name in keys)]
        record = {"value": self._part("value", values, "")}
        if keys:
            prefix = self.spec.option("key.fields-prefix")
            record["key"] = self._part("key", [c for c in physical if c.name in keys], prefix)
        for column in self.spec.columns:
            if column.metadata_key == "headers":
                # Spark's column is an array of keys and values, as a record may have a key twice.
                record["headers"] = f"map_entries({identifier(column.name)})"
        return record

    def _part(self, part: str, columns: list[WriteColumn], prefix: str) -> str:
        form = self.spec.option("key.format") if part == "key" else self.spec.format or ""
        if form == "raw":
            return f"CAST({identifier(columns[0].name)} AS BINARY)"
        own = part_options(self.spec.options, part)
        options = dict(AVRO_FORMATS[form].plain(own)) if form in AVRO_FORMATS else own
        if form in CHANGELOG_FORMATS:
            fields = message_fields(CHANGELOG_FORMATS[form], columns, options, self.context)
            return _to_json(fields, message_options(CHANGELOG_FORMATS[form], options))
        held = AvroFormat.name if form in AVRO_FORMATS else form
        values = (
            f"{string(c.name[len(prefix) :])}, {encode_column(c, held, options, self.context.zone)}" for c in columns
        )
        struct = f"named_struct({', '.join(values)})"
        if form in AVRO_FORMATS:
            named = tuple(ReadField(c.name[len(prefix) :], c.type) for c in columns)
            return self._avro(part, struct, avro_schema(named, options), own)
        settings = csv.writer_options(options) if form == "csv" else json.writer_options(options)
        pairs = ", ".join(f"{string(k)}, {string(v)}" for k, v in settings)
        return f"to_{form}({struct}, map({pairs}))"

    def _avro(self, part: str, struct: str, schema: str, options: dict[str, str]) -> str:
        """Return SQL of a record of Avro, behind the number of its schema where a registry has it."""
        settings = registry_settings(options)
        if not settings:
            return encoded_record(struct, schema)
        from sqlext_catalog.secrets import resolve_options

        schema = registry_option(options, "schema") or schema
        subject = registry_option(options, "subject") or f"{self.spec.option('topic')}-{part}"
        resolved = tuple(sorted(resolve_options(settings).items()))
        return framed_record(struct, schema_number(resolved, subject, schema, registers=registers(options)), schema)


class UpsertKafkaSink(KafkaSink):
    """A record per key and batch: its last row, or no value if that is gone. Sent again they say the same."""

    def open(self, spark: SparkSession) -> None:
        """Refuse what Kafka's records cannot hold."""
        refuse_mode(self.spec, self.context, "upsert")
        self._require(spark)

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Send the last row of every key."""
        there, record = existence(self.context), self.record()
        if there is not None:
            record["value"] = f"CASE WHEN {identifier(there)} THEN {record['value']} END"
        columns = [*(c.name for c in self.spec.columns), self.context.exists, self.context.kind]
        rows = df.select(*(identifier(c) for c in columns if c is not None))
        self._send(one_row_per_key(rows, self.spec.primary_key, self.context), record)


def _to_json(fields: dict[str, str], settings: dict[str, str]) -> str:
    values = ", ".join(f"{string(n)}, {e}" for n, e in fields.items())
    return (
        f"to_json(named_struct({values}), map({', '.join(f'{string(k)}, {string(v)}' for k, v in settings.items())}))"
    )
