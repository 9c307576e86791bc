"""Bind CREATE MATERIALIZED VIEW and TABLE: the Delta table that a query of its name keeps.

The table is that of a CREATE TABLE AS with the view's column names. The key of an updating query is its PRIMARY KEY.
Its columns stay nullable where the query's are: NULL is a group like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.definitions.elements import check_partitions, primary_key_of, single_key
from sqlext.analysis.definitions.tables import table_of
from sqlext.analysis.definitions.views import named_columns, refuse_itself
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.connectors.registry import OF_VIEWS
from sqlext.dialect.ast.statements import CreateTable, CreateView, Insert
from sqlext.errors import SqlExtError
from sqlext.plan.nodes import PlanNode
from sqlext.plan.panes import visible_key
from sqlext_catalog.model import (
    KEPT_BY,
    Column,
    Options,
    PrimaryKey,
    Table,
    query_name,
)
from sqlext_catalog.session_catalog import SessionCatalog

_PLACES = ("path", "table-path", "table-name")


def materialized_of(
    statement: CreateView, env: Environment, catalog: SessionCatalog, place: str | None
) -> tuple[Table, Insert]:
    """Return the table of a materialized view and the INSERT that keeps it; nothing is stored.

    Args:
        place: the folder or URL of its rows, if WITH says no other; None where it must say one.

    Raises:
        SqlExtError: as CREATE VIEW and CREATE TABLE AS; DDL-015 for a temporary one, DDL-022 for a table that is not
            Delta's, CAT-041 where its rows have no place.
    """
    if statement.temporary:
        raise SqlExtError("DDL-015", "a materialized view cannot be temporary", span=statement.span)
    name = catalog.resolve(statement.name)
    refuse_itself(statement.query, name, catalog)
    plan = QueryBinder(env).bind_whole(statement.query)
    names = named_columns(statement, tuple(c.name for c in plan.columns), env)
    create = CreateTable(
        statement.span,
        statement.name,
        statement.name_span,
        comment=statement.comment,
        options=statement.options,
        query=statement.query,
    )
    table = table_of(create, env, catalog)
    columns = tuple(replace(c, name=n) for c, n in zip(table.columns, names, strict=True))
    options = _options(statement, table, place)
    check_partitions(statement.partitioned_by, columns, statement.name_span)
    key = _declared(statement, columns) or _key(plan, names)
    partitions = statement.partitioned_by
    table = replace(table, columns=columns, primary_key=key, partitioned_by=partitions, options=options)
    # A query that ends gives all of its rows at once, so it replaces what is there; a stream adds to it.
    fill = Insert(statement.span, statement.name, statement.name_span, statement.query, overwrite=not plan.streaming)
    return table, fill


def _declared(statement: CreateView, columns: Sequence[Column]) -> PrimaryKey | None:
    """Return the key of a materialized table that says one."""
    definition = single_key(statement.primary_keys, ())
    return None if definition is None else primary_key_of(definition, columns, set(definition.columns))


def _key(plan: PlanNode, names: Sequence[str]) -> PrimaryKey | None:
    """Return the columns that hold the key of an updating query."""
    held = (visible_key(plan) or ()) if plan.updating else ()
    key = tuple(name for name, column in zip(names, plan.columns, strict=True) if column.physical in held)
    return PrimaryKey("_".join(("PK", *key)), key) if key else None


def _options(statement: CreateView, table: Table, place: str | None) -> Options:
    options = dict(table.options)
    if options.setdefault("connector", OF_VIEWS) != OF_VIEWS:
        (span,) = (o.value_span for o in statement.options[::-1] if o.key == "connector")
        raise SqlExtError("DDL-022", "a materialized view is a delta table", span=span)
    if not any(key in options for key in _PLACES):
        if place is None:
            message = "the rows of a materialized view have no place where the catalog is a table of Spark's"
            hint = "WITH ('path' = '...'), or WITH ('table-name' = 'catalog.schema.table')"
            raise SqlExtError("CAT-041", message, span=statement.name_span, hint=hint)
        options["path"] = place
    return tuple((options | {KEPT_BY: query_name(table.name)}).items())
