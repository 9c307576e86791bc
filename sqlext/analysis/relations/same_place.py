"""Tell where a table's rows lie."""

from __future__ import annotations

from sqlext.locations import absolute
from sqlext_catalog.model import Table


def place_of(table: Table) -> str:
    """Return where a table's rows lie: the catalog may know one table of a database by several names."""
    held = table.option("table-name")
    return absolute(table.option("path")) or (f"{table.option('url')} {held}" if held else table.name.plain)
