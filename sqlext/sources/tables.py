"""Find the reader of ours that reads a table."""

from __future__ import annotations

from sqlext.connectors.readers import TableReader, Unread
from sqlext.connectors.registry import connector_of
from sqlext.plan.bad_rows import OPTION, policy_of
from sqlext_catalog.model import Table


def reader_of(table: Table) -> TableReader:
    """Return what decodes a table into Arrow, whatever its columns.

    Raises:
        Unread: if nothing does.
    """
    connector = connector_of(table)
    if not connector.decodes:
        raise Unread(f"{connector.owner} has no Arrow reader")
    if policy_of(table) is not None:
        raise Unread(f"'{OPTION}' looks at its rows one by one")
    found = connector.table_reader()
    found.require(table)
    return found
