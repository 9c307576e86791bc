"""Run statements on catalogs and databases, in ours and in those of lakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from sqlext.analysis.definitions.catalogs import check_catalog, check_properties
from sqlext.connectors.admission import admit
from sqlext.connectors.lake.kinds import OF_CATALOG, kind_of
from sqlext.connectors.options import OptionError
from sqlext.connectors.registry import makes_table
from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError
from sqlext.jobs.result import Result
from sqlext.session.catalogs.found import find_database, find_tables, lake_named
from sqlext.session.handler import Definitions
from sqlext_catalog import ddl
from sqlext_catalog.model import DEFAULT_DATABASE, Catalog, Database, ObjectName, Relation, Table


def create_catalog(statement: ast.CreateCatalog, session: Definitions) -> Result:
    """Run CREATE CATALOG; one of a lake is opened, and gets its default database.

    Raises:
        SqlExtError: CAT-039 and CAT-045 if Spark cannot open it, RESTRICT-... if the session may not.
    """
    state = session.state
    check_catalog(statement.options)
    if state.settings.expressions == "flink" and all(o.key != "type" for o in statement.options):
        hint = "add WITH ('type' = 'generic_in_memory')"
        raise SqlExtError("OPT-004", "CREATE CATALOG needs the option 'type'", span=statement.name_span, hint=hint)
    made = _with_options(Catalog(statement.name[-1], comment=statement.comment), statement.options)
    exists = statement.if_not_exists or made.name not in state.created
    _admit(made, statement.options, session)
    before = state.catalog.snapshot().catalog(made.name)
    # A catalog that is there keeps its options: the statement may give those of another one.
    _open(made if before is None else _as_stored(before, made), statement, session)
    state.catalog.apply(ddl.create_catalog(made, if_not_exists=exists), f"CREATE CATALOG {made.name}")
    state.catalog.give(made, anew=not statement.if_not_exists)
    state.created.add(made.name)
    return Result()


def _as_stored(before: Catalog, made: Catalog) -> Catalog:
    """Return a catalog that is there with the secrets of a statement that makes it again."""
    from sqlext_catalog.literals import with_secrets

    found = with_secrets(before, made)
    assert isinstance(found, Catalog)
    return found


def _admit(made: Catalog, options: Sequence[ast.Option], session: Definitions) -> None:
    """Refuse a catalog of a lake that may not be used, as a table of it would be refused."""
    kind = kind_of(made.options)
    if kind is None:
        return
    given = tuple((f"{OF_CATALOG}{k}", v) for k, v in made.options)
    table = Table(ObjectName(made.name, made.default_database, ""), (), options=(("connector", kind.name), *given))
    try:
        admit(table, session.state.policy)
    except OptionError as error:
        key = (error.option or "").removeprefix(OF_CATALOG)
        key = "type" if key == "connector" else key
        place = next((o.key_span.to(o.value_span) for o in options if o.key == key), None)
        raise error if place is None else error.at(place) from None


def _open(made: Catalog, statement: ast.CreateCatalog, session: Definitions) -> None:
    kind = kind_of(made.options)
    if kind is None:
        return
    type_ = next((o.value_span for o in statement.options if o.key == "type"), statement.name_span)
    opened = kind.catalog(made.name, made.options)
    lakes = session.handler.lakes()
    try:
        lakes.open(opened)
        # As Flink's catalogs do.
        lakes.make_database(opened, made.default_database)
    except SqlExtError as error:
        raise error.at(type_) from error.__cause__


def alter_catalog(statement: ast.AlterCatalog, session: Definitions) -> Result:
    """Run ALTER CATALOG."""
    catalog = session.state.catalog
    before = catalog.snapshot().catalog(statement.name)
    if before is not None and kind_of(before.options) is not None and (statement.options or statement.keys):
        message = f"the options of catalog `{statement.name}` stay: Spark keeps a catalog as it was opened"
        hint = "DROP CATALOG it, and CREATE it again in a new session; its tables stay"
        raise SqlExtError("CAT-045", message, span=statement.span, hint=hint)
    check_catalog(statement.options, altered=True)
    if "type" in statement.keys:
        raise SqlExtError("CAT-039", "the type of a catalog cannot be taken away", span=statement.span)

    def altered(catalog: Catalog) -> Catalog:
        kept = replace(catalog, options=tuple(o for o in catalog.options if o[0] not in statement.keys))
        changed = _with_options(kept, statement.options)
        return changed if statement.comment is None else replace(changed, comment=statement.comment)

    catalog.apply(ddl.alter_catalog(statement.name, altered), f"ALTER CATALOG {statement.name}")
    return Result()


def create_database(statement: ast.CreateDatabase, session: Definitions) -> Result:
    """Run CREATE DATABASE; in a catalog of a lake it is made there."""
    state = session.state
    check_properties(statement.options)
    options = tuple((o.key, o.value) for o in statement.options)
    name = state.catalog.resolve_database(statement.name)
    database = Database(name, statement.comment, options)
    # As for tables: what this script has not created itself may be there already.
    exists = statement.if_not_exists or f"{name.catalog}.{name.database}" not in state.created
    lake = lake_named(name.catalog, state.catalog)
    if lake is not None:
        session.handler.lakes().make_database(lake, name.database)
    change = ddl.create_database(database, if_not_exists=exists)
    state.catalog.apply(change, f"CREATE DATABASE {'.'.join(statement.name)}")
    state.created.add(f"{name.catalog}.{name.database}")
    return Result()


def alter_database(statement: ast.AlterDatabase, session: Definitions) -> Result:
    """Run ALTER DATABASE."""
    name = session.state.catalog.resolve_database(statement.name)
    check_properties(statement.options)
    options = {o.key: o.value for o in statement.options}
    session.state.catalog.apply(ddl.alter_database(name, options), f"ALTER DATABASE {'.'.join(statement.name)}")
    return Result()


def drop_container(statement: ast.Drop, session: Definitions) -> Result:
    """Run DROP CATALOG and DROP DATABASE; of a lake the database goes with its tables, and a catalog stays there."""
    catalog = session.state.catalog
    if statement.kind == "CATALOG":
        name = statement.name[-1]
        change = ddl.drop_catalog(name, if_exists=statement.if_exists, current=catalog.current_catalog)
        catalog.apply(change, f"DROP CATALOG {name}")
        session.state.created.discard(name)
        return Result()
    database = catalog.resolve_database(statement.name)
    lake = lake_named(database.catalog, catalog)
    if lake is not None:
        find_database(database, session)
        find_tables(database, session)
    inside = catalog.snapshot().relations(database.catalog, database.database) if lake is not None else []
    change = ddl.drop_database(
        database,
        if_exists=statement.if_exists,
        cascade=statement.cascade,
        current=(catalog.current_catalog, catalog.current_database),
    )
    catalog.apply(change, f"DROP DATABASE {'.'.join(statement.name)}")
    session.state.created.discard(f"{database.catalog}.{database.database}")
    if lake is not None:
        for table in inside:
            if _lies_in_lake(table):
                session.handler.lakes().drop(table)
                catalog.forget(table.name)
        session.handler.lakes().drop_database(lake, database.database)
    return Result()


def drop_in_lake(found: Relation | None, statement: ast.Drop, session: Definitions) -> bool:
    """Drop the rows of a table in a catalog of a lake; return whether that was all of it."""
    if found is None or not _lies_in_lake(found):
        return False
    session.handler.lakes().drop(found)
    catalog = session.state.catalog
    # What no statement has made is not in the store.
    was_all = catalog.is_found(found.name)
    catalog.forget(found.name)
    return was_all


def _lies_in_lake(relation: Relation) -> TypeGuard[Table]:
    """Return whether a table was made in a catalog of a lake: one that only names such a catalog leaves its rows."""
    return (
        isinstance(relation, Table)
        and makes_table(relation)
        and any(k.startswith(OF_CATALOG) for k, _ in relation.options)
    )


def _with_options(catalog: Catalog, options: Sequence[ast.Option]) -> Catalog:
    """Return a catalog that has these options too, the default database of them and of its own."""
    merged = dict(catalog.options) | {o.key: o.value for o in options}
    kind = kind_of(merged.items())
    default = merged.get("default-database") or (kind.default_database if kind is not None else DEFAULT_DATABASE)
    return replace(catalog, options=tuple(merged.items()), default_database=default)
