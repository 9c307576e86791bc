"""Find the line that Spark's reader could not read.

Spark names the file and nothing in it. Our own decoders have its rules, and know lines: they read the file again, once
the query has failed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from sqlext.connectors.filesystem.reader.folder import listed
from sqlext.connectors.filesystem.table import TEXT_FORMATS
from sqlext.connectors.readers import Unread
from sqlext.errors import SqlExtError
from sqlext.locations import is_remote, local_path
from sqlext.sources.decoding.malformed import BAD_ROW
from sqlext.sources.file_log import FoundFile
from sqlext.sources.file_slices import FileDecoder, Range
from sqlext.sources.file_tables import FileTables, path_of
from sqlext.sources.tables import reader_of
from sqlext.stores.files import file_access
from sqlext_catalog.model import Column, Table

#: How much is read again at most, in bytes: that takes some seconds.
_MOST = 1 << 28
_FILE = re.compile(r"Encountered error while reading file (\S+?)\.?(?=\s|$)")
#: Values of csv are cast behind Spark's reader, where nobody knows the file.
_VALUE = re.compile(r"\[CAST_INVALID_INPUT\] The value ('.*?') of the type \"STRING\"")


def bad_line(message: str, tables: Iterable[Table]) -> SqlExtError | None:
    """Return what is wrong with the first bad line of the file that a failure names, with path, number and text.

    Where it names a value that cannot be cast, it is the first bad line that has this value, of any file of the tables.

    Args:
        message: all that Spark says of the failure.
        tables: those that the query reads.

    Returns:
        None where neither is named, the files are too large, or our decoders find no such line.
    """
    file, value = _FILE.search(message), _VALUE.search(message)
    if file is not None:
        named = local_path(file.group(1)) or unquote(file.group(1))
        return _first(tables, lambda table: _listed(named) if _is_below(named, path_of(table)) else [])
    if value is not None:
        cast = f"The value {value.group(1)} of column"
        return _first(
            tables,
            lambda table: _listed(path_of(table), table.option("source.path.regex-pattern")),
            lambda error: cast in error.message,
        )
    return None


def _first(
    tables: Iterable[Table],
    files: Callable[[Table], Iterable[FoundFile]],
    is_it: Callable[[SqlExtError], bool] = lambda error: True,
) -> SqlExtError | None:
    """Return the first error in files of tables that is the one; whatever hinders that leaves Spark's words."""
    left = _MOST
    for table in tables:
        try:
            decoder = _decoder(table)
            for file in files(table):
                left -= file.size
                error = _error(decoder, file) if left >= 0 else None
                # Other codes say that it cannot be told here: a compression that is not known, say.
                if error is not None and error.code == BAD_ROW and is_it(error):
                    return error
        except (Unread, SqlExtError, OSError, ValueError):
            continue
    return None


def _listed(place: str, pattern: str | None = None) -> list[FoundFile]:
    return listed(place, pattern, file_access(place))


def _is_below(file: str, place: str) -> bool:
    """Return whether a file is one, or in a folder, at a place; Hadoop has another scheme for the same bucket."""
    if is_remote(file) != is_remote(place):
        return False
    here, there = (Path(p.partition("://")[2]) if is_remote(p) else Path(p) for p in (file, place))
    return here.is_relative_to(there)


def _decoder(table: Table) -> FileDecoder:
    """Return what decodes the lines of a table's files.

    Raises:
        Unread: where there are none, or Spark alone knows how.
    """
    # The values of partition columns are in the names of folders.
    columns = tuple(c for c in table.columns if c.name not in table.partitioned_by)
    lines = replace(table, columns=columns, partitioned_by=())
    reader = reader_of(lines)
    if not isinstance(reader, FileTables) or table.option("format") not in TEXT_FORMATS:
        raise Unread("it has no lines")
    return reader.decoder(lines, [c.name for c in lines.columns if _is_read(c, lines, reader)])


def _error(decoder: FileDecoder, file: FoundFile) -> SqlExtError | None:
    try:
        for _ in decoder.read(Range(file.path, 0, file.size, file_access(file.path))):
            pass
    except SqlExtError as error:
        return error
    return None


def _is_read(column: Column, table: Table, reader: FileTables) -> bool:
    """Whether our decoder reads a column; what it does not is not looked at."""
    try:
        reader.column(table, column)
    except Unread:
        return False
    return True
