"""The views that a Spark script reads: sources opened, steps taken, in the session's own Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.connectors.registry import connector_of
from sqlext.execution.sources import open_batch, open_stream
from sqlext.execution.ticks import TickSource
from sqlext.rewrite.quoting import identifier
from sqlext.rewrite.script import (
    HEARTBEAT_VIEW,
    OperatorView,
    RowsView,
    SourceView,
    SparkScript,
    SqlView,
    Step,
    TagView,
)
from sqlext.udfs.processors.table_functions import register_table_functions
from sqlext.udfs.registry import operator
from sqlext.user_functions import UserFunctions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Spark's mark of an event-time column (EventTimeWatermark.delayKey); its value does not matter to operators.
_EVENT_TIME = {"spark.watermarkDelayMs": 0}
#: Spark's mark of a column that its own ``window()`` made (TimeWindow.marker).
_WINDOW = {"spark.timeWindow": True}


def open_script(
    spark: SparkSession,
    script: SparkScript,
    zone: str,
    heartbeat: Path | None,
    ticks: TickSource | None,
    registered: UserFunctions,
) -> DataFrame:
    """Return the script's query as a DataFrame, its views registered under their names.

    Args:
        registered: the user's classes, which operators name.

    Raises:
        SqlExtError: OPT-..., RUN-... for a source that cannot be opened.
        AnalysisException: what Spark refuses in the query.
    """
    for source in script.sources:
        _open_source(spark, source, zone)
    if script.heartbeat and heartbeat is not None:
        heartbeat.mkdir(parents=True, exist_ok=True)
        spark.readStream.format("text").load(str(heartbeat)).createOrReplaceTempView(HEARTBEAT_VIEW)
    register_table_functions(spark, script.table_functions, registered)
    for step in script.steps:
        _take(spark, step, ticks, registered).createOrReplaceTempView(step.view)
    return spark.sql(script.query)


def _open_source(spark: SparkSession, source: SourceView, zone: str) -> None:
    spec = connector_of(source.table).read_spec(source.table, zone)
    frame = open_stream(spark, spec) if source.streaming else open_batch(spark, spec)
    frame.createOrReplaceTempView(source.view)


def _take(spark: SparkSession, step: Step, ticks: TickSource | None, registered: UserFunctions) -> DataFrame:
    if isinstance(step, SqlView):
        return spark.sql(step.sql)
    if isinstance(step, TagView):
        return _tagged(spark, step)
    if isinstance(step, RowsView):
        schema = ", ".join(f"{identifier(n)} {t}" for n, t in step.columns)
        return spark.createDataFrame([tuple(r) for r in step.rows], schema)
    assert isinstance(step, OperatorView)
    opened = ticks.open(spark, step.ticks) if ticks is not None else None
    arguments = {**dict(step.arguments), "registered": registered}
    return operator(step.function).apply(spark.table(step.input), arguments, opened)


def _tagged(spark: SparkSession, step: TagView) -> DataFrame:
    from pyspark.sql import functions

    frame = spark.table(step.input)
    metadata = {**_EVENT_TIME, **(_WINDOW if step.window else {})}
    column = functions.col(identifier(step.column)).alias(step.column, metadata=metadata)
    return frame.withColumns({step.column: column})
