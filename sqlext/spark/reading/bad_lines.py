"""Find the line that Spark's reader could not read.

Spark names the file and nothing in it. Our own decoders have its rules, and know lines: they read the file again, once
the query has failed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlext.connectors.filesystem.reader.folder import listed
from sqlext.connectors.filesystem.table import TEXT_FORMATS
from sqlext.connectors.readers import Unread
from sqlext.errors import SqlExtError
from sqlext.sources.file_slices import FileDecoder, Range
from sqlext.sources.file_tables import FileTables, path_of
from sqlext.sources.tables import reader_of
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
        named = unquote(urlsplit(file.group(1)).path)
        return _first(tables, lambda table: [named] if Path(named).is_relative_to(path_of(table)) else [])
    if value is not None:
        cast = f"The value {value.group(1)} of column"
        return _first(tables, _files, lambda error: cast in error.message)
    return None


def _first(
    tables: Iterable[Table],
    files: Callable[[Table], Iterable[str]],
    is_it: Callable[[SqlExtError], bool] = lambda error: True,
) -> SqlExtError | None:
    """Return the first error in files of tables that is the one; whatever hinders that leaves Spark's words."""
    left = _MOST
    for table in tables:
        try:
            decoder = _decoder(table)
            for file in files(table):
                left -= Path(file).stat().st_size
                error = _error(decoder, file) if left >= 0 else None
                # Other codes are ours: a compression that cannot be unpacked here, say.
                if error is not None and error.code == "RUN-100" and is_it(error):
                    return error
        except (Unread, SqlExtError, OSError, ValueError):
            continue
    return None


def _files(table: Table) -> list[str]:
    return [file.path for file in listed(path_of(table), table.option("source.path.regex-pattern"))]


def _decoder(table: Table) -> FileDecoder:
    """Return what decodes the lines of a table's files.

    Raises:
        Unread: where there are none, or Spark alone knows how.
    """
    reader = reader_of(table)
    if not isinstance(reader, FileTables) or table.option("format") not in TEXT_FORMATS:
        raise Unread("it has no lines")
    return reader.decoder(table, [c.name for c in table.columns if _is_read(c, table, reader)])


def _error(decoder: FileDecoder, file: str) -> SqlExtError | None:
    try:
        for _ in decoder.read(Range(file, 0, Path(file).stat().st_size)):
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
