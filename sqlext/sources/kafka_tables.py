"""Tables of connector 'kafka' whose values Arrow decodes: JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from sqlext.catalog.model import Column, Table
from sqlext.connectors.base import declared_type, is_instant, metadata_key
from sqlext.connectors.json_format import fails_on_missing, ignores_errors
from sqlext.connectors.kafka_options import key_fields, part_options, value_format
from sqlext.connectors.kafka_positions import end_filters
from sqlext.connectors.kafka_reader import kafka_limit, kafka_reader, why_not
from sqlext.sources.contract import SplitReader
from sqlext.sources.fields import Field, arrow_type, json_type
from sqlext.sources.kafka_rows import METADATA, JsonRows
from sqlext.sources.table_files import TableReaders, Unread


def _column(table: Table, column: Column) -> pa.DataType:
    declared = declared_type(column)
    if column.kind == "metadata":
        own = METADATA.get(metadata_key(column))
        if own is None or own != arrow_type(declared):
            raise Unread(f"column `{column.name}` is made of the metadata '{metadata_key(column)}'")
        return own
    found = json_type(declared, instant=is_instant(table, column))
    if found is None:
        raise Unread(f"column `{column.name}` is of type {declared}")
    return found


def _require(table: Table) -> None:
    reason = why_not(table)
    if reason:
        raise Unread(reason)
    if value_format(table) != "json":
        raise Unread(f"values of format '{value_format(table)}' have no Arrow reader")
    if key_fields(table):
        raise Unread("it has columns in the keys of its records")
    options = part_options(table.options, "value")
    if ignores_errors(options) or fails_on_missing(options):
        raise Unread("its json options are read by Spark alone")
    if end_filters(table):
        raise Unread("its end is no place that is known when it begins")


def _reader(table: Table, needed: Sequence[str], state: Path, _tasks: int) -> SplitReader:
    columns = [c for c in table.columns if c.name in needed]
    fields = tuple(Field(c.name, _column(table, c)) for c in columns if c.kind == "physical")
    metadata = tuple((c.name, metadata_key(c)) for c in columns if c.kind == "metadata")
    return kafka_reader(table, JsonRows(fields, metadata), state)


KAFKA_TABLES = TableReaders(_column, _require, _reader, kafka_limit)
