"""Say what of a CREATE TABLE may not be meant, although it is accepted."""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.analysis.scans.timing import constant_delay
from sqlext.connectors.base import Connector
from sqlext.connectors.options import OptionError
from sqlext.connectors.registry import connector_of, known
from sqlext.dialect.ast.statements import CreateTable
from sqlext.errors import SqlExtError
from sqlext_catalog.model import Table


def table_cautions(statement: CreateTable, table: Table) -> Iterator[SqlExtError]:
    """Yield the warnings of a definition: WARN-006, WARN-009."""
    connector = known(table)
    if connector is None:
        return
    if connector.gives_once:
        yield SqlExtError(
            "WARN-009",
            f"{connector.owner} gives nothing twice: rows of `{table.name.name}` come at most once",
            span=statement.name_span,
            hint="a source that keeps its rows gives them again: 'connector' = 'kafka', or files",
        )
    if connector.in_files:
        yield from _watermarks(statement, connector, table)


def unusable(statement: CreateTable, table: Table) -> SqlExtError | None:
    """Return what is wrong with an option of a definition however the table is used; None where nothing is.

    What is missing is no mistake yet: another definition may add it by LIKE.
    """
    places = {o.key: o.key_span.to(o.value_span) for o in statement.options}
    return next((e.at(places[e.option]) for e in _refusals(table) if e.option in places), None)


def _refusals(table: Table) -> list[OptionError]:
    """Return why a table cannot be used, by role; nothing where it can be used in one."""
    try:
        connector = connector_of(table)
    except OptionError as error:
        return [error]
    refusals = []
    for role in connector.roles:
        try:
            connector.validate(table, role)
        except OptionError as error:
            refusals.append(error)
        else:
            return []
    return refusals


def _watermarks(statement: CreateTable, connector: Connector, table: Table) -> Iterator[SqlExtError]:
    # Files that are read together share a micro-batch, and no row of it is late to another one of it.
    if connector.bounded(table) and table.option("maxFilesPerTrigger") is None:
        return
    for mark in statement.watermarks:
        if constant_delay(mark.expression, ".".join(mark.column)) == 0:
            name = mark.column[-1]
            yield SqlExtError(
                "WARN-006",
                f"the watermark is not behind `{name}`: rows of a file are late if an earlier one had newer rows",
                span=mark.expression.span,
                hint=f"WATERMARK FOR {name} AS {name} - INTERVAL '10' SECOND",
            )
