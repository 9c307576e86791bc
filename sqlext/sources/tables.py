"""Which tables the Arrow path reads, and how: by their connectors."""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.kafka.reader import KAFKA_TABLES
from sqlext.plan.bad_rows import OPTION, policy_of
from sqlext.sources.file_tables import FILE_TABLES
from sqlext.sources.table_files import TableReaders, Unread
from sqlext_catalog.model import Table

_BY_CONNECTOR: Mapping[str, TableReaders] = {
    "delta": FILE_TABLES,
    "filesystem": FILE_TABLES,
    "kafka": KAFKA_TABLES,
}


def readers_of(table: Table) -> TableReaders:
    """Return what reads a table, whatever its columns.

    Raises:
        Unread: if nothing does.
    """
    connector = table.option("connector") or ""
    if connector not in _BY_CONNECTOR:
        raise Unread(f"connector '{connector}' has no Arrow reader")
    if policy_of(table) is not None:
        raise Unread(f"'{OPTION}' looks at its rows one by one")
    found = _BY_CONNECTOR[connector]
    found.require(table)
    return found
