"""Bind CREATE TABLE AS: the columns of the query, and what the statement adds to them (Flink: MergeTableAsUtil).

New columns come first, then the query's in its order. A column that both have takes the statement's type and comment at
the query's place. A list of bare names only reorders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.definitions.elements import find, listed
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.analysis.types.coercion import can_implicitly_cast
from sqlext.dialect.ast.queries import Query
from sqlext.dialect.ast.statements import ColumnDef, CreateTable, Insert
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.columns import PlanColumn, unique_names
from sqlext.source import Span
from sqlext_catalog.model import Column


def ctas_columns(statement: CreateTable, query: Query, own: Sequence[Column], env: Environment) -> tuple[Column, ...]:
    """Return the columns of a CREATE TABLE AS.

    Raises:
        SqlExtError: what is wrong with the query; DDL-001 for two names that are one, DDL-014 for definitions that
            do not go with it, DDL-015 for a temporary table, TYPE-020 for a column without a type.
    """
    if statement.temporary:
        raise SqlExtError("DDL-015", "CREATE TEMPORARY TABLE cannot have AS", span=statement.span)
    columns = _query_columns(query, env)
    if statement.column_names:
        return _reordered(statement, columns)
    for definition, column in zip(statement.columns, own, strict=True):
        _check_definition(definition, column, find(columns, column.name))
    added = tuple(c for c in own if find(columns, c.name) is None)
    return added + tuple(find(own, c.name) or c for c in columns)


def fill_of(statement: CreateTable, query: Query, env: Environment) -> Insert:
    """Return the INSERT that fills the table of a CREATE TABLE AS: by name where the statement has columns."""
    fill = Insert(statement.span, statement.name, statement.name_span, query)
    if not statement.columns and not statement.column_names:
        return fill
    return replace(fill, columns=tuple(unique_names(c.name for c in QueryBinder(env).bind(query).columns)))


def _query_columns(query: Query, env: Environment) -> tuple[Column, ...]:
    columns = QueryBinder(env).bind(query).columns
    names = unique_names(c.name for c in columns)
    return tuple(_column(c.renamed(name), query.span) for c, name in zip(columns, names, strict=True))


def _column(column: PlanColumn, span: Span) -> Column:
    if column.type is None or column.type.root == "NULL":
        raise SqlExtError(
            "TYPE-020",
            f"the type of the query's column `{column.name}` is not known",
            span=span,
            hint=f"say it: CAST(... AS STRING) AS {column.name}",
        )
    return Column(column.name, column.type)


def _reordered(statement: CreateTable, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    names = statement.column_names
    for i, name in enumerate(names):
        if name in names[:i]:
            raise SqlExtError("DDL-001", f"column `{name}` is named twice", span=statement.name_span)
        if find(columns, name) is None:
            hint = did_you_mean(name, [c.name for c in columns]) or listed(columns)
            raise SqlExtError("DDL-014", f"the query has no column `{name}`", span=statement.name_span, hint=hint)
    if len(names) != len(columns):
        message = f"{len(names)} names for the {len(columns)} columns of the query"
        raise SqlExtError("DDL-014", message, span=statement.name_span, hint=listed(columns))
    by_name = {c.name: c for c in columns}
    return tuple(by_name[name] for name in names)


def _check_definition(definition: ColumnDef, column: Column, source: Column | None) -> None:
    target = column.type
    if source is None:
        if column.kind == "physical" and target is not None and not target.nullable:
            message = f"the query does not fill `{column.name}`, which is NOT NULL"
            raise SqlExtError("DDL-014", message, span=definition.span)
        return
    if column.kind == "computed":
        message = f"`{column.name}` is a column of the query and cannot be computed"
        raise SqlExtError("DDL-014", message, span=definition.span)
    given = source.type
    if given is None or target is None:
        return
    # Unlike INSERT, whose enforcer looks at the rows, this also refuses what may be NULL for a NOT NULL column.
    if not can_implicitly_cast(given, target) or (given.nullable and not target.nullable):
        message = f"the query's `{column.name}` is {given}, which does not fit {target}"
        raise SqlExtError("DDL-014", message, span=definition.span, hint="CAST it in the query")
