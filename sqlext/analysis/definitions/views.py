"""Bind CREATE VIEW to the view that the catalog keeps: its text verbatim, and the settings that give it its meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.dialect.ast.queries import Cte, Query, TableRef
from sqlext.dialect.ast.statements import CreateView
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn
from sqlext.source import Span
from sqlext_catalog.model import ObjectName, View
from sqlext_catalog.session_catalog import SessionCatalog


def view_of(statement: CreateView, env: Environment, catalog: SessionCatalog) -> View:
    """Return the view that a CREATE VIEW defines, its query checked now; nothing is stored.

    Raises:
        SqlExtError: what is wrong with the query; DDL-020 if it reads the view itself, DDL-021 for columns that do
            not go with it.
    """
    name = catalog.resolve(statement.name)
    refuse_itself(statement.query, name, catalog)
    # As if it were being expanded: a view in between that reads this one is found as well.
    inside = replace(env, expanding=(*env.expanding, name.plain))
    columns = named_columns(statement, tuple(c.name for c in query_columns(statement.query, inside)), inside)
    return View(
        name,
        columns,
        statement.query.span.text,
        statement.comment,
        statement.temporary,
        env.mode,
        catalog.current_catalog,
        catalog.current_database,
    )


_Found = TypeVar("_Found")
#: Refused of streams alone: sub-queries that are values, outer joins of static rows.
_OF_STREAMS = frozenset({"JOIN-016", "JOIN-017", "JOIN-018"})


def query_columns(query: Query, env: Environment) -> tuple[PlanColumn, ...]:
    """Return the columns of a query that is defined or described, not run.

    Raises:
        SqlExtError: what is wrong with the query.
    """
    return _not_run(env, lambda binder: binder.bind(query).columns)


def _not_run(env: Environment, found: Callable[[QueryBinder], _Found]) -> _Found:
    """Return what a binder finds in a query that does not run yet.

    What only a stream cannot do is refused when the query is used: until then it is read as batch, where it has the
    same columns.
    """
    try:
        return found(QueryBinder(env))
    except SqlExtError as error:
        if error.code not in _OF_STREAMS or not env.settings.streaming:
            raise
        try:
            return found(QueryBinder(as_batch(env)))
        # The first refusal is the one about the user's query as it will run.
        except SqlExtError:
            raise error from None


def as_batch(env: Environment) -> Environment:
    """Return the surroundings in which nothing is a stream."""
    return replace(env, settings=env.settings.with_value("execution.runtime-mode", "batch"))


def named_columns(statement: CreateView, columns: tuple[str, ...], env: Environment) -> tuple[str, ...]:
    """Return the names of a view's columns: its own, or those of its query (DDL-021)."""
    names = statement.columns or columns
    if len(names) != len(columns):
        raise SqlExtError(
            "DDL-021",
            f"the view names {len(names)} columns, its query has {len(columns)}",
            span=statement.name_span,
            hint=f"the query's are {', '.join(columns)}",
        )
    # A star's second `id` becomes `id0`; one that is written is refused, as by Flink.
    item = None if statement.columns else _not_run(env, lambda b: b.repeated_item(statement.query))
    if item is not None:
        raise _named_twice(item.name, item.span)
    for i, name in enumerate(names):
        if name in names[:i]:
            raise _named_twice(name, statement.name_span if statement.columns else statement.query.span)
    return names


def _named_twice(name: str, span: Span) -> SqlExtError:
    message = f"the view has two columns named `{name}`"
    return SqlExtError("DDL-021", message, span=span, hint="give one of them an alias")


def refuse_itself(query: Query, name: ObjectName, catalog: SessionCatalog) -> None:
    """Refuse a view whose query reads it (DDL-020)."""
    for table in tables_read(query):
        if catalog.resolve(table.parts) == name:
            raise SqlExtError("DDL-020", f"view `{name.plain}` reads itself", span=table.name_span)


def tables_read(query: Query) -> list[TableRef]:
    """Return the tables and views that a query names, wherever in it."""
    nodes = list(query.walk())
    hidden = {node.name for node in nodes if isinstance(node, Cte)}
    # A CTE hides a table from unqualified names alone.
    return [n for n in nodes if isinstance(n, TableRef) and not (len(n.parts) == 1 and n.parts[0] in hidden)]
