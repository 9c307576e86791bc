"""Open the sink of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from sqlext.connectors.base import loaded
from sqlext.connectors.registry import connector_named
from sqlext.connectors.spec import WriteSpec
from sqlext.sinks.base import Sink, SinkContext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What ``Connector.sink`` names.
MakeSink = Callable[[WriteSpec, SinkContext], Sink]


def open_sink(spark: SparkSession, spec: WriteSpec, context: SinkContext) -> Sink:
    """Return the sink of a table, ready to write.

    Raises:
        SqlExtError: SINK-090 the sink cannot write in that mode, SINK-091 what is there has other columns,
            SINK-092 the path is a file, SINK-093 a type that the format cannot hold.
    """
    sink = _sink(spec, context)
    sink.open(spark)
    return sink


def add_columns(spark: SparkSession, spec: WriteSpec) -> None:
    """Add the columns that a table declares to what lies there, as ALTER TABLE ADD asks."""
    _sink(spec, SinkContext("", "")).add_columns(spark)


def _sink(spec: WriteSpec, context: SinkContext) -> Sink:
    # A connector names its sink as text, so that reading a table loads no code that writes.
    make = cast(MakeSink, loaded(connector_named(spec.connector).sink))
    return make(spec, context)
