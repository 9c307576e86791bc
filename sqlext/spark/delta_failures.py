"""Say what Delta's own source says of a table that has changed under a query, as our own reader says it."""

from __future__ import annotations

import re

from sqlext.errors import SqlExtError
from sqlext.source import Span

_ANOTHER_TABLE = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"
_READS_ANEW = "DROP QUERY starts the query anew, with the rows of the new table; SHOW QUERIES has its name"
_OTHER_COLUMNS = re.compile(r"\[DELTA_(SCHEMA_CHANGED|STREAMING_INCOMPATIBLE_SCHEMA_CHANGE)")
_AT_VERSION = re.compile(r"Detected schema change in version (\d+)")
_TAKEN_AWAY = re.compile(r"\[DELTA_SOURCE_(?:IGNORE_DELETE|TABLE_IGNORE_CHANGES)\].*?at version (\d+)", re.DOTALL)
_AT_PATH = re.compile(r"source table can be found at path (?:file:/{0,2}(?=/))?(\S+?)\.(?:\s|$)")
_CLEANED = re.compile(r"\[DELTA_MISSING_FILES_UNEXPECTED_VERSION\] .*?version (\d+).*?starts at (\d+)", re.DOTALL)
_NO_LOG = "[DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE]"

#: What can be done about an error that comes from a process of Spark's as a text, which has no hint.
HINTS = {
    "RUN-067": "SET 'sqlext.source' = 'spark' lets Delta's own reader read it",
    "RUN-068": (
        "DROP QUERY starts the query anew, with all that is there, or from a version of its own with "
        "'startingVersion'; 'delta.logRetentionDuration' of the table keeps commits longer"
    ),
    "RUN-069": ("'skipChangeCommits' = 'true' passes over such commits; 'readChangeFeed' = 'true' reads the changes"),
    "RUN-082": "start the query again: it takes the columns as they are then, or says which one does not fit",
}


def delta_failure(text: str, span: Span | None) -> SqlExtError | None:
    """Return what has happened to a table that a query reads, None where a text says nothing of that.

    Args:
        text: Spark's.
    """
    if _ANOTHER_TABLE in text:
        message = "the query has read another Delta table than the one that is there now: that one was made anew"
        return SqlExtError("RUN-075", message, span=span, hint=_READS_ANEW)
    said = _columns(text) or _rows(text) or _history(text)
    return SqlExtError(said[0], said[1], span=span, hint=HINTS[said[0]]) if said is not None else None


def _columns(text: str) -> tuple[str, str] | None:
    if _OTHER_COLUMNS.search(text) is None:
        return None
    version = _AT_VERSION.search(text)
    table = f"version {version[1]} of a Delta table" if version else "a Delta table"
    return "RUN-082", f"{table} changes columns, while the query reads it"


def _rows(text: str) -> tuple[str, str] | None:
    found = _TAKEN_AWAY.search(text)
    if found is None:
        return None
    path = _AT_PATH.search(text)
    table = f"delta `{path[1]}`" if path else "a Delta table"
    return "RUN-069", f"version {found[1]} of {table} takes rows away or changes them, after they were read"


def _history(text: str) -> tuple[str, str] | None:
    found = _CLEANED.search(text)
    if found is not None:
        message = f"version {found[1]} of a Delta table is not in its log, which begins with version {found[2]}"
        return "RUN-068", message
    if _NO_LOG in text:
        return "RUN-068", "a version of a Delta table that the query goes on from is not in its log"
    return None
