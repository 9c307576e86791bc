"""Say what of a CREATE TABLE may not be meant, although it is accepted."""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.analysis.scans.timing import constant_delay
from sqlext.connectors.base import Connector
from sqlext.connectors.registry import known
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
