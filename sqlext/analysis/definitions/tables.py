"""Bind CREATE TABLE to the table that the catalog keeps."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.analysis.definitions.ctas import ctas_columns
from sqlext.analysis.definitions.elements import (
    check_partitions,
    check_watermark,
    columns_of,
    not_null,
    primary_key_of,
    single_key,
    single_watermark,
    typed,
    watermark_of,
)
from sqlext.analysis.definitions.expressions import Expressions
from sqlext.analysis.definitions.lakes import check_connector, in_lake, lake_of
from sqlext.analysis.definitions.like import Inherited, base_table, inherit
from sqlext.analysis.definitions.older_options import in_present_keys
from sqlext.analysis.names.environment import Environment
from sqlext.connectors.options import COMMON, OWN_PREFIX, OptionError
from sqlext.connectors.registry import known
from sqlext.dialect.ast.statements import CreateTable, LikeClause, Option
from sqlext.errors import SqlExtError, did_you_mean
from sqlext_catalog.model import Column, PrimaryKey, Table, Watermark
from sqlext_catalog.session_catalog import SessionCatalog


def table_of(statement: CreateTable, env: Environment, catalog: SessionCatalog) -> Table:
    """Return the table that a CREATE TABLE defines; nothing is stored.

    Raises:
        SqlExtError: what is wrong with the definition, at its place (codes: see the package); OPT-003 for an option
            that its connector has not.
    """
    name = catalog.resolve(statement.name)
    expressions = Expressions(name.name, env.mode, env.zone, statement.name_span)
    own = columns_of(statement.columns, expressions)
    base = Inherited()
    if statement.like is not None:
        if statement.query is not None:
            raise SqlExtError("DDL-014", "CREATE TABLE has LIKE or AS, not both", span=statement.like.span)
        base = inherit(statement, statement.like, base_table(statement.like, catalog), own)
        _check_meaning(statement, statement.like, base, expressions)
    source = base.columns
    if statement.query is not None:
        source = ctas_columns(statement, statement.query, own, env)
    taken = {c.name for c in source}
    columns = (*source, *(c for c in own if c.name not in taken))
    key = _primary_key(statement, columns, base)
    # The key first: it makes columns NOT NULL, and computed columns get their nullability from those.
    columns = typed(not_null(columns, key), expressions)
    partitions = statement.partitioned_by or base.partitioned_by
    check_partitions(partitions, columns, statement.name_span)
    # After `typed`: its expression must be of the column's type, which may be a derived one.
    mark = _watermark(statement, columns, base, expressions)
    # Of a key given twice the last counts, as in Flink.
    given = in_present_keys(statement.options)
    options = dict(base.options) | {o.key: o.value for o in given}
    # A temporary table is the session's, whatever catalog its name is in.
    lake = None if statement.temporary else lake_of(name, catalog)
    if lake is not None:
        check_connector(statement, options, lake)
        options = in_lake(name, options, catalog)
    table = Table(
        name,
        columns,
        mark,
        key,
        partitions,
        tuple(options.items()),
        statement.comment,
        statement.temporary,
        env.mode,
    )
    check_known(given, table)
    return table


def check_known(options: Sequence[Option], table: Table) -> None:
    """Check that a table's connector, if there is one of that name, knows options as they are written.

    Raises:
        SqlExtError: OPT-003 at the option, OPT-005 for what is wrong however the table is used.
    """
    connector = known(table)
    for option in options:
        error = (
            _refused_without_connector(table, option.key)
            if connector is None
            else connector.refused_option(table, option.key)
        )
        if error is not None:
            raise error.at(option.key_span.to(option.value_span))


def _refused_without_connector(table: Table, key: str) -> OptionError | None:
    """Return OPT-003 for a key of our own that no table has, and for one that is meant to be 'connector'."""
    misspelt = table.option("connector") is None and did_you_mean(key, ("connector",)) is not None
    if key in COMMON.keys or not (key.startswith(OWN_PREFIX) or misspelt):
        return None
    message = f"no table has an option '{key}', and this one names no connector that could have it"
    return OptionError("OPT-003", message, option=key, hint=did_you_mean(key, COMMON.keys) or "leave it out")


def _check_meaning(statement: CreateTable, like: LikeClause, base: Inherited, expressions: Expressions) -> None:
    """Refuse to take expressions over that would be read in another meaning than the one they were written in."""
    if base.has_expressions and base.expressions != expressions.mode:
        raise SqlExtError(
            "DDL-013",
            f"`{'.'.join(like.table)}` was created with 'sqlext.expressions' = '{base.expressions}', and its "
            f"expressions would change their meaning here",
            span=like.span,
            hint=f"SET 'sqlext.expressions' = '{base.expressions}' first",
        )


def _primary_key(statement: CreateTable, columns: Sequence[Column], base: Inherited) -> PrimaryKey | None:
    definition = single_key(statement.primary_keys, statement.columns)
    if definition is None:
        return base.primary_key
    return primary_key_of(definition, columns, {c.name for c in statement.columns})


def _watermark(
    statement: CreateTable, columns: Sequence[Column], base: Inherited, expressions: Expressions
) -> Watermark | None:
    definition = single_watermark(statement.watermarks)
    if definition is None:
        if base.watermark is not None:
            check_watermark(base.watermark, columns, expressions, statement.name_span)
        return base.watermark
    # Flink 2.3 does not let it use a generated column of the base table (ddl/like_excluding_options).
    own = {c.name for c in statement.columns}
    usable = [c for c in columns if c.kind != "computed" or c.name in own]
    return watermark_of(definition, usable, expressions)
