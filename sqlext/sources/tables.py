"""Find the reader of ours that reads a table."""

from __future__ import annotations

from sqlext.connectors.options import BAD_ROWS_OPTION, bad_rows_policy
from sqlext.connectors.readers import TableReader, Unread
from sqlext.connectors.registry import connector_of
from sqlext_catalog.model import Table


def reader_of(table: Table) -> TableReader:
    """Return what decodes a table into Arrow, whatever its columns.

    Raises:
        Unread: if nothing does.
    """
    connector = connector_of(table)
    if not connector.decodes:
        raise Unread(f"{connector.owner} has no Arrow reader")
    if bad_rows_policy(table) is not None:
        raise Unread(f"'{BAD_ROWS_OPTION}' looks at its rows one by one")
    found = connector.table_reader()
    found.require(table)
    return found
