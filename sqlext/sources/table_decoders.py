"""Make the decoder of a table's columns, by the format of its files or messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from sqlext.connectors.base import physical_fields
from sqlext.connectors.formats.csv import csv_dialect
from sqlext.connectors.formats.json import fails_on_missing, ignores_errors
from sqlext.connectors.readers import Unread
from sqlext.sources.arrow_types import ArrowField, arrow_type, json_type
from sqlext.sources.decoding.csv_decoder import CsvDecoder
from sqlext.sources.decoding.parquet_decoder import ParquetDecoder
from sqlext_catalog.model import Table


def parquet_decoder(table: Table, needed: Sequence[str]) -> ParquetDecoder:
    """Return the decoder of parquet files with the table's columns."""
    fields = [(f.name, arrow_type(f.type, instant=f.instant)) for f in physical_fields(table) if f.name in needed]
    return ParquetDecoder(tuple(ArrowField(*f) for f in fields))


def csv_decoder(table: Table, needed: Sequence[str], options: Mapping[str, str]) -> CsvDecoder:
    """Return the decoder of a table's lines of csv, by the options of the format.

    Raises:
        Unread: for options that Spark alone knows.
    """
    dialect = csv_dialect(options)
    if dialect is None:
        raise Unread("its csv options are read by Spark alone")
    # All columns, the unread ones too: a line of csv is taken apart by place.
    fields = [(f.name, arrow_type(f.type, instant=f.instant) or pa.string()) for f in physical_fields(table)]
    delimiter, quote, null = dialect
    return CsvDecoder(tuple(ArrowField(*f) for f in fields), tuple(needed), delimiter, quote, null)


def json_fields(table: Table, needed: Sequence[str], options: Mapping[str, str]) -> tuple[ArrowField, ...]:
    """Return the fields that are read of a table's JSON objects, by the options of the format.

    Raises:
        Unread: for options that Spark alone knows.
    """
    if ignores_errors(options) or fails_on_missing(options):
        raise Unread("its json options are read by Spark alone")
    fields = [(f.name, json_type(f.type, instant=f.instant)) for f in physical_fields(table) if f.name in needed]
    return tuple(ArrowField(*f) for f in fields)
