"""Which tables the Arrow path reads, and how."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from sqlext.catalog.model import Column, Table
from sqlext.connectors.base import (
    OwnSource,
    declared_type,
    is_instant,
    metadata_columns,
    physical_fields,
    read_columns,
)
from sqlext.connectors.csv_format import csv_dialect
from sqlext.connectors.json_format import fails_on_missing, ignores_errors
from sqlext.connectors.options import OptionError
from sqlext.connectors.paths import absolute
from sqlext.plan.bad_rows import OPTION, policy_of
from sqlext.sources.contract import Limit, SplitReader
from sqlext.sources.csv_blocks import CsvDecoder
from sqlext.sources.delta import DeltaReader, Start, Tolerance
from sqlext.sources.delta_log import DeltaLog
from sqlext.sources.fields import Field, arrow_type
from sqlext.sources.file_slices import FileDecoder
from sqlext.sources.files import FileReader
from sqlext.sources.json_blocks import JsonDecoder
from sqlext.sources.parquet_groups import ParquetDecoder, fits
from sqlext.sources.text_lines import LINES, LineDecoder


class Unread(Exception):  # noqa: N818 - not an error: the other path is taken
    """Why a table is not read by Arrow; its text is for EXPLAIN."""


def column_type(table: Table, column: Column) -> pa.DataType:
    """Return the Arrow type of a column that the table's reader gives.

    Raises:
        Unread: for one that it does not give exactly as the JVM path does.
    """
    if column.kind != "physical" or column.name in table.partitioned_by:
        raise Unread(f"column `{column.name}` is no field of the file")
    declared = declared_type(column)
    found = arrow_type(declared, instant=is_instant(table, column))
    if found is None or (table.option("format") == "json" and (pa.types.is_decimal(found) or pa.types.is_date(found))):
        raise Unread(f"column `{column.name}` is of type {declared}")
    return found


def require_readable(table: Table) -> None:
    """Check that a table, whatever its columns, is one for the Arrow path.

    Raises:
        Unread: if it is not.
    """
    connector, form = table.option("connector"), _form(table)
    if connector not in ("filesystem", "delta"):
        raise Unread(f"connector '{connector}' has no Arrow reader")
    if policy_of(table) is not None:
        raise Unread(f"'{OPTION}' looks at its rows one by one")
    if form not in _DECODERS:
        raise Unread(f"format '{form}' has no Arrow reader")
    _require_plain_files(table)
    _DECODERS[form](table, ())


def _require_plain_files(table: Table) -> None:
    if table.partitioned_by:
        raise Unread("it is partitioned by folders")
    place = table.option("path") or table.option("table-path")
    if place is None:
        raise Unread("it has no path")
    if "://" in place:
        raise Unread("its path is a URL")


def reader_of(table: Table, needed: Sequence[str], log: Path, tasks: int) -> SplitReader:
    """Return the reader of a table.

    Args:
        table: one that ``require_readable`` takes.
        needed: the columns that are looked at.
        log: a folder beside the checkpoint, for what the reader must remember.
        tasks: how many tasks run at once.
    """
    decoder = _DECODERS[_form(table)](table, needed)
    return _delta_reader(table, decoder, tasks) if _is_delta(table) else _file_reader(table, decoder, log, tasks)


def _file_reader(table: Table, decoder: FileDecoder, log: Path, tasks: int) -> FileReader:
    return FileReader(_path(table), log, decoder, table.option("source.path.regex-pattern"), tasks)


def _delta_reader(table: Table, decoder: FileDecoder, tasks: int) -> DeltaReader:
    log = DeltaLog(_path(table))
    _require_columns(table, log.schema())
    version = table.option("startingVersion")
    start = Start(latest=True) if version == "latest" else Start(int(version) if version is not None else None)
    tolerance = Tolerance(*(_is_on(table, o) for o in ("ignoreDeletes", "ignoreChanges", "skipChangeCommits")))
    return DeltaReader(log, decoder, start, tolerance, tasks)


def _require_columns(table: Table, found: pa.Schema) -> None:
    """Check that a Delta table has the declared columns.

    Raises:
        OptionError: OPT-012 if it does not.
    """
    place = f"delta `{_path(table)}`"
    for field in physical_fields(table):
        wanted = arrow_type(field.type)
        if field.name not in found.names:
            what = f"{place} has no column `{field.name}` in its files; they have {', '.join(found.names)}"
            raise OptionError("OPT-012", what, hint="declare the columns that are there")
        own = found.field(field.name).type
        if wanted is None or not fits(own, wanted) or _zone(own) != _zone(wanted):
            what = f"column `{field.name}` of {place} has type {own}, declared is {field.type}"
            raise OptionError("OPT-012", what, hint="declare the type that is there, or convert it in a query")


def _zone(kind: pa.DataType) -> str | None:
    return kind.tz if pa.types.is_timestamp(kind) else None


def why_not(table: Table) -> str:
    """Return why the Arrow path does not give the rows of a table, empty if it does."""
    try:
        if policy_of(table) is not None:
            _require_lines(table)
            return ""
        require_readable(table)
        for column in read_columns(table):
            column_type(table, column)
    except Unread as reason:
        return str(reason)
    return ""


def own_source(table: Table, state: Path | None, tasks: int) -> OwnSource:
    """Return a table's rows, by a reader that can be held back: then a file at a time, if no limit is given.

    Raises:
        OptionError: OPT-009 if nothing lies at the table's path.
    """
    require_there(table)
    types = {c.name: column_type(table, c) for c in read_columns(table)}
    reader = reader_of(table, tuple(types), _log(state), tasks)
    return OwnSource(reader, pa.schema(list(types.items())), limit_of(table), decoded=True)


def own_lines(table: Table, state: Path | None, tasks: int) -> OwnSource:
    """Return the lines of a table's files, which SQL decodes.

    Raises:
        OptionError: OPT-009 if nothing lies at the table's path.
    """
    require_there(table)
    return OwnSource(_file_reader(table, LineDecoder(), _log(state), tasks), LINES, limit_of(table))


def _require_lines(table: Table) -> None:
    _require_plain_files(table)
    if metadata_columns(table) or table.option("source.path.regex-pattern"):
        raise Unread("it looks at the paths of its files")


def _log(state: Path | None) -> Path:
    return state if state is not None else Path(tempfile.mkdtemp(prefix="sqlext-"))


def limit_of(table: Table) -> Limit | None:
    """Return the most files of a micro-batch: one where the table must wait for others."""
    most = table.option("maxFilesPerTrigger")
    if most is None and table.option("scan.watermark.alignment.group") is None:
        return None
    return Limit("files", int(most or 1))


def require_there(table: Table) -> None:
    """Check that something lies at the table's path.

    Raises:
        OptionError: OPT-009 if not.
    """
    path = _path(table)
    if not (Path(path) / ("_delta_log" if _is_delta(table) else "")).exists():
        kind = "delta " if _is_delta(table) else ""
        raise OptionError("OPT-009", f"{kind}`{path}` does not exist", option="path")


def _path(table: Table) -> str:
    return (absolute(table.option("path") or table.option("table-path")) or "").removeprefix("file:")


def _is_delta(table: Table) -> bool:
    return table.option("connector") == "delta"


def _form(table: Table) -> str:
    return "delta" if _is_delta(table) else table.option("format") or ""


def _is_on(table: Table, option: str) -> bool:
    return (table.option(option) or "false").strip().lower() == "true"


def _csv(table: Table, needed: Sequence[str]) -> FileDecoder:
    dialect = csv_dialect(dict(table.options))
    if dialect is None:
        raise Unread("its csv options are read by Spark alone")
    fields = [(f.name, arrow_type(f.type, instant=f.instant) or pa.string()) for f in physical_fields(table)]
    delimiter, quote, null = dialect
    return CsvDecoder(tuple(Field(*f) for f in fields), tuple(needed), delimiter, quote, null)


def _parquet(table: Table, needed: Sequence[str]) -> FileDecoder:
    fields = [(f.name, arrow_type(f.type, instant=f.instant)) for f in physical_fields(table) if f.name in needed]
    return ParquetDecoder(tuple(Field(*f) for f in fields))


def _json(table: Table, needed: Sequence[str]) -> FileDecoder:
    options = dict(table.options)
    if ignores_errors(options) or fails_on_missing(options):
        raise Unread("its json options are read by Spark alone")
    fields = [(f.name, arrow_type(f.type, instant=f.instant)) for f in physical_fields(table) if f.name in needed]
    return JsonDecoder(tuple(Field(*f) for f in fields))


def _delta(table: Table, needed: Sequence[str]) -> FileDecoder:
    for option in ("startingTimestamp", "versionAsOf", "timestampAsOf", "readChangeFeed", "maxBytesPerTrigger"):
        if table.option(option) is not None:
            raise Unread(f"option '{option}' is for Delta's own reader")
    return _parquet(table, needed)


_DECODERS: Mapping[str, Callable[[Table, Sequence[str]], FileDecoder]] = {
    "csv": _csv,
    "delta": _delta,
    "json": _json,
    "parquet": _parquet,
}
