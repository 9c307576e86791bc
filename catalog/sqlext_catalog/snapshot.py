"""Hold the catalog at one version, and the changes that lead from one version to the next.

A snapshot is an immutable map from key to object. A change puts or deletes a whole object under its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from sqlext.errors import SqlExtError
from sqlext_catalog.literals import without_secrets
from sqlext_catalog.model import (
    DEFAULT_CATALOG,
    DEFAULT_DATABASE,
    Catalog,
    CatalogObject,
    Database,
    ObjectName,
    QueryRecord,
    Relation,
    Table,
    View,
    check_part,
)


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


#: The version of a catalog that nothing has been committed to.
NEVER_COMMITTED = -1


class Snapshot:
    """Every object of the catalog at one version; a change makes a new snapshot.

    Attributes:
        version: the commit it shows, or -1 before the first one.
    """

    __slots__ = ("_objects", "version")

    def __init__(self, objects: Iterable[CatalogObject], version: int = NEVER_COMMITTED) -> None:
        self.version = version
        # Read-only, because a store hands the same snapshot to everybody.
        self._objects: Mapping[ObjectKey, CatalogObject] = MappingProxyType({key_of(o): o for o in objects})

    @classmethod
    def empty(cls) -> Snapshot:
        """Return what a catalog holds before its first commit: default_catalog.default_database."""
        database = Database(ObjectName(DEFAULT_CATALOG, DEFAULT_DATABASE, ""))
        return cls([Catalog(DEFAULT_CATALOG), database])

    def get(self, name: ObjectName) -> Relation | None:
        """Return the table or view a statement means: a temporary one shadows the stored one, as in Flink."""
        return self.temporary(name) or self.stored(name)

    def stored(self, name: ObjectName) -> Relation | None:
        """Return the stored table or view, whatever shadows it."""
        return self._relation(relation_key(name))

    def temporary(self, name: ObjectName) -> Relation | None:
        """Return the temporary table or view."""
        return self._relation(relation_key(name, temporary=True))

    def catalog(self, name: str) -> Catalog | None:
        """Return a catalog."""
        found = self._objects.get(ObjectKey("catalog", name))
        return found if isinstance(found, Catalog) else None

    def database(self, catalog: str, database: str) -> Database | None:
        """Return a database."""
        found = self._objects.get(database_key(catalog, database))
        return found if isinstance(found, Database) else None

    def query(self, name: str) -> QueryRecord | None:
        """Return the record of a query."""
        found = self._objects.get(ObjectKey("query", name=name))
        return found if isinstance(found, QueryRecord) else None

    def catalogs(self) -> list[Catalog]:
        """Return the catalogs, sorted by name."""
        return sorted((o for o in self if isinstance(o, Catalog)), key=lambda c: c.name)

    def databases(self, catalog: str) -> list[Database]:
        """Return a catalog's databases, sorted by name."""
        found = (o for o in self if isinstance(o, Database) and o.name.catalog == catalog)
        return sorted(found, key=lambda d: d.name)

    def relations(self, catalog: str | None = None, database: str | None = None) -> list[Relation]:
        """Return the visible tables and views of a database (of a catalog, of all), sorted by name."""
        visible: dict[ObjectName, Relation] = {}
        for item in self:
            if not isinstance(item, Table | View) or catalog not in (None, item.name.catalog):
                continue
            # Whichever comes first, the temporary one stays.
            if database in (None, item.name.database) and (item.temporary or item.name not in visible):
                visible[item.name] = item
        return [visible[name] for name in sorted(visible)]

    def queries(self) -> list[QueryRecord]:
        """Return the records of queries, sorted by name."""
        return sorted((o for o in self if isinstance(o, QueryRecord)), key=lambda q: q.name)

    def objects(self) -> tuple[CatalogObject, ...]:
        """Return everything, in the order it was put."""
        return tuple(self._objects.values())

    def with_changes(self, changes: Iterable[Change]) -> Snapshot:
        """Return the snapshot after the changes; nothing is stored and the version stays."""
        objects = dict(self._objects)
        for change in changes:
            if isinstance(change, Put):
                objects[change.key] = change.object
            else:
                objects.pop(change.key, None)
        return Snapshot(objects.values(), self.version)

    def at_version(self, version: int) -> Snapshot:
        """Return the same objects under another version."""
        return Snapshot(self._objects.values(), version)

    def __iter__(self) -> Iterator[CatalogObject]:
        return iter(self._objects.values())

    def __getitem__(self, key: ObjectKey) -> CatalogObject:
        return self._objects[key]

    def __contains__(self, key: object) -> bool:
        return key in self._objects

    def __len__(self) -> int:
        return len(self._objects)

    def __repr__(self) -> str:
        return f"Snapshot(version={self.version}, objects={len(self)})"

    def _relation(self, key: ObjectKey) -> Relation | None:
        found = self._objects.get(key)
        return found if isinstance(found, Table | View) else None


def check_changes(changes: Iterable[Change]) -> None:
    """Refuse unusable names, and literal secrets in what is stored."""
    for change in changes:
        if isinstance(change, Put):
            _check_names(change.object)
            _check_secrets(change.object)


def check_no_temporary(changes: Iterable[Change]) -> None:
    """Refuse temporary objects: a store does not keep them, the session does."""
    for change in changes:
        if change.key.kind == "temporary":
            raise SqlExtError("CAT-021", f"`{change.key.plain}` is temporary and cannot be stored")


def _check_names(item: CatalogObject) -> None:
    if isinstance(item, QueryRecord):
        check_part(item.name, "query")
    elif isinstance(item, Catalog):
        check_part(item.name, "catalog")
        check_part(item.default_database, "database")
    else:
        check_part(item.name.catalog, "catalog")
        check_part(item.name.database, "database")
        if not isinstance(item, Database):
            _check_relation(item)


def _check_relation(item: Table | View) -> None:
    check_part(item.name.name, "table" if isinstance(item, Table) else "view")
    names = [c.name for c in item.columns] if isinstance(item, Table) else item.columns
    for name in names:
        check_part(name, "column")


def _check_secrets(item: CatalogObject) -> None:
    """Refuse a literal secret that nobody has taken out (OPT-090)."""
    if (isinstance(item, Table | View) and item.temporary) or without_secrets(item) is item:
        return
    name = item.name if isinstance(item.name, str) else item.name.plain.rstrip(".")
    raise SqlExtError(
        "OPT-090",
        f"`{name}` holds a secret, and secrets are not stored in the catalog",
        hint="name its place, as 'env:NAME' or 'file:/path/to/secret'",
    )
