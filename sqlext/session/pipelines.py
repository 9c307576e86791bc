"""Run queries with stateful functions in a Spark Declarative Pipeline. A generated Python file calls ``define``.

Definitions of a pipeline may neither make views nor change settings. So a query is one flow of DataFrames, each step's
handed to the next.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlext.capabilities import PIPELINES, require
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.rewrite.export.placeholders import with_placeholders
from sqlext.rewrite.script.model import Compiled, OperatorView, SourceView, SparkScript, SqlView, Step, TagView
from sqlext.session.offline.compilation import compile_source, new_state, read_source
from sqlext.spark.event_time import tagged
from sqlext.spark.reading.spark_sources import open_batch, open_stream
from sqlext.spark.reading.ticks import TickSource
from sqlext.stores.location import Location
from sqlext_udfs.spark.registry import operator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def define(spark: SparkSession, script: str, *, table: str, folder: str, clock: Path) -> None:
    """Define a streaming table in a Python file of a pipeline.

    Args:
        spark: the pipeline's session.
        script: definitions, and last the statement that fills the table.
        table: the name of the table.
        folder: what relative paths in the script are relative to.
        clock: a folder with the file of the first tick: ms since 1970 UTC.

    Raises:
        SqlExtError: what is wrong with the script, DDL-041 for a step that no pipeline can take,
            ENV-014 where Spark has no pipelines.
    """
    require(PIPELINES)
    from pyspark import pipelines

    with _working_in(folder):
        compiled, zone = _last(script, table)
        flow = _Flow(spark, zone, TickSource(Location.of(clock), runs=True))
        rows = flow.rows(compiled.script)
    pipelines.table(name=table)(partial(_given, rows))


def _last(script: str, table: str) -> tuple[Compiled, str]:
    state = new_state(None)
    # Readers of ours keep their places in a query's folder, which no pipeline has.
    state.settings = state.settings.with_value("sqlext.source", "spark")
    statements = list(compile_source(read_source(script), state, heartbeat=False))
    # A statement set has several inserts, each in a file of its own.
    found = (c for c in statements[-1][1] if c.insert is not None and c.insert.table.name.name == table)
    return next(found), state.settings.zone


def _given(rows: DataFrame) -> DataFrame:
    """Return the rows. Operators ask for the types of their input, which a query function itself may not."""
    return rows


@contextmanager
def _working_in(folder: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class _Flow:
    """The steps of one query."""

    def __init__(self, spark: SparkSession, zone: str, ticks: TickSource) -> None:
        self._spark = spark
        self._zone = zone
        self._ticks = ticks
        self._frames: dict[str, Any] = {}  # DataFrames; spark.sql() takes them as keywords

    def rows(self, script: SparkScript) -> DataFrame:
        for source in script.sources:
            self._frames[source.view] = self._opened(source)
        for step in script.steps:
            self._frames[step.view] = self._taken(step)
        return self._query(script.query)

    def _opened(self, source: SourceView) -> DataFrame:
        spec = connector_of(source.table).read_spec(source.table, self._zone)
        return open_stream(self._spark, spec) if source.streaming else open_batch(self._spark, spec)

    def _taken(self, step: Step) -> DataFrame:
        if isinstance(step, SqlView):
            return self._query(step.sql)
        if isinstance(step, TagView):
            return tagged(self._frames[step.input], step)
        if isinstance(step, OperatorView):
            ticks = self._ticks.open(self._spark, step.ticks)
            return operator(step.function).apply(self._frames[step.input], dict(step.arguments), ticks)
        raise SqlExtError("DDL-041", f"a pipeline cannot take the step {type(step).__name__}", hint="run it by sqlext")

    def _query(self, sql: str) -> DataFrame:
        return self._spark.sql(with_placeholders(sql, self._frames), **self._frames)
