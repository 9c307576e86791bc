"""Read tables of connector ``kafka`` by our own client: their records, or rows that Arrow decodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import pyarrow as pa

from sqlext.connectors.base import declared_type, is_instant, metadata_columns, metadata_key, physical_fields
from sqlext.connectors.formats.avro import avro_schema, written_as
from sqlext.connectors.formats.avro_confluent import AvroConfluentFormat, registry_settings
from sqlext.connectors.formats.base import ReadField
from sqlext.connectors.kafka.client import client_settings, why_no_client
from sqlext.connectors.kafka.options import (
    AVRO_FORMATS,
    avro_parts,
    has_registry,
    key_fields,
    parsed_offsets,
    part_options,
    value_format,
)
from sqlext.connectors.kafka.reader.consumer import KafkaReader, KafkaStart
from sqlext.connectors.kafka.reader.places import offsets_of
from sqlext.connectors.kafka.reader.rows import METADATA, KafkaRows, RawRows, ValueRows
from sqlext.connectors.kafka.spark_options import end_filters
from sqlext.connectors.kafka.upsert import keyed
from sqlext.connectors.options import OptionError
from sqlext.connectors.readers import FilePlace, OwnSource, Unread
from sqlext.connectors.splits import Limit, SplitReader
from sqlext.sources.arrow_types import arrow_type, json_type
from sqlext.sources.decoding.avro_messages import KINDS, AvroField, AvroValues
from sqlext.sources.decoding.registry_avro import FromRegistry, RegistryValues
from sqlext.sources.decoding.text_messages import CsvValues, JsonValues, MessageValues
from sqlext.sources.table_decoders import csv_decoder, json_fields
from sqlext.stores.location import Location
from sqlext_catalog.model import Column, Table
from sqlext_catalog.secrets import resolve_options

#: Rows of a micro-batch where alignment holds sources back: it can only do so between two of them.
ALIGNED_ROWS = 100_000
# A column that no table has.
_OFFSET = "__offset"


class KafkaTables:
    """The ``TableReader`` of topics: raw records, which SQL takes apart, or the rows that their values hold."""

    def why_not(self, table: Table) -> str:
        """Return why its records are not read, empty if they are."""
        return why_no_client(table.options)

    def source(self, table: Table, state: Location | None, tasks: int) -> OwnSource:
        """Return the table's records; see ``TableReader.source``."""
        headers = any(metadata_key(c) == "headers" for c in metadata_columns(table))
        if reason := why_no_client(table.options) if has_registry(table) else "":
            # Spark's connector gives the other tables' records, and not this one's.
            raise OptionError("OPT-033", f"`{table.name.name}` cannot be read: {reason}", option="connector")
        reader = _reader(table, RawRows(headers, _from_registry(table, "key"), _from_registry(table, "value")), state)
        return OwnSource(reader, reader.schema, self.limit(table))

    def require(self, table: Table) -> None:
        """Check that rows can be decoded; see ``TableReader.require``."""
        if reason := why_no_client(table.options):
            raise Unread(reason)
        if value_format(table) not in _FORMS:
            raise Unread(f"values of format '{value_format(table)}' have no Arrow reader")
        if key_fields(table):
            raise Unread("it has columns in the keys of its records")
        # Rows behind the end are filtered out in SQL, which decoded rows do not pass.
        if end_filters(table):
            raise Unread("its end is no place that is known when it begins")
        # Called for its refusals alone.
        _values(table, ())

    def column(self, table: Table, column: Column) -> pa.DataType:
        """Return the type of a column; see ``TableReader.column``."""
        declared = declared_type(column)
        if column.kind == "metadata":
            own = METADATA.get(metadata_key(column))
            if own is None or own != arrow_type(declared):
                raise Unread(f"column `{column.name}` is made of the metadata '{metadata_key(column)}'")
            return own
        found = _FORMS[value_format(table)].type_of(declared, instant=is_instant(table, column))
        if found is None:
            raise Unread(f"column `{column.name}` is of type {declared}")
        return found

    def reader(self, table: Table, needed: Sequence[str], state: Location, tasks: int) -> KafkaReader:
        """Return what reads some columns of a table; see ``TableReader.reader``."""
        metadata = tuple((c.name, metadata_key(c)) for c in metadata_columns(table) if c.name in needed)
        return _reader(table, ValueRows(_values(table, needed), metadata), state)

    def limit(self, table: Table) -> Limit | None:
        """Return the most rows of a micro-batch; None where it takes what there is."""
        most = table.option("maxOffsetsPerTrigger")
        if most is None and table.option("scan.watermark.alignment.group") is None:
            return None
        return Limit("rows", int(most) if most is not None else ALIGNED_ROWS)

    def history(self, table: Table) -> Table:
        """Return the table itself: where it begins and ends, its options say."""
        return table

    def arrived(self, table: Table) -> Mapping[str, int]:
        """Return nothing: partitions are no files."""
        return {}

    def places(self, table: Table) -> Mapping[str, FilePlace]:
        """Return nothing, as ``arrived``."""
        return {}

    def reached(self, offset: Mapping[str, object]) -> Mapping[str, int]:
        """Return the offsets of partitions: as we write them, or by topic as Spark does."""
        return offsets_of(offset)

    def numbering(self, reader: SplitReader) -> tuple[SplitReader, str] | None:
        """Return what gives the offset of each row too; see ``TableReader.numbering``."""
        assert isinstance(reader, KafkaReader)
        if not isinstance(reader.rows, ValueRows):
            return None
        rows = replace(reader.rows, metadata=(*reader.rows.metadata, (_OFFSET, "offset")))
        return replace(reader, rows=rows), _OFFSET


class UpsertTables(KafkaTables):
    """The ``TableReader`` of topics that hold current rows."""

    def source(self, table: Table, state: Location | None, tasks: int) -> OwnSource:
        """Return the table's records; see ``TableReader.source``."""
        return super().source(keyed(table), state, tasks)


def _reader(table: Table, rows: KafkaRows, state: Location | None) -> KafkaReader:
    """Return the reader of a table's topics, given what becomes of messages; ``state`` is a folder of the query."""
    topic, pattern = table.option("topic"), table.option("topic-pattern")
    topics = tuple(t.strip() for t in topic.split(";")) if topic is not None else ()
    return KafkaReader(client_settings(table.options), topics, pattern, _start(table), state, rows)


def _start(table: Table) -> KafkaStart:
    mode = (table.option("scan.startup.mode") or "group-offsets").lower()
    if mode == "timestamp":
        return KafkaStart("timestamp", timestamp=int(table.option("scan.startup.timestamp-millis") or 0))
    if mode == "specific-offsets":
        offsets = parsed_offsets(table, "scan.startup.specific-offsets")
        return KafkaStart("offsets", offsets={int(p): o for p, o in offsets.items()})
    if mode == "group-offsets":
        mode = table.option("properties.auto.offset.reset") or "earliest"
    return KafkaStart("latest" if mode.startswith("latest") else "earliest")


def _values(table: Table, needed: Sequence[str]) -> MessageValues:
    return _FORMS[value_format(table)].values(table, needed, part_options(table.options, "value"))


def _json(table: Table, needed: Sequence[str], options: Mapping[str, str]) -> MessageValues:
    return JsonValues(json_fields(table, needed, options))


def _csv(table: Table, needed: Sequence[str], options: Mapping[str, str]) -> MessageValues:
    return CsvValues(csv_decoder(table, needed, options))


def _avro(table: Table, needed: Sequence[str], options: Mapping[str, str]) -> MessageValues:
    return AvroValues(tuple(_avro_field(f, f.name in needed, options) for f in physical_fields(table)))


def _avro_of_registry(table: Table, needed: Sequence[str], options: Mapping[str, str]) -> MessageValues:
    source = _from_registry(table, "value")
    assert source is not None
    return RegistryValues(source, _avro(table, needed, AVRO_FORMATS[AvroConfluentFormat.name].plain(options)))


def _from_registry(table: Table, part: Literal["key", "value"]) -> FromRegistry | None:
    """Return what makes records of the table's schema of a part's values; None where they are no registry's."""
    found = avro_parts(table).get(part)
    if found is None or not found.registry:
        return None
    settings = resolve_options(registry_settings(found.options))
    schema = avro_schema(found.record, found.form.plain(found.options))
    return FromRegistry(tuple(sorted(settings.items())), schema)


def _avro_field(field: ReadField, needed: bool, options: Mapping[str, str]) -> AvroField:
    written, meaning = written_as(field.type, options)
    # Avro writes both as a length and bytes.
    kind = "bytes" if written == "string" else written
    if kind not in KINDS:
        raise Unread(f"column `{field.name}` is of type {field.type}")
    read = arrow_type(field.type, instant=field.instant) if needed else None
    return AvroField(field.name, kind, field.type.nullable, read, 1000 if meaning.endswith("millis") else 1)


class _Form(NamedTuple):
    """A format of values.

    Attributes:
        type_of: the type as which a column is read, None for one that is not read exactly as by Spark.
        values: how the values of a table are read, for the columns that are looked at, by the format's options;
            raises ``Unread`` for options that Spark alone knows.
    """

    type_of: Callable[..., pa.DataType | None]
    values: Callable[[Table, Sequence[str], Mapping[str, str]], MessageValues]


_FORMS: Mapping[str, _Form] = {
    "avro": _Form(arrow_type, _avro),
    AvroConfluentFormat.name: _Form(arrow_type, _avro_of_registry),
    "csv": _Form(arrow_type, _csv),
    "json": _Form(json_type, _json),
}
READER = KafkaTables()
UPSERT_READER = UpsertTables()
