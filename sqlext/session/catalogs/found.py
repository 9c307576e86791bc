"""Find tables and databases in catalogs of lakes that no statement of this catalog has made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from sqlext.analysis.definitions.lakes import in_lake
from sqlext.connectors.lake.kinds import kind_of
from sqlext.connectors.spec import SparkCatalog
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.ast.queries import Query, TableRef
from sqlext.session.handler import Definitions
from sqlext_catalog import ddl
from sqlext_catalog.model import Column, Database, ObjectName, Table
from sqlext_catalog.session_catalog import SessionCatalog

#: Statements whose own name is that of a table that must be there.
_NAMING = (ast.Insert, ast.Describe, ast.AlterTable)
#: Kinds of SHOW whose name is one.
_SHOWN = frozenset({"COLUMNS", "CREATE TABLE"})


def lake_named(name: str, catalog: SessionCatalog) -> SparkCatalog | None:
    """Return the catalog of a lake that has a name, None if there is none."""
    found = catalog.snapshot().catalog(name)
    kind = kind_of(found.options) if found is not None else None
    return None if found is None or kind is None else kind.catalog(found.name, found.options)


def find_named(statement: ast.Statement, session: Definitions) -> None:
    """Take the tables and databases that a statement names as they are in their lakes."""
    catalog = session.state.catalog
    database = _database_of(statement, catalog)
    tables = [catalog.resolve(parts) for parts in _tables_of(statement) if 1 <= len(parts) <= 3]
    # The snapshot asks the catalog's store, which a statement without names has no need of.
    if (database is None and not tables) or not any(kind_of(c.options) for c in catalog.snapshot().catalogs()):
        return
    if database is not None:
        find_database(database, session)
    for table in tables:
        _find_table(table, session)


def _database_of(statement: ast.Statement, catalog: SessionCatalog) -> ObjectName | None:
    """Return the database that a statement enters, or makes something in."""
    if isinstance(statement, ast.Use) and statement.kind == "DATABASE" and len(statement.name) <= 2:
        return catalog.resolve_database(statement.name)
    if isinstance(statement, (ast.CreateTable, ast.CreateView)) and len(statement.name) <= 3:
        return catalog.resolve(statement.name)
    return None


def _tables_of(statement: ast.Statement) -> Iterator[ast.Name]:
    named = isinstance(statement, _NAMING) or (isinstance(statement, ast.Drop) and statement.kind == "TABLE")
    shown = isinstance(statement, ast.Show) and statement.what in _SHOWN
    if named or shown:
        yield statement.name  # type: ignore[attr-defined]
    for value in (getattr(statement, f.name) for f in fields(statement) if is_dataclass(statement)):
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Query):
                yield from (node.parts for node in part.walk() if isinstance(node, TableRef))
            elif isinstance(part, ast.Statement):
                yield from _tables_of(part)


def _find_table(name: ObjectName, session: Definitions) -> None:
    catalog = session.state.catalog
    lake = lake_named(name.catalog, catalog)
    if lake is None or catalog.snapshot().get(name) is not None:
        return
    columns = session.handler.lakes().columns(lake, (name.database, name.name))
    if columns is not None:
        made = tuple(Column(n, t) for n, t in columns if t is not None)
        mode = session.state.settings.expressions
        catalog.find(Table(name, made, options=tuple(in_lake(name, {}, catalog).items()), expressions=mode))


def find_database(name: ObjectName, session: Definitions) -> None:
    """Take a database as it is in its lake; where nobody can be asked, as it is named."""
    catalog = session.state.catalog
    lake = lake_named(name.catalog, catalog)
    if lake is None or catalog.snapshot().database(name.catalog, name.database) is not None:
        return
    there = session.handler.lakes().databases(lake)
    if there is None or name.database in there:
        database = Database(ObjectName(name.catalog, name.database, ""))
        catalog.apply(ddl.create_database(database, if_not_exists=True), f"FOUND DATABASE {name.plain}")


def find_tables(name: ObjectName, session: Definitions) -> None:
    """Take all tables of a database as they are in its lake."""
    lake = lake_named(name.catalog, session.state.catalog)
    if lake is not None:
        for table in session.handler.lakes().tables(lake, name.database):
            _find_table(ObjectName(name.catalog, name.database, table), session)


def show_lake(statement: ast.Show, session: Definitions) -> None:
    """Take what a SHOW is to list as it is in its lake."""
    catalog = session.state.catalog
    if statement.what == "DATABASES":
        name = statement.name[-1] if statement.name else catalog.current_catalog
        lake = lake_named(name, catalog)
        for database in (session.handler.lakes().databases(lake) or ()) if lake is not None else ():
            find_database(ObjectName(name, database, ""), session)
    elif statement.what == "TABLES" and len(statement.name) <= 2:
        parts = statement.name or (catalog.current_catalog, catalog.current_database)
        found = catalog.resolve_database(parts)
        find_database(found, session)
        find_tables(found, session)
