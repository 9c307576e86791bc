"""Print SHOW CREATE TABLE, MATERIALIZED TABLE, VIEW and CATALOG (Flink: ShowCreateUtil)."""

from __future__ import annotations

from sqlext.analysis.definitions.elements import find
from sqlext.analysis.definitions.flink_text import expression_text, string_literal
from sqlext.analysis.definitions.type_text import full_type
from sqlext.analysis.definitions.view_text import view_text
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError
from sqlext.secrets import redact, redact_options
from sqlext.types import quote
from sqlext_catalog.model import KEPT_BY, Catalog, Column, Options, Table, View


def create_table_text(table: Table) -> str:
    """Return the CREATE TABLE that makes this table; secrets are hidden."""
    elements = [_column(column, table) for column in table.columns]
    if table.watermark is not None:
        mark = table.watermark
        elements.append(f"WATERMARK FOR {_path(mark.column, table)} AS {stored_text(mark.expression, table)}")
    elements += _key(table)
    parts = [f"CREATE {_temporary(table)}TABLE {table.name} (", ",\n".join(f"  {e}" for e in elements), ")"]
    return "\n".join([*parts, *_behind(table, table.options)]) + "\n"


def create_materialized_text(table: Table, query: str) -> str:
    """Return the CREATE MATERIALIZED TABLE that makes a table, with its query as it is written; secrets are hidden."""
    key = [f"(\n  {text}\n)" for text in _key(table)]
    options = tuple((k, v) for k, v in table.options if k != KEPT_BY)
    head = [" ".join([f"CREATE MATERIALIZED TABLE {table.name}", *key]), *_behind(table, options)]
    return "\n".join([*head, "REFRESH_MODE = CONTINUOUS", f"AS {redact_options(query, table.expressions)}"]) + "\n"


def _key(table: Table) -> list[str]:
    key = table.primary_key
    return [f"CONSTRAINT {quote(key.name)} PRIMARY KEY ({_names(key.columns)}) NOT ENFORCED"] if key else []


def _behind(table: Table, options: Options) -> list[str]:
    """Return the clauses behind the columns."""
    parts = []
    if table.comment:
        parts.append(f"COMMENT {string_literal(table.comment)}")
    if table.partitioned_by:
        parts.append(f"PARTITIONED BY ({_names(table.partitioned_by)})")
    if options:
        parts.append(_options(options))
    return parts


def create_view_text(view: View, env: Environment) -> str:
    """Return the CREATE VIEW that makes this view; secrets in its hints are hidden."""
    columns = ",\n".join(f"  {quote(c)}" for c in view.columns)
    parts = [f"CREATE {_temporary(view)}VIEW {view.name} (", columns, ")"]
    if view.comment:
        parts.append(f"COMMENT {string_literal(view.comment)}")
    return "\n".join([*parts, f"AS {redact_options(view_text(view, env), view.expressions)}"]) + "\n"


def create_catalog_text(catalog: Catalog) -> str:
    """Return the CREATE CATALOG that makes this catalog; secrets are hidden."""
    parts = [f"CREATE CATALOG {quote(catalog.name)}"]
    if catalog.comment:
        parts.append(f"COMMENT {string_literal(catalog.comment)}")
    parts.append(_options(catalog.stated_options))
    return "\n".join(parts) + "\n"


def stored_text(text: str, table: Table) -> str:
    """Return a stored expression in Flink's form; as it is stored if it cannot be read any more."""
    try:
        # Read in the meaning in which the table was made, whatever the session's setting is now.
        return expression_text(parse_expression_text(text, table.expressions), table.expressions)
    except SqlExtError:
        return text


def metadata_text(column: Column) -> str:
    """Return ``METADATA [FROM 'key'] [VIRTUAL]``."""
    key = column.metadata_key
    source = f" FROM {string_literal(key)}" if key and key != column.name else ""
    return f"METADATA{source}{' VIRTUAL' if column.virtual else ''}"


def _column(column: Column, table: Table) -> str:
    if column.kind == "computed":
        text = f"{quote(column.name)} AS {stored_text(column.expression or '', table)}"
    else:
        text = f"{quote(column.name)} {full_type(column.type) if column.type else ''}".rstrip()
    if column.kind == "metadata":
        text += f" {metadata_text(column)}"
    return text + (f" COMMENT {string_literal(column.comment)}" if column.comment is not None else "")


def _path(column: str, table: Table) -> str:
    return quote(column) if find(table.columns, column) else ".".join(map(quote, column.split(".")))


def _options(options: Options) -> str:
    # Sorted, so that the text is always the same: options have no order.
    pairs = (f"  {string_literal(k)} = {string_literal(v)}" for k, v in sorted(redact(options)))
    return "WITH (\n" + ",\n".join(pairs) + "\n)"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(quote, names))


def _temporary(item: Table | View) -> str:
    return "TEMPORARY " if item.temporary else ""
