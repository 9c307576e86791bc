"""Answer DESCRIBE and SHOW COLUMNS.

A row stands for a column. It has Flink's six columns, and a seventh if any column has a comment.
"""

from __future__ import annotations

from sqlext.analysis.definitions.create_text import metadata_text, stored_text
from sqlext.analysis.definitions.views import query_columns
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.scans.tables import table_columns
from sqlext.dialect.ast.queries import Query, TableBody, TableRef
from sqlext.dialect.ast.statements import Describe, DescribeCatalog, Name
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.columns import PlanColumn
from sqlext.secrets import redact
from sqlext.sinks.live_rows import Row
from sqlext.source import Span
from sqlext.types import LogicalType
from sqlext_catalog.model import Catalog, Column, Table
from sqlext_catalog.session_catalog import SessionCatalog

COLUMNS = ("name", "type", "null", "key", "extras", "watermark")


def describe(statement: Describe, catalog: SessionCatalog, env: Environment) -> tuple[tuple[str, ...], list[Row]]:
    """Return what DESCRIBE prints.

    Raises:
        SqlExtError: NAME-002 if there is no such table or view.
    """
    return describe_relation(statement.name, statement.name_span, catalog, env)


def describe_catalog(statement: DescribeCatalog, catalog: SessionCatalog) -> tuple[tuple[str, ...], list[Row]]:
    """Return what DESCRIBE CATALOG prints: name, type and comment, if EXTENDED each option too; secrets are hidden.

    Raises:
        SqlExtError: CAT-002 if there is no such catalog.
    """
    found = catalog_named(statement.name, statement.name_span, catalog)
    options = redact(found.stated_options)
    rows: list[Row] = [("name", found.name), ("type", dict(options)["type"]), ("comment", found.comment)]
    if statement.extended:
        rows += [(f"option:{key}", value) for key, value in options if key != "type"]
    return ("info name", "info value"), rows


def catalog_named(name: str, span: Span, catalog: SessionCatalog) -> Catalog:
    """Return a catalog.

    Raises:
        SqlExtError: CAT-002 if there is none of that name.
    """
    snapshot = catalog.snapshot()
    found = snapshot.catalog(name)
    if found is None:
        hint = did_you_mean(name, [c.name for c in snapshot.catalogs()]) or "SHOW CATALOGS lists them"
        raise SqlExtError("CAT-002", f"there is no catalog `{name}`", span=span, hint=hint)
    return found


def describe_relation(
    name: Name, span: Span, catalog: SessionCatalog, env: Environment
) -> tuple[tuple[str, ...], list[Row]]:
    """Return the columns of a table, of a view, or of what only Spark knows.

    Raises:
        SqlExtError: NAME-002 if there is no such table or view.
    """
    found = catalog.lookup(name)
    if isinstance(found, Table):
        return _describe_table(found)
    # Only tables have stored types: the columns of a view are those of its query, bound now.
    query = Query(span, TableBody(span, TableRef(span, name, span)))
    shown = query_columns(query, env)
    return COLUMNS, [(c.name, c.type_text(), _nullable(c.type), None, None, None) for c in shown]


def _describe_table(table: Table) -> tuple[tuple[str, ...], list[Row]]:
    rows = [_row(c, p, table) for c, p in zip(table.columns, table_columns(table), strict=True)]
    if all(c.comment is None for c in table.columns):
        return COLUMNS, rows
    return (*COLUMNS, "comment"), [(*row, c.comment) for row, c in zip(rows, table.columns, strict=True)]


def _row(column: Column, shown: PlanColumn, table: Table) -> Row:
    key = table.primary_key
    key_text = f"PRI({', '.join(key.columns)})" if key and column.name in key.columns else None
    mark = table.watermark
    mark_text = stored_text(mark.expression, table) if mark and mark.column == column.name else None
    return column.name, shown.type_text(), _nullable(shown.type), key_text, _extras(column, table), mark_text


def _extras(column: Column, table: Table) -> str | None:
    if column.kind == "computed":
        return f"AS {stored_text(column.expression or '', table)}"
    return metadata_text(column) if column.kind == "metadata" else None


def _nullable(type_: LogicalType | None) -> bool:
    return type_ is None or type_.nullable
