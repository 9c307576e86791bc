"""Create, suspend, resume and drop materialized views: a table and the query of its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlext.analysis.definitions.materialized import materialized_of
from sqlext.analysis.inserts.binding import bind_insert
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError, meant_or_listed
from sqlext.jobs.query_files import folder_name
from sqlext.jobs.result import Result
from sqlext.locations import absolute
from sqlext.secrets import redact_text
from sqlext.session.handler import Definitions
from sqlext.source import SourceText, Span
from sqlext.stores.opening import has_store
from sqlext_catalog import ddl
from sqlext_catalog.model import ObjectName, QueryRecord, Relation, Table, keeping_query, query_name

#: Below the catalog's folder: the rows of materialized views, a folder each.
TABLES = "tables"


def own_place(folder: Path | str, name: ObjectName) -> str | None:
    """Return where the rows of a materialized view lie, if WITH says no other place.

    Args:
        folder: the catalog's folder or URL. Where nothing can lie beside the catalog, there is no such place.
    """
    if not has_store(folder):
        return None
    return f"{absolute(str(folder))}/{TABLES}/{folder_name(name.plain)}"


def create_materialized(statement: ast.CreateView, interpreter: Definitions) -> Result:
    """Create a materialized view and start its query; one that is there goes on where it was.

    Raises:
        SqlExtError: as CREATE TABLE AS; CAT-003 if a finished one had another query.
    """
    state, handler, env = interpreter.state, interpreter.handler, interpreter.environment()
    name = state.catalog.resolve(statement.name)
    table, fill = materialized_of(statement, env, state.catalog, own_place(state.folder, name))
    found = state.catalog.lookup(statement.name)
    if statement.or_replace and keeping_query(found) is not None:
        _remove(name, found, interpreter)
        found = None
    try:
        interpreter.create(table, statement, "CREATE MATERIALIZED VIEW")
    except SqlExtError as error:
        # One that stands at an option says what its value brings.
        raise error if error.code != "CAT-003" or error.span is not None else _with_ways_on(error) from None
    query = query_name(name)
    if found is not None:
        if keeping_query(found) is None:  # IF NOT EXISTS, and it is a table
            return Result()
        record = state.catalog.snapshot().query(query)
        if handler.runs(query) or (record is not None and _is_done(record, statement, env)):
            return Result()
    return _started(statement, fill, query, interpreter)


def _with_ways_on(error: SqlExtError) -> SqlExtError:
    """Return the refusal of another definition with what can be done: ALTER changes no view."""
    hint = "sqlext deploy runs the new query beside the old one; CREATE OR REPLACE MATERIALIZED VIEW fills it anew"
    return SqlExtError(error.code, error.message, span=error.span, hint=hint)


def _started(statement: ast.CreateView, fill: ast.Insert, query: str, interpreter: Definitions) -> Result:
    """Start the query under its name."""
    state = interpreter.state
    env = interpreter.environment()
    settings = state.settings
    # A job takes its name from this setting; afterwards the user's own value is back.
    state.settings = settings.with_value("pipeline.name", query)
    try:
        return interpreter.handler.insert(statement, [bind_insert(fill, env)], env)
    finally:
        state.settings = settings


def _is_done(record: QueryRecord, statement: ast.CreateView, env: Environment) -> bool:
    """Whether a view's query has come to its end and need not go on: its rows would be written twice."""
    if record.status != "finished" or env.settings.get("sqlext.bounded") != "finish":
        return False
    before, now = (redact_text(text).split() for text in (record.statement, statement.span.text))
    if not statement.if_not_exists and before != now:
        raise SqlExtError(
            "CAT-003",
            f"materialized view `{record.name}` was filled by another query",
            span=statement.query.span,
            hint="DROP MATERIALIZED VIEW, or CREATE OR REPLACE MATERIALIZED VIEW, fills it anew",
        )
    return True


def alter_materialized(statement: ast.AlterMaterialized, interpreter: Definitions) -> Result:
    """Stop the query of a materialized view, or let it go on where it was.

    Raises:
        SqlExtError: CAT-002 there is none, CAT-004 it is something else; as STOP JOB and CREATE MATERIALIZED VIEW.
    """
    catalog = interpreter.state.catalog
    found = catalog.lookup(statement.name)
    query = keeping_query(found)
    if found is None or query is None:
        raise _no_view(statement.name, found, interpreter, statement.name_span, "ALTER")
    if statement.action == "SUSPEND":
        return interpreter.handler.stop_job(ast.StopJob(statement.span, query, statement.name_span))
    record = catalog.snapshot().query(query)
    if record is None or interpreter.handler.runs(query):
        return Result()
    (create,) = parse_script(SourceText.of(record.statement), interpreter.environment().mode)
    assert isinstance(create, ast.CreateView)
    # As it was written first it might begin anew.
    again = replace(create, or_replace=False, if_not_exists=True)
    return create_materialized(again, interpreter)


def drop_materialized(statement: ast.Drop, interpreter: Definitions) -> Result:
    """Stop a materialized view's query, and forget both; rows below the catalog's folder go too.

    Raises:
        SqlExtError: CAT-002 there is none, CAT-004 it is something else, RUN-022 another process runs its query.
    """
    catalog = interpreter.state.catalog
    name = catalog.resolve(statement.name)
    found = catalog.lookup(statement.name)
    if keeping_query(found) is not None:
        _remove(name, found, interpreter)
    elif found is not None or not statement.if_exists:
        raise _no_view(statement.name, found, interpreter, statement.name_span, "DROP")
    return Result()


def _no_view(written: ast.Name, found: Relation | None, interpreter: Definitions, span: Span, verb: str) -> SqlExtError:
    """Return CAT-002 or CAT-004: there is no materialized view of a name."""
    catalog = interpreter.state.catalog
    name = catalog.resolve(written)
    if found is not None:
        word = "table" if isinstance(found, Table) else "view"
        message = f"`{name.plain}` is a {word}, not a materialized view"
        return SqlExtError("CAT-004", message, span=span, hint=f"write {verb} {word.upper()}")
    names = [r.name.name for r in catalog.snapshot().relations() if keeping_query(r) is not None]
    message = f"there is no materialized view `{name.plain}`"
    return SqlExtError("CAT-002", message, span=span, hint=meant_or_listed(name.name, names, "MATERIALIZED TABLES"))


def _remove(name: ObjectName, found: Relation | None, interpreter: Definitions) -> None:
    query = keeping_query(found)
    if isinstance(found, Table) and query is not None:
        # The query goes first: it must not write into a table that is gone.
        interpreter.handler.drop_kept(query, found)
    interpreter.state.created.discard(name.plain)
    interpreter.state.catalog.apply(ddl.drop_table(name), f"DROP MATERIALIZED VIEW {name.plain}")


def refuse_drop(statement: ast.Drop, found: Relation | None) -> None:
    """Refuse DROP TABLE and DROP VIEW of a materialized view: its query would go on (CAT-004)."""
    if keeping_query(found) is None or statement.temporary:
        return
    message = f"`{'.'.join(statement.name)}` is a materialized view, not a {statement.kind.lower()}"
    raise SqlExtError("CAT-004", message, span=statement.name_span, hint="write DROP MATERIALIZED VIEW")


def written_by_query(table: Table, span: Span) -> SqlExtError:
    """Return the refusal of an INSERT into a materialized view: its query alone writes it (SINK-009)."""
    return SqlExtError(
        "SINK-009", f"`{table.name.name}` is a materialized view: only its own query writes it", span=span
    )
