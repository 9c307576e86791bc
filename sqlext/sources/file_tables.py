"""Tables whose rows lie in files that the Arrow path reads."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from sqlext.connectors.base import OwnSource, declared_type, is_instant, metadata_columns, read_columns
from sqlext.connectors.delta.reader import DELTA_TABLES
from sqlext.connectors.filesystem.reader import FOLDERS, folder_reader
from sqlext.connectors.splits import Limit, SplitReader
from sqlext.plan.bad_rows import policy_of
from sqlext.sources.decoding.text_lines import LINES, LineDecoder
from sqlext.sources.fields import arrow_type, json_type
from sqlext.sources.table_files import TableFiles, TableReaders, Unread
from sqlext_catalog.model import Column, Table

_BY_CONNECTOR: Mapping[str, TableFiles] = {"delta": DELTA_TABLES, "filesystem": FOLDERS}


def column_type(table: Table, column: Column) -> pa.DataType:
    """Return the Arrow type of a column that the table's reader gives.

    Raises:
        Unread: for one that it does not give exactly as the JVM path does.
    """
    if column.kind != "physical" or column.name in table.partitioned_by:
        raise Unread(f"column `{column.name}` is no field of the file")
    declared = declared_type(column)
    type_of = json_type if table.option("format") == "json" else arrow_type
    found = type_of(declared, instant=is_instant(table, column))
    if found is None:
        raise Unread(f"column `{column.name}` is of type {declared}")
    return found


def require_readable(table: Table) -> None:
    """Check that a table, whatever its columns, is one for the Arrow path.

    Raises:
        Unread: if it is not.
    """
    _require_plain_files(table)
    files = _files_of(table)
    files.decoder(table, ())
    files.require_types(table)


def _files_of(table: Table) -> TableFiles:
    connector = table.option("connector") or ""
    if connector not in _BY_CONNECTOR:
        raise Unread(f"connector '{connector}' has no Arrow reader")
    return _BY_CONNECTOR[connector]


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

    Raises:
        OptionError: OPT-009 if nothing lies at the table's path, OPT-012 if other columns do.
    """
    files = _files_of(table)
    files.require_there(table)
    return files.reader(table, files.decoder(table, needed), log, tasks)


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
        OptionError: see ``reader_of``.
    """
    types = {c.name: column_type(table, c) for c in read_columns(table)}
    reader = reader_of(table, tuple(types), _log(state), tasks)
    return OwnSource(reader, pa.schema(list(types.items())), limit_of(table), decoded=True)


def own_lines(table: Table, state: Path | None, tasks: int) -> OwnSource:
    """Return the lines of a table's files, which SQL decodes.

    Raises:
        OptionError: OPT-009 if nothing lies at the table's path.
    """
    FOLDERS.require_there(table)
    return OwnSource(folder_reader(table, LineDecoder(), _log(state), tasks), LINES, limit_of(table))


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


FILE_TABLES = TableReaders(column_type, require_readable, reader_of, limit_of)
