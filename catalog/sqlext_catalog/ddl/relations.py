"""Change tables and views: CREATE, ALTER, RENAME and DROP."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from sqlext.errors import SqlExtError, meant_or_listed
from sqlext_catalog.diff import diff
from sqlext_catalog.model import INFORMATION_SCHEMA, ObjectName, Relation, Table, View
from sqlext_catalog.snapshot import Change, ChangeFunction, Delete, Put, Snapshot, relation_key

#: What CREATE does when the name is taken: refuse; nothing (IF NOT EXISTS); put the new definition in its place (OR
#: REPLACE); nothing if the definitions are equal and refuse, naming the difference, if not (a script that runs again).
IfExists = Literal["error", "ignore", "replace", "match"]


def create(item: Relation, if_exists: IfExists = "error") -> ChangeFunction:
    """CREATE [OR REPLACE] [TEMPORARY] TABLE | VIEW [IF NOT EXISTS].

    A temporary object may take the name of a stored one and hides it (Flink: CatalogManager.createTemporaryTable).
    """

    def change(snapshot: Snapshot) -> Sequence[Change]:
        _check_place(snapshot, item)
        existing = snapshot.temporary(item.name) if item.temporary else snapshot.stored(item.name)
        if existing is None or _goes_ahead(existing, item, if_exists):
            return [Put(item)]
        return []

    return change


def drop_table(name: ObjectName, *, if_exists: bool = False, temporary: bool = False) -> ChangeFunction:
    """DROP [TEMPORARY] TABLE [IF EXISTS]."""
    return _drop(Table, name, if_exists=if_exists, temporary=temporary)


def drop_view(name: ObjectName, *, if_exists: bool = False, temporary: bool = False) -> ChangeFunction:
    """DROP [TEMPORARY] VIEW [IF EXISTS]."""
    return _drop(View, name, if_exists=if_exists, temporary=temporary)


def alter_table(name: ObjectName, alter: Callable[[Table], Table], *, if_exists: bool = False) -> ChangeFunction:
    """ALTER TABLE [IF EXISTS]: ``alter`` makes the new definition from the current one.

    ``alter`` runs again on the newer definition if another process altered the table in between, so that neither
    alteration is lost; it must look at nothing but its argument.
    """

    def change(snapshot: Snapshot) -> Sequence[Change]:
        found = _find(snapshot, name, Table, if_exists)
        return [Put(altered)] if isinstance(found, Table) and (altered := alter(found)) != found else []

    return change


def alter_view(name: ObjectName, alter: Callable[[View], View], *, if_exists: bool = False) -> ChangeFunction:
    """ALTER VIEW: ``alter`` makes the new definition from the current one, as for tables."""

    def change(snapshot: Snapshot) -> Sequence[Change]:
        found = _find(snapshot, name, View, if_exists)
        return [Put(altered)] if isinstance(found, View) and (altered := alter(found)) != found else []

    return change


def set_options(name: ObjectName, options: Mapping[str, str], *, if_exists: bool = False) -> ChangeFunction:
    """ALTER TABLE ... SET (...): the named options get new values, the others stay."""
    return alter_table(
        name,
        lambda t: replace(t, options=tuple((dict(t.options) | dict(options)).items())),
        if_exists=if_exists,
    )


def reset_options(name: ObjectName, keys: Iterable[str], *, if_exists: bool = False) -> ChangeFunction:
    """ALTER TABLE ... RESET (...): the named options go back to their defaults."""
    gone = frozenset(keys)
    return alter_table(
        name,
        lambda t: replace(t, options=tuple(pair for pair in t.options if pair[0] not in gone)),
        if_exists=if_exists,
    )


def rename(name: ObjectName, new_name: ObjectName, *, view: bool = False, if_exists: bool = False) -> ChangeFunction:
    """ALTER TABLE | VIEW ... RENAME TO, within its database (as Flink's Catalog.renameTable)."""
    kind = View if view else Table

    def change(snapshot: Snapshot) -> Sequence[Change]:
        found = _find(snapshot, name, kind, if_exists)
        if found is None:
            return []
        if new_name[:2] != name[:2]:
            raise SqlExtError(
                "CAT-008", f"a rename keeps the database: `{name.plain}` cannot become `{new_name.plain}`"
            )
        renamed = replace(found, name=new_name)
        taken = snapshot.temporary(new_name) if found.temporary else snapshot.stored(new_name)
        if taken is not None:
            raise _exists(taken)
        # Both in one commit: no process sees the table under two names, or under none.
        return [Delete(relation_key(name, temporary=found.temporary)), Put(renamed)]

    return change


def _check_place(snapshot: Snapshot, item: Relation) -> None:
    catalog, database, _ = item.name
    if database == INFORMATION_SCHEMA:
        raise SqlExtError("CAT-009", f"`{INFORMATION_SCHEMA}` is read-only: nothing can be created in it")
    # Flink does not ask for the database of a temporary object; we do, so that a misspelt one is noticed.
    if snapshot.database(catalog, database) is None:
        names = [d.name.database for d in snapshot.databases(catalog)]
        hint = meant_or_listed(database, names, "DATABASES")
        raise SqlExtError("CAT-002", f"there is no database `{catalog}.{database}`", hint=hint)


def _goes_ahead(existing: Relation, item: Relation, if_exists: IfExists) -> bool:
    if if_exists == "ignore":
        return False
    if if_exists == "error":
        raise _exists(existing)
    if type(existing) is not type(item):
        raise SqlExtError(
            "CAT-004",
            f"`{item.name.plain}` is a {_word(existing)}, not a {_word(item)}",
            hint=f"DROP {_word(existing).upper()} first",
        )
    if if_exists == "match" and (differences := diff(existing, item)):
        raise SqlExtError(
            "CAT-003",
            f"{_word(item)} `{item.name.plain}` exists with another definition: {'; '.join(differences)}",
            hint=f"drop it, ALTER it, or write CREATE OR REPLACE {_word(item).upper()}",
        )
    return if_exists == "replace"


def _drop(kind: type[Table] | type[View], name: ObjectName, *, if_exists: bool, temporary: bool) -> ChangeFunction:
    def change(snapshot: Snapshot) -> Sequence[Change]:
        hiding = snapshot.temporary(name)
        if not temporary and isinstance(hiding, kind):
            # Flink: "Temporary table with identifier '%s' exists. Drop it first before removing the permanent table."
            raise SqlExtError(
                "CAT-007",
                f"temporary {_word(hiding)} `{name.plain}` hides the stored one",
                hint=f"DROP TEMPORARY {_word(hiding).upper()} removes the temporary one",
            )
        found = hiding if temporary else snapshot.stored(name)
        if isinstance(found, kind):
            return [Delete(relation_key(name, temporary=temporary))]
        if if_exists:
            return []
        raise _missing(snapshot, name, kind, found, temporary=temporary)

    return change


def _find(snapshot: Snapshot, name: ObjectName, kind: type[Table] | type[View], if_exists: bool) -> Relation | None:
    found = snapshot.get(name)
    if isinstance(found, kind) or (found is None and if_exists):
        return found
    raise _missing(snapshot, name, kind, found)


def _missing(
    snapshot: Snapshot,
    name: ObjectName,
    kind: type[Table] | type[View],
    found: Relation | None,
    *,
    temporary: bool = False,
) -> SqlExtError:
    word = "table" if kind is Table else "view"
    if found is not None:
        other = _word(found)
        hint = f"write {other.upper()} in place of {word.upper()}"
        return SqlExtError("CAT-004", f"`{name.plain}` is a {other}, not a {word}", hint=hint)
    names = [r.name.name for r in snapshot.relations(name.catalog, name.database)]
    what = f"temporary {word}" if temporary else word
    hint = meant_or_listed(name.name, names, f"{word.upper()}S")
    return SqlExtError("CAT-002", f"there is no {what} `{name.plain}`", hint=hint)


def _exists(existing: Relation) -> SqlExtError:
    what = f"temporary {_word(existing)}" if existing.temporary else _word(existing)
    return SqlExtError(
        "CAT-001",
        f"{what} `{existing.name.plain}` exists already",
        hint="IF NOT EXISTS keeps the one that is there",
    )


def _word(item: Relation) -> str:
    return "table" if isinstance(item, Table) else "view"
