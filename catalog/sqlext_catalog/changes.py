"""What a DDL statement does to the catalog: puts and deletes of whole objects, each under its key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sqlext_catalog.model import Catalog, CatalogObject, Database, QueryRecord
from sqlext_catalog.names import ObjectName

if TYPE_CHECKING:
    from sqlext_catalog.snapshot import Snapshot


class ObjectKey(NamedTuple):
    """What identifies an object.

    ``kind`` is ``catalog``, ``database``, ``relation`` (tables and views share one namespace), ``temporary`` (a
    temporary relation, which shadows the stored one of the same name) or ``query``.
    """

    kind: str
    catalog: str = ""
    database: str = ""
    name: str = ""

    @property
    def plain(self) -> str:
        """The name as messages show it."""
        return ".".join(part for part in self[1:] if part)


@dataclass(frozen=True, slots=True)
class Put:
    """Create the object, or replace the one under its key."""

    object: CatalogObject

    @property
    def key(self) -> ObjectKey:
        """The object's key."""
        return key_of(self.object)


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove the object under the key."""

    key: ObjectKey


Change = Put | Delete

#: Looks at the catalog and says what to change, or refuses. It may be called again on a newer snapshot when another
#: process committed first, so it must be free of side effects.
ChangeFunction = Callable[["Snapshot"], Sequence[Change]]


def key_of(item: CatalogObject) -> ObjectKey:
    """Return the key that an object is stored under."""
    if isinstance(item, Catalog):
        return ObjectKey("catalog", item.name)
    if isinstance(item, Database):
        return database_key(item.name.catalog, item.name.database)
    if isinstance(item, QueryRecord):
        return ObjectKey("query", name=item.name)
    return relation_key(item.name, temporary=item.temporary)


def relation_key(name: ObjectName, *, temporary: bool = False) -> ObjectKey:
    """Return the key of a table or view."""
    return ObjectKey("temporary" if temporary else "relation", *name)


def database_key(catalog: str, database: str) -> ObjectKey:
    """Return the key of a database."""
    return ObjectKey("database", catalog, database)
