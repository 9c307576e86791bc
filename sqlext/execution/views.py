"""The views that a Spark script reads: sources opened, steps taken, in the session's own Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlext.connectors.registry import connector_of
from sqlext.execution.checkpoint import QueryHome
from sqlext.execution.frames import Frames
from sqlext.execution.progress import INPUT
from sqlext.execution.sources import open_batch, open_frame, open_stream
from sqlext.execution.ticks import TickSource
from sqlext.rewrite.quoting import identifier
from sqlext.rewrite.script import (
    HEARTBEAT_VIEW,
    ObservedView,
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
    home: QueryHome | None,
    ticks: TickSource | None,
    registered: UserFunctions,
    frames: Frames,
) -> DataFrame:
    """Return the script's query as a DataFrame, its views registered under their names.

    Args:
        home: where the rows lie that only move its watermarks.
        registered: the user's classes, which operators name.
        frames: the user's DataFrames, which tables name.

    Raises:
        SqlExtError: OPT-..., RUN-... for a source that cannot be opened.
        AnalysisException: what Spark refuses in the query.
    """
    for source in script.sources:
        _open_source(spark, source, zone, frames)
    if home is not None:
        _open_heartbeats(spark, script, home)
    register_table_functions(spark, script.table_functions, registered)
    for step in script.steps:
        _take(spark, step, ticks, registered).createOrReplaceTempView(step.view)
    return spark.sql(script.query)


def _open_heartbeats(spark: SparkSession, script: SparkScript, home: QueryHome) -> None:
    texts = spark.readStream.format("text")
    if script.heartbeat:
        home.heartbeat.mkdir(parents=True, exist_ok=True)
        texts.load(str(home.heartbeat)).createOrReplaceTempView(HEARTBEAT_VIEW)
    for number, kept in enumerate(script.kept):
        if kept.input.moved:
            folder = home.time / str(number)
            folder.mkdir(parents=True, exist_ok=True)
            texts.option("cleanSource", "delete").load(str(folder)).createOrReplaceTempView(kept.view)


def _open_source(spark: SparkSession, source: SourceView, zone: str, frames: Frames) -> None:
    spec = connector_of(source.table).read_spec(source.table, zone)
    if spec.frame is not None:
        with frames.opened(spec.frame, spark) as raw:
            open_frame(spark, raw, spec).createOrReplaceTempView(source.view)
        return
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
    if isinstance(step, ObservedView):
        return _observed(spark.table(step.input), step)
    assert isinstance(step, OperatorView)
    opened = ticks.open(spark, step.ticks) if ticks is not None else None
    arguments = {**dict(step.arguments), "registered": registered}
    return operator(step.function).apply(spark.table(step.input), arguments, opened)


def _observed(frame: DataFrame, step: ObservedView) -> DataFrame:
    from pyspark.sql import functions as f

    largest = f.max(f.unix_millis(identifier(step.column))).alias("largest")
    return frame.observe(f"{INPUT}{step.name}", largest, f.count(f.lit(1)).alias("n"))


def _tagged(spark: SparkSession, step: TagView) -> DataFrame:
    from pyspark.sql import functions

    frame = spark.table(step.input)
    metadata = {**_EVENT_TIME, **(_WINDOW if step.window else {})}
    column = functions.col(identifier(step.column)).alias(step.column, metadata=metadata)
    return frame.withColumns({step.column: column})
