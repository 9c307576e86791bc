"""Show the catalog as one session sees it: stored objects, its temporary ones, its current database.

A session without a store, and a dry run over a whole script, keep the stored objects in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone

from sqlext.errors import SqlExtError, meant_or_listed
from sqlext.secrets import remember_options
from sqlext_catalog.literals import literal_secrets, with_secrets, without_secrets
from sqlext_catalog.model import (
    DEFAULT_CATALOG,
    DEFAULT_DATABASE,
    Catalog,
    CatalogObject,
    ObjectName,
    Relation,
    Table,
    View,
)
from sqlext_catalog.snapshot import (
    Change,
    ChangeFunction,
    ObjectKey,
    Put,
    Snapshot,
    check_changes,
    check_no_temporary,
    key_of,
    relation_key,
)
from sqlext_catalog.store import Store, Version


class MemoryStore:
    """Keeps every version in a list; starts from a snapshot (the empty catalog unless one is given)."""

    def __init__(self, start: Snapshot | None = None) -> None:
        self._snapshots = [start or Snapshot.empty()]
        self._history: list[Version] = []

    def snapshot(self, version: int | None = None) -> Snapshot:
        """Return the catalog as it is now, or as it was at a version."""
        if version is None:
            return self._snapshots[-1]
        for snapshot in self._snapshots:
            if snapshot.version == version:
                return snapshot
        raise SqlExtError("CAT-034", f"the catalog has no version {version}")

    def commit(self, change: ChangeFunction, operation: str) -> Snapshot:
        """Apply what ``change`` says and return the snapshot after it."""
        before = self._snapshots[-1]
        changes = change(before)
        if not changes:
            return before
        check_no_temporary(changes)
        check_changes(changes)
        after = before.with_changes(changes).at_version(before.version + 1)
        self._snapshots.append(after)
        self._history.append(Version(after.version, operation, datetime.now(timezone.utc)))
        return after

    def history(self) -> list[Version]:
        """Return the commits, newest first."""
        return self._history[::-1]

    def another(self) -> MemoryStore:
        """Return the store itself: each version is put in place in one step."""
        return self


class SessionCatalog:
    """Stored objects, shadowed by temporary ones; the current catalog and database; names made full.

    Literal secrets of stored tables, views and catalogs are the session's alone: the store gets stars in their place.

    Attributes:
        current_catalog: where a name of one or two parts is looked up.
        current_database: where a name of one part is looked up.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store: Store = store if store is not None else MemoryStore()
        self._temporary: dict[ObjectKey, CatalogObject] = {}
        #: Stored tables, views and catalogs as this session was given them, with their literal secrets.
        self._given: dict[ObjectKey, Relation | Catalog] = {}
        #: Tables that lie in another system's catalog, and that no statement of ours has defined.
        self._found: dict[ObjectKey, Table] = {}
        self._told: set[ObjectKey] = set()
        self._merged: tuple[Snapshot, Snapshot] | None = None
        self.current_catalog = DEFAULT_CATALOG
        self.current_database = DEFAULT_DATABASE

    def snapshot(self) -> Snapshot:
        """Return everything this session sees now, temporary objects included."""
        stored = self._store.snapshot()
        # The store gives the same object until a commit, so statements between two commits share one merge.
        if self._merged is None or self._merged[0] is not stored:
            self._merged = stored, self._with_own(stored)
        return self._merged[1]

    def resolve(self, parts: Sequence[str]) -> ObjectName:
        """Return the full name behind a name of one to three parts."""
        if not 1 <= len(parts) <= 3:
            raise SqlExtError(
                "NAME-090",
                f"`{'.'.join(parts)}` has {len(parts)} parts; a name has at most catalog, database and object",
            )
        # Missing parts are filled from the left: a name of two parts takes the current catalog alone.
        return ObjectName(*(self.current_catalog, self.current_database)[: 3 - len(parts)], *parts)

    def lookup(self, parts: Sequence[str]) -> Relation | None:
        """Return the table or view that a name of one to three parts means, or None."""
        return self.snapshot().get(self.resolve(parts))

    def candidates(self) -> list[str]:
        """Return how each visible table and view can be called here, shortest form, for did-you-mean hints."""
        return [self._shortest(r.name) for r in self.snapshot().relations()]

    def is_elsewhere(self, parts: Sequence[str]) -> bool:
        """Return whether a relation's name has a database, and one that this catalog does not have."""
        if len(parts) == 1:
            return False
        if len(parts) > 3:
            return True
        name = self.resolve_database(parts[:-1])
        return self.snapshot().database(name.catalog, name.database) is None

    def use_catalog(self, name: str) -> None:
        """Make a catalog current, and its default database with it, as Flink's USE CATALOG."""
        snapshot = self.snapshot()
        catalog = snapshot.catalog(name)
        if catalog is None:
            names = [c.name for c in snapshot.catalogs()]
            raise _unknown("catalog", name, names)
        self.current_catalog, self.current_database = name, catalog.default_database

    def use_database(self, parts: Sequence[str]) -> None:
        """Make a database current: ``USE db`` or ``USE catalog.db``."""
        key = self.resolve_database(parts)
        snapshot = self.snapshot()
        if snapshot.database(key.catalog, key.database) is None:
            names = [d.name.database for d in snapshot.databases(key.catalog)]
            raise _unknown("database", key.database, names)
        self.current_catalog, self.current_database = key.catalog, key.database

    def resolve_database(self, parts: Sequence[str]) -> ObjectName:
        """Return the full name of a database given as ``db`` or ``catalog.db``; its ``name`` is empty."""
        if not 1 <= len(parts) <= 2:
            raise SqlExtError("NAME-090", f"`{'.'.join(parts)}` has {len(parts)} parts; a database has at most two")
        return ObjectName(parts[0] if len(parts) == 2 else self.current_catalog, parts[-1], "")

    def apply(self, changes: ChangeFunction | Sequence[Change], operation: str) -> Snapshot:
        """Apply a statement's changes: temporary objects to this session, the others to the store in one commit.

        Args:
            changes: the changes, or a function of the snapshot that gives them (``sqlext_catalog.ddl``); a function
                sees the temporary objects too, and runs again if another process committed first.
            operation: what the history says, for instance ``CREATE TABLE a.b.c``.
        """
        decide = changes if callable(changes) else _always(changes)
        wanted: list[Change] = []

        def stored_part(stored: Snapshot) -> list[Change]:
            # The store may run this again on a newer snapshot: only the last run counts.
            wanted[:] = decide(self._with_own(stored))
            check_changes(c for c in wanted if c.key.kind == "temporary")
            return [_storable(c) for c in wanted if c.key.kind != "temporary"]

        # The store first: if it refuses, the session must not have kept anything.
        self._store.commit(stored_part, operation)
        self._keep(wanted)
        return self.snapshot()

    def give(self, item: Relation | Catalog, *, anew: bool = True) -> None:
        """Take the literal secrets of a definition that is stored already: they count in this session.

        Args:
            item: the definition as a statement has it.
            anew: whether they count in place of those that the session has.
        """
        key = key_of(item)
        if key.kind in ("relation", "catalog") and (anew or key not in self._given):
            self._keep([Put(item)])

    def find(self, table: Table) -> None:
        """Take a table of another system's catalog as it is there now; one that is defined here goes before it."""
        self._found[key_of(table)] = table
        self._merged = None

    def is_found(self, name: ObjectName) -> bool:
        """Return whether a table was found in another system's catalog, and is not defined here."""
        key = relation_key(name)
        return key in self._found and key not in self._store.snapshot()

    def forget(self, name: ObjectName) -> None:
        """Forget a table that was found: it is there no more."""
        self._found.pop(relation_key(name), None)
        self._merged = None

    def untold(self) -> dict[str, tuple[str, ...]]:
        """Return the options whose secrets are in this session alone, by table or view, each once.

        Without a store nothing outlives the session, so there is nothing to tell.
        """
        if isinstance(self._store, MemoryStore):
            return {}
        found = {key.plain: literal_secrets(item) for key, item in self._given.items() if key not in self._told}
        self._told.update(self._given)
        return found

    def fork(self) -> SessionCatalog:
        """Return a copy in memory: what is done to it reaches neither this session nor the store."""
        copy = SessionCatalog(MemoryStore(self._store.snapshot()))
        # A copy, since a dry run creates temporary objects too.
        copy._temporary, copy._given, copy._found = dict(self._temporary), dict(self._given), dict(self._found)
        copy.current_catalog, copy.current_database = self.current_catalog, self.current_database
        return copy

    def history(self) -> list[Version]:
        """Return the store's commits, newest first."""
        return self._store.history()

    def at_version(self, version: int) -> Snapshot:
        """Return the stored definitions as they were at a version."""
        return self._store.snapshot(version)

    def another_store(self) -> Store:
        """Return the store of this catalog for use in another thread."""
        return self._store.another()

    def _with_own(self, stored: Snapshot) -> Snapshot:
        """Return a stored snapshot with what only this session has: literal secrets, and temporary objects."""
        given = [with_secrets(stored[key], item) for key, item in self._given.items() if key in stored]
        found = [table for key, table in self._found.items() if key not in stored]
        own = [*given, *found, *self._temporary.values()]
        return stored.with_changes(map(Put, own)) if own else stored

    def _keep(self, changes: Iterable[Change]) -> None:
        """Keep the temporary objects among the changes, and the literal secrets of the others."""
        for change in changes:
            self._temporary.pop(change.key, None)
            self._given.pop(change.key, None)
            if isinstance(change, Put):
                item = change.object
                if isinstance(item, Table | Catalog):
                    remember_options(item.options)
                if change.key.kind == "temporary":
                    self._temporary[change.key] = item
                elif isinstance(item, Table | View | Catalog) and without_secrets(item) is not item:
                    self._given[change.key] = item
            self._merged = None

    def _shortest(self, name: ObjectName) -> str:
        if name.catalog != self.current_catalog:
            return name.plain
        return name.name if name.database == self.current_database else f"{name.database}.{name.name}"


def _storable(change: Change) -> Change:
    return Put(without_secrets(change.object)) if isinstance(change, Put) else change


def _always(changes: Sequence[Change]) -> Callable[[Snapshot], Sequence[Change]]:
    return lambda snapshot: changes


def _unknown(what: str, name: str, names: list[str]) -> SqlExtError:
    return SqlExtError("CAT-002", f"there is no {what} `{name}`", hint=meant_or_listed(name, names, f"{what.upper()}S"))
