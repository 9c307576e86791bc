"""Names of catalog objects."""

from __future__ import annotations

from typing import NamedTuple

from sqlext.types import quote

DEFAULT_CATALOG = "default_catalog"
DEFAULT_DATABASE = "default_database"


class ObjectName(NamedTuple):
    """A full name, as Flink writes it: catalog, database, object."""

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        return ".".join(quote(part) for part in self)

    @property
    def plain(self) -> str:
        """The parts joined with dots, unquoted, as messages show it."""
        return ".".join(self)
