"""Change databases and catalogs: CREATE, ALTER and DROP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlext.errors import SqlExtError, meant_or_listed
from sqlext_catalog.model import (
    DEFAULT_CATALOG,
    DEFAULT_DATABASE,
    INFORMATION_SCHEMA,
    Catalog,
    Database,
    ObjectName,
    Table,
    View,
)
from sqlext_catalog.snapshot import Change, ChangeFunction, Delete, ObjectKey, Put, Snapshot, key_of


def create_database(database: Database, *, if_not_exists: bool = False) -> ChangeFunction:
    """CREATE DATABASE [IF NOT EXISTS]."""
    catalog, name, _ = database.name

    def change(snapshot: Snapshot) -> Sequence[Change]:
        if name == INFORMATION_SCHEMA:
            raise SqlExtError("CAT-009", f"`{INFORMATION_SCHEMA}` is the name of the catalog's own views")
        _require_catalog(snapshot, catalog)
        if snapshot.database(catalog, name) is None:
            return [Put(database)]
        if if_not_exists:
            return []
        raise _exists("database", f"{catalog}.{name}")

    return change


def alter_database(name: ObjectName, options: Mapping[str, str]) -> ChangeFunction:
    """ALTER DATABASE ... SET (...)."""

    def change(snapshot: Snapshot) -> Sequence[Change]:
        found = _require_database(snapshot, name)
        altered = replace(found, options=tuple((dict(found.options) | dict(options)).items()))
        return [Put(altered)] if altered != found else []

    return change


def drop_database(
    name: ObjectName,
    *,
    if_exists: bool = False,
    cascade: bool = False,
    current: tuple[str, str] | None = None,
) -> ChangeFunction:
    """DROP DATABASE [IF EXISTS] [RESTRICT | CASCADE]; RESTRICT, the default, refuses one that is not empty.

    Args:
        name: the database; ``name.name`` is empty.
        if_exists: a missing one is no error.
        cascade: drop its tables and views too.
        current: the session's current catalog and database, which cannot be dropped (Flink: "Cannot drop a
            database which is currently in use.").
    """
    catalog, database, _ = name

    def change(snapshot: Snapshot) -> Sequence[Change]:
        if if_exists and snapshot.database(catalog, database) is None:
            return []
        found = _require_database(snapshot, name)
        if (catalog, database) == current:
            raise SqlExtError("CAT-006", f"database `{catalog}.{database}` is in use", hint="USE another first")
        if (catalog, database) == (DEFAULT_CATALOG, DEFAULT_DATABASE):
            raise SqlExtError("CAT-006", f"`{catalog}.{database}` stays: every session starts in it")
        # Temporary objects of this session go with the database, and do not make it non-empty.
        inside = [item for item in snapshot if isinstance(item, Table | View) and item.name[:2] == (catalog, database)]
        if not cascade and any(not item.temporary for item in inside):
            hint = "DROP DATABASE ... CASCADE drops its tables and views too"
            raise SqlExtError("CAT-005", f"database `{catalog}.{database}` is not empty", hint=hint)
        return [Delete(key_of(item)) for item in (*inside, found)]

    return change


def create_catalog(catalog: Catalog, *, if_not_exists: bool = False) -> ChangeFunction:
    """CREATE CATALOG [IF NOT EXISTS]; its default database comes with it (Flink's generic_in_memory)."""

    def change(snapshot: Snapshot) -> Sequence[Change]:
        if snapshot.catalog(catalog.name) is None:
            return [Put(catalog), Put(Database(ObjectName(catalog.name, catalog.default_database, "")))]
        if if_not_exists:
            return []
        raise _exists("catalog", catalog.name)

    return change


def alter_catalog(name: str, alteration: Callable[[Catalog], Catalog]) -> ChangeFunction:
    """ALTER CATALOG; a new default database comes with it, as with CREATE CATALOG."""

    def change(snapshot: Snapshot) -> Sequence[Change]:
        _require_catalog(snapshot, name)
        found = next(c for c in snapshot.catalogs() if c.name == name)
        altered = alteration(found)
        changes: list[Change] = [Put(altered)] if altered != found else []
        if snapshot.database(name, altered.default_database) is None:
            changes.append(Put(Database(ObjectName(name, altered.default_database, ""))))
        return changes

    return change


def drop_catalog(name: str, *, if_exists: bool = False, current: str | None = None) -> ChangeFunction:
    """DROP CATALOG [IF EXISTS], with everything in it; not the current one (Flink's rule) nor the default one."""

    def change(snapshot: Snapshot) -> Sequence[Change]:
        if if_exists and snapshot.catalog(name) is None:
            return []
        _require_catalog(snapshot, name)
        if name == current:
            raise SqlExtError("CAT-006", f"catalog `{name}` is in use", hint="USE CATALOG another first")
        if name == DEFAULT_CATALOG:
            raise SqlExtError("CAT-006", f"`{name}` stays: every session starts in it")
        keys = [key_of(item) for item in snapshot]
        return [Delete(key) for key in keys if key.catalog == name]

    return change


def _require_catalog(snapshot: Snapshot, name: str) -> None:
    if ObjectKey("catalog", name) not in snapshot:
        names = [c.name for c in snapshot.catalogs()]
        raise SqlExtError("CAT-002", f"there is no catalog `{name}`", hint=meant_or_listed(name, names, "CATALOGS"))


def _require_database(snapshot: Snapshot, name: ObjectName) -> Database:
    found = snapshot.database(name.catalog, name.database)
    if found is None:
        names = [d.name.database for d in snapshot.databases(name.catalog)]
        raise SqlExtError(
            "CAT-002",
            f"there is no database `{name.catalog}.{name.database}`",
            hint=meant_or_listed(name.database, names, "DATABASES"),
        )
    return found


def _exists(what: str, name: str) -> SqlExtError:
    return SqlExtError("CAT-001", f"{what} `{name}` exists already", hint="IF NOT EXISTS keeps the one that is there")
