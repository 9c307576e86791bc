"""Tables of connector 'kafka' whose values Arrow decodes: JSON objects, lines of csv, Avro records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from sqlext.connectors.base import declared_type, is_instant, metadata_columns, metadata_key, physical_fields
from sqlext.connectors.filesystem.reader import csv_decoder
from sqlext.connectors.formats.avro import written_as
from sqlext.connectors.formats.base import ReadField
from sqlext.connectors.formats.json import fails_on_missing, ignores_errors
from sqlext.connectors.kafka.options import key_fields, part_options, value_format
from sqlext.connectors.kafka.positions import end_filters
from sqlext.connectors.kafka.reading import kafka_limit, kafka_reader, why_not
from sqlext.connectors.kafka.rows import METADATA, ValueRows
from sqlext.connectors.kafka.values import CsvValues, JsonValues, Values
from sqlext.connectors.splits import SplitReader
from sqlext.sources.decoding.avro_values import KINDS, AvroField, AvroValues
from sqlext.sources.fields import Field, arrow_type, json_type
from sqlext.sources.table_files import TableReaders, Unread
from sqlext_catalog.model import Column, Table


def _column(table: Table, column: Column) -> pa.DataType:
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


def _require(table: Table) -> None:
    reason = why_not(table)
    if reason:
        raise Unread(reason)
    if value_format(table) not in _FORMS:
        raise Unread(f"values of format '{value_format(table)}' have no Arrow reader")
    if key_fields(table):
        raise Unread("it has columns in the keys of its records")
    if end_filters(table):
        raise Unread("its end is no place that is known when it begins")
    _values(table, ())


def _reader(table: Table, needed: Sequence[str], state: Path, _tasks: int) -> SplitReader:
    metadata = tuple((c.name, metadata_key(c)) for c in metadata_columns(table) if c.name in needed)
    return kafka_reader(table, ValueRows(_values(table, needed), metadata), state)


def _values(table: Table, needed: Sequence[str]) -> Values:
    return _FORMS[value_format(table)].values(table, needed, part_options(table.options, "value"))


def _json(table: Table, needed: Sequence[str], options: Mapping[str, str]) -> Values:
    if ignores_errors(options) or fails_on_missing(options):
        raise Unread("its json options are read by Spark alone")
    fields = [(f.name, json_type(f.type, instant=f.instant)) for f in physical_fields(table) if f.name in needed]
    return JsonValues(tuple(Field(*f) for f in fields))


def _csv(table: Table, needed: Sequence[str], options: Mapping[str, str]) -> Values:
    return CsvValues(csv_decoder(table, needed, options))


def _avro(table: Table, needed: Sequence[str], options: Mapping[str, str]) -> Values:
    return AvroValues(tuple(_avro_field(f, f.name in needed, options) for f in physical_fields(table)))


def _avro_field(field: ReadField, needed: bool, options: Mapping[str, str]) -> AvroField:
    written, meaning = written_as(field.type, options)
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
    values: Callable[[Table, Sequence[str], Mapping[str, str]], Values]


_FORMS: Mapping[str, _Form] = {
    "avro": _Form(arrow_type, _avro),
    "csv": _Form(arrow_type, _csv),
    "json": _Form(json_type, _json),
}
KAFKA_TABLES = TableReaders(_column, _require, _reader, kafka_limit)
