"""Tables of connector 'filesystem': the files of a folder, by their format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from sqlext.connectors.base import physical_fields
from sqlext.connectors.filesystem.source import FileReader
from sqlext.connectors.formats.csv import csv_dialect
from sqlext.connectors.formats.json import fails_on_missing, ignores_errors
from sqlext.sources.decoding.csv_blocks import CsvDecoder
from sqlext.sources.decoding.json_blocks import JsonDecoder
from sqlext.sources.fields import Field, arrow_type, json_type
from sqlext.sources.file_slices import FileDecoder
from sqlext.sources.table_files import TableFiles, Unread, parquet_decoder, path_of, require_path
from sqlext_catalog.model import Table


def folder_reader(table: Table, decoder: FileDecoder, log: Path, tasks: int) -> FileReader:
    """Return the reader of a table's folder; see ``TableFiles.reader``."""
    return FileReader(path_of(table), log, decoder, table.option("source.path.regex-pattern"), tasks)


def _decoder(table: Table, needed: Sequence[str]) -> FileDecoder:
    form = table.option("format") or ""
    if form not in _DECODERS:
        raise Unread(f"format '{form}' has no Arrow reader")
    return _DECODERS[form](table, needed)


def _require_there(table: Table) -> None:
    require_path(Path(path_of(table)), f"`{path_of(table)}`")


def _csv(table: Table, needed: Sequence[str]) -> FileDecoder:
    return csv_decoder(table, needed, dict(table.options))


def csv_decoder(table: Table, needed: Sequence[str], options: Mapping[str, str]) -> CsvDecoder:
    """Return the decoder of a table's lines of csv, by the options of the format.

    Raises:
        Unread: for options that Spark alone knows.
    """
    dialect = csv_dialect(options)
    if dialect is None:
        raise Unread("its csv options are read by Spark alone")
    fields = [(f.name, arrow_type(f.type, instant=f.instant) or pa.string()) for f in physical_fields(table)]
    delimiter, quote, null = dialect
    return CsvDecoder(tuple(Field(*f) for f in fields), tuple(needed), delimiter, quote, null)


def _json(table: Table, needed: Sequence[str]) -> FileDecoder:
    options = dict(table.options)
    if ignores_errors(options) or fails_on_missing(options):
        raise Unread("its json options are read by Spark alone")
    fields = [(f.name, json_type(f.type, instant=f.instant)) for f in physical_fields(table) if f.name in needed]
    return JsonDecoder(tuple(Field(*f) for f in fields))


_DECODERS: Mapping[str, Callable[[Table, Sequence[str]], FileDecoder]] = {
    "csv": _csv,
    "json": _json,
    "parquet": parquet_decoder,
}

FOLDERS = TableFiles(_decoder, folder_reader, _require_there)
