"""Answer SHOW, with the column names that Flink prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime

from sqlext.analysis import functions
from sqlext.analysis.definitions.create_text import (
    create_catalog_text,
    create_materialized_text,
    create_table_text,
    create_view_text,
)
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast.statements import CreateView, Show
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError, did_you_mean, meant_or_listed
from sqlext.session.introspection.describe import catalog_named, describe, describe_catalog, describe_relation
from sqlext.sinks.live_rows import Row
from sqlext.source import SourceText
from sqlext.watermarks.texts import wall
from sqlext_catalog.ddl.queries import dead_letters_of, job_of
from sqlext_catalog.information_schema import NAMES as SYSTEM_VIEWS
from sqlext_catalog.model import INFORMATION_SCHEMA, QueryRecord, Relation, Table, View, keeping_query
from sqlext_catalog.session_catalog import SessionCatalog

__all__ = ["describe", "describe_catalog", "show"]

_Answer = tuple[tuple[str, ...], list[Row]]


def show(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    """Return the names of the columns and the rows of a SHOW statement.

    Raises:
        SqlExtError: NAME-002 or CAT-002 for something that does not exist, CAT-004 for a view in place of a table or
            the reverse.
    """
    columns, rows = _ANSWERS[statement.what](statement, catalog, env)
    return columns, matching(statement, rows)


def matching(statement: Show, rows: list[Row]) -> list[Row]:
    """Return the rows whose first column fits ``[NOT] LIKE | ILIKE``: ``%`` any text, ``_`` any character."""
    if statement.like is None:
        return rows
    flags = re.DOTALL | (re.IGNORECASE if statement.like_op == "ILIKE" else 0)
    pattern = re.compile(_regex(statement.like), flags)
    return [row for row in rows if bool(pattern.fullmatch(str(row[0]))) != statement.negated]


def _regex(pattern: str) -> str:
    # Flink's SqlLikeUtils: a backslash takes the next character as it is.
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    return "".join({"%": ".*", "_": "."}.get(p) or re.escape(p[-1]) for p in parts)


def _listed(column: str, names: Iterable[str]) -> _Answer:
    return (column,), [(name,) for name in names]


def _tables(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    """List tables and views alike, as Flink does."""
    if statement.name and statement.name[-1].lower() == INFORMATION_SCHEMA:
        return _listed("table name", sorted(SYSTEM_VIEWS))
    return _listed("table name", (r.name.name for r in _relations(statement, catalog)))


def _views(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    return _listed("view name", (r.name.name for r in _relations(statement, catalog) if isinstance(r, View)))


def _materialized_tables(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    kept = (r.name.name for r in _relations(statement, catalog) if isinstance(r, Table) and keeping_query(r))
    return _listed("materialized table", kept)


def _relations(statement: Show, catalog: SessionCatalog) -> list[Relation]:
    parts = statement.name or (catalog.current_catalog, catalog.current_database)
    name = catalog.resolve_database(parts)
    snapshot = catalog.snapshot()
    if snapshot.database(name.catalog, name.database) is None:
        names = [d.name.database for d in snapshot.databases(name.catalog)]
        message = f"there is no database `{name.catalog}.{name.database}`"
        raise SqlExtError(
            "CAT-002", message, span=statement.name_span, hint=meant_or_listed(name.database, names, "DATABASES")
        )
    return snapshot.relations(name.catalog, name.database)


def _columns(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    return describe_relation(statement.name, statement.name_span or statement.span, catalog, env)


def _databases(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    name = statement.name[-1] if statement.name else catalog.current_catalog
    catalog_named(name, statement.name_span or statement.span, catalog)
    return _listed("database name", (d.name.database for d in catalog.snapshot().databases(name)))


def _catalogs(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    return _listed("catalog name", (c.name for c in catalog.snapshot().catalogs()))


def _current_catalog(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    return _listed("current catalog name", [catalog.current_catalog])


def _current_database(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    return _listed("current database name", [catalog.current_database])


def _functions(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    return _listed("function name", sorted({*functions.all_names(), *env.functions.names("aggregate", "table")}))


def _queries(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    columns = ("query name", "status", "reads", "writes", "watermark", "started", "dead letters")
    rows: list[Row] = [
        (
            *(q.name, q.status, ", ".join(q.reads), q.writes),
            *(_wall(q.watermark, env), _wall(q.started, env), dead_letters_of(q)),
        )
        for q in _records(catalog)
    ]
    return columns, rows


def _jobs(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    """List jobs under the columns of Flink's SHOW JOBS; a job's name is its id."""
    # Queries of one job start and end together, so any of their records stands for it.
    jobs = {job_of(q): q for q in _records(catalog)}
    rows: list[Row] = [(name, name, q.status.upper(), _wall(q.started, env)) for name, q in jobs.items()]
    return ("job id", "job name", "status", "start time"), rows


def _wall(millis: int | None, env: Environment) -> datetime | None:
    return None if millis is None else wall(millis, env.zone)


def _records(catalog: SessionCatalog) -> list[QueryRecord]:
    return catalog.snapshot().queries()


def _create_table(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    found = _found(statement, catalog)
    if not isinstance(found, Table):
        raise _wrong_kind(statement, "view", "SHOW CREATE VIEW")
    return ("result",), [(create_table_text(found),)]


def _create_materialized_table(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    found = _found(statement, catalog)
    query = keeping_query(found)
    if not isinstance(found, Table) or query is None:
        kind = "table" if isinstance(found, Table) else "view"
        raise _wrong_kind(statement, kind, f"SHOW CREATE {kind.upper()}")
    record = catalog.snapshot().query(query)
    if record is None:  # a script that is only checked has started none
        return _create_table(statement, catalog, env)
    (create,) = parse_script(SourceText.of(record.statement), found.expressions)
    assert isinstance(create, CreateView)
    return ("result",), [(create_materialized_text(found, create.query.span.text),)]


def _create_view(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    found = _found(statement, catalog)
    if not isinstance(found, View):
        raise _wrong_kind(statement, "table", "SHOW CREATE TABLE")
    return ("result",), [(create_view_text(found, env),)]


def _create_catalog(statement: Show, catalog: SessionCatalog, env: Environment) -> _Answer:
    found = catalog_named(statement.name[-1], statement.name_span or statement.span, catalog)
    return ("result",), [(create_catalog_text(found),)]


def _found(statement: Show, catalog: SessionCatalog) -> Relation:
    found = catalog.lookup(statement.name)
    if found is not None:
        return found
    what = "view" if statement.what == "CREATE VIEW" else "table"
    hint = did_you_mean(statement.name[-1], catalog.candidates())
    message = f"there is no {what} `{'.'.join(statement.name)}`"
    raise SqlExtError("NAME-002", message, span=statement.name_span, hint=hint)


def _wrong_kind(statement: Show, kind: str, hint: str) -> SqlExtError:
    message = f"`{'.'.join(statement.name)}` is a {kind}"
    return SqlExtError("CAT-004", message, span=statement.name_span, hint=f"write {hint}")


def _nothing(column: str) -> Callable[[Show, SessionCatalog, Environment], _Answer]:
    """Answer for what Flink has and we have not."""
    return lambda statement, catalog, env: ((column,), [])


_ANSWERS: dict[str, Callable[[Show, SessionCatalog, Environment], _Answer]] = {
    "TABLES": _tables,
    "VIEWS": _views,
    "MATERIALIZED TABLES": _materialized_tables,
    "COLUMNS": _columns,
    "DATABASES": _databases,
    "CATALOGS": _catalogs,
    "CURRENT CATALOG": _current_catalog,
    "CURRENT DATABASE": _current_database,
    "FUNCTIONS": _functions,
    "QUERIES": _queries,
    "JOBS": _jobs,
    "JARS": _nothing("jars"),
    "MODULES": lambda statement, catalog, env: _listed("module name", ["core"]),
    "FULL MODULES": lambda statement, catalog, env: (("module name", "used"), [("core", True)]),
    "MODELS": _nothing("model name"),
    "PROCEDURES": _nothing("procedure name"),
    "CREATE TABLE": _create_table,
    "CREATE MATERIALIZED TABLE": _create_materialized_table,
    "CREATE VIEW": _create_view,
    "CREATE CATALOG": _create_catalog,
}
