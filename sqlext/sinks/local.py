"""Define a sink of queries that run without Spark: it takes the rows of a batch as a table, exactly once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import pyarrow as pa

from sqlext.connectors.base import loaded
from sqlext.connectors.registry import connector_named
from sqlext.connectors.spec import WriteSpec
from sqlext.quoting import identifier
from sqlext.rewrite.arrow.queries import compiled_query
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.sinks.base import SinkContext
from sqlext.sources.queries import TableQuery

_ROWS = "rows"


class LocalSink:
    """Takes the batches of one query; see ``sinks.base.Sink``, whose files and tables it writes."""

    def require(self) -> None:
        """Refuse what ``open`` would refuse; nothing is made or changed."""

    def open(self) -> None:
        """Make ready before the query starts; refuse here what would fail later."""

    def write(self, rows: pa.Table, batch_id: int, *, repeated: bool) -> None:
        """Take a batch.

        Args:
            rows: the columns of the table, then the hidden ones.
            batch_id: its number.
            repeated: whether it may have been written before.
        """
        raise NotImplementedError

    def finish(self) -> None:
        """Do what is left when the query has ended by itself. May be called again."""


#: What ``Connector.local_sink`` names.
MakeLocalSink = Callable[[WriteSpec, SinkContext, pa.Schema], LocalSink]


def local_sink(spec: WriteSpec, context: SinkContext, schema: pa.Schema) -> LocalSink:
    """Return the sink of a table for a query without Spark; nothing is written yet.

    Args:
        spec: the table.
        context: the query.
        schema: its rows.

    Raises:
        Unsuited: where only Spark writes it.
    """
    place = connector_named(spec.connector).local_sink
    if not place:
        raise Unsuited(f"connector '{spec.connector}' writes by Spark alone")
    return cast(MakeLocalSink, loaded(place))(spec, context, schema)


def selected(columns: Mapping[str, str], schema: pa.Schema, zone: str) -> TableQuery:
    """Return the query of columns, SQL by name, over the rows that come to a sink.

    Raises:
        Unsuited: for what Arrow is not known to compute as Spark does.
    """
    items = ", ".join(f"{text} AS {identifier(name)}" for name, text in columns.items())
    known = tuple(zip(schema.names, schema.types, strict=True))
    return compiled_query(f"SELECT {items} FROM {_ROWS}", lambda _: known, zone)


def made_of(query: TableQuery, rows: pa.Table) -> pa.Table:
    """Return what a ``selected`` query makes of rows."""
    return query.run({_ROWS: rows})
