"""Find the line that Spark's reader could not read.

Spark names the file and nothing in it. Our own decoders have its rules, and know lines: they read the file again, once
the query has failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlext.connectors.readers import Unread
from sqlext.errors import SqlExtError
from sqlext.sources.file_slices import Range
from sqlext.sources.file_tables import FileTables, path_of
from sqlext.sources.tables import reader_of
from sqlext_catalog.model import Column, Table

#: The largest file that is read again, in bytes: that takes some seconds.
_LARGEST = 1 << 28
_FILE = re.compile(r"Encountered error while reading file (\S+?)\.?(?=\s|$)")


def bad_line(message: str, tables: Iterable[Table]) -> SqlExtError | None:
    """Return what is wrong with the first bad line of the file that a failure names, with path, number and text.

    Args:
        message: all that Spark says of the failure.
        tables: those that the query reads.

    Returns:
        None where no file is named, none of the tables has it, it is too large, or our decoders find nothing wrong.
    """
    found = _FILE.search(message)
    if found is None:
        return None
    file = unquote(urlsplit(found.group(1)).path)
    for table in tables:
        try:
            error = _first_error(table, file)
        # Whatever goes wrong here: what Spark has said is the failure.
        except (Unread, OSError, ValueError):
            continue
        if error is not None:
            return error if error.code == "RUN-100" else None  # others: a compression that it has not, say
    return None


def _first_error(table: Table, file: str) -> SqlExtError | None:
    reader = reader_of(table)
    if not isinstance(reader, FileTables) or not Path(file).is_relative_to(path_of(table)):
        return None
    size = Path(file).stat().st_size
    if size > _LARGEST:
        return None
    columns = [c.name for c in table.columns if _is_read(c, table, reader)]
    try:
        for _ in reader.decoder(table, columns).read(Range(file, 0, size)):
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
