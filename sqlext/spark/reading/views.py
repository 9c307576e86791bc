"""Open a Spark script: its sources and steps become views of the session's Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import ReadSpec
from sqlext.quoting import identifier
from sqlext.rewrite.script.model import (
    HEARTBEAT_VIEW,
    ArrowView,
    ObservedView,
    Onward,
    OperatorView,
    ReadView,
    ReplayInput,
    RowsView,
    SourceView,
    SparkScript,
    SqlView,
    Step,
    TagView,
    WatermarkView,
)
from sqlext.rewrite.script.side_rows import FAULT, IS_ROW, faults_view
from sqlext.spark.event_time import tagged
from sqlext.spark.observed import AGAIN, BAD_ROWS, INPUT, JUDGED, LARGEST, PACKED_OF, ROWS, SLICES, SMALLEST
from sqlext.spark.reading.frames import Frames
from sqlext.spark.reading.own_readers import OwnReaders, QueryFolders
from sqlext.spark.reading.replays import replayed, rows_of
from sqlext.spark.reading.spark_sources import open_batch, open_frame, open_stream
from sqlext.spark.reading.ticks import TickSource
from sqlext.spark.sessions import settled
from sqlext.user_functions import UserFunctions
from sqlext.watermarks.inputs import SPLIT
from sqlext_udfs.spark.buckets import packed_rows
from sqlext_udfs.spark.functions import register_functions
from sqlext_udfs.spark.registry import operator
from sqlext_udfs.spark.table_functions import register_table_functions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, Observation, SparkSession

    from sqlext.rewrite.compiler.handed_on import HandedOn, LastColumns
    from sqlext.sources.rows import RowWork
    from sqlext.spark.reading.handed_rows import HandedRows
    from sqlext.spark.reading.shared_rows import SharedRows
    from sqlext_udfs.making import MadeHere
    from sqlext_udfs.spark.rebucketing import StateBefore


class Opened(NamedTuple):
    """A script's query.

    Attributes:
        rows: its result.
        read: what counts the rows that it reads, where it is one batch.
        last: its rows once more, where they can be made where those of its last operator come out.
    """

    rows: DataFrame
    read: tuple[Observation, ...]
    last: LastHanded | None = None


class LastHanded(NamedTuple):
    """The rows of a query, made where those of its last operator come out.

    Attributes:
        given: the rows of the operator.
        rows: makes the columns of the query of them.
        schema: of these, the hidden ones too.
    """

    given: HandedRows
    rows: RowWork
    schema: pa.Schema


class CarriedState(NamedTuple):
    """State that goes along into a new checkpoint, in other buckets.

    Attributes:
        place: the folder where it lies when it is divided, as Spark names it.
        checkpoint: the one of which it is divided now; None where that is done.
    """

    place: str
    checkpoint: str | None


def open_script(
    spark: SparkSession,
    script: SparkScript,
    zone: str,
    home: QueryFolders | None,
    ticks: TickSource | None,
    registered: UserFunctions,
    frames: Frames,
    *,
    skips: bool = False,
    shared: SharedRows | None = None,
    state: CarriedState | None = None,
) -> Opened:
    """Return the script's query as a DataFrame, its views registered under their names.

    Args:
        home: where the rows lie that only move its watermarks, and what readers of ours remember.
        registered: the user's classes, which operators name.
        frames: the user's DataFrames, which tables name.
        skips: whether nothing that its sources have is taken.
        shared: the tables that it reads together with other queries.
        state: with which its operators begin, each one on the one before (``begun.can_divide``).

    Raises:
        SqlExtError: OPT-..., RUN-... for a source that cannot be opened.
        AnalysisException: what Spark refuses in the query.
    """
    common = script.common_arguments(registered)
    replays = script.replays if home is not None else ()
    own = OwnReaders(spark, script, home, shared, ticks.told() if ticks is not None else None)
    before = states_before(script, state) if state is not None else {}
    handed = _narrowed(handing_on(script, zone, common) if shared is None else shared.handed, shared)
    script = handed.script if handed is not None else script
    operators = handed.operators if handed is not None else {}
    opening = _Opening(spark, zone, home, ticks, common, frames, own, replays, skips, before, operators)
    if home is not None:
        opening.fed_back(home)
    for source in script.sources:
        opening.source(source, again=script.read_again.count(source.view)).createOrReplaceTempView(source.view)
    if home is not None:
        opening.heartbeats(script, home)
    register_table_functions(spark, script.table_functions, registered)
    register_functions(spark, script.python_functions, registered)
    for step in script.steps:
        opening.step(step).createOrReplaceTempView(step.view)
    last = opening.last(script, handed.last) if handed is not None and handed.last is not None else None
    return Opened(settled(spark.sql(script.query)), tuple(opening.readers.counted), last)


def handing_on(script: SparkScript, zone: str, common: Mapping[str, Any]) -> HandedOn | None:
    """Return the script whose operators hand on what they give; None where they keep state."""
    if not script.at_once:
        return None
    from sqlext.rewrite.compiler.handed_on import handed_on  # it needs Arrow, which few statements do

    return handed_on(script, zone, common)


def _narrowed(handed: HandedOn | None, shared: SharedRows | None) -> HandedOn | None:
    """Return a query whose operators carry what is looked at; rows of tables that are read together stay."""
    if handed is None:
        return None
    from sqlext.rewrite.compiler.narrowed import narrowed  # it needs Arrow, which few statements do

    return narrowed(handed, shared.shares if shared is not None else lambda _: False)


def states_before(script: SparkScript, state: CarriedState) -> Mapping[str, StateBefore]:
    """Return the state with which the operator of each view begins."""
    from sqlext_udfs.kernel.hashing import buckets_of
    from sqlext_udfs.spark.rebucketing import StateBefore

    views = [step.view for step in script.steps if isinstance(step, OperatorView)]
    # Spark counts from the top: what stands on all others is the first.
    return {view: StateBefore(*state, number, buckets_of) for number, view in enumerate(reversed(views))}


@dataclass(frozen=True)
class _Opening:
    """Opens the sources and steps of one script; see ``open_script``.

    Attributes:
        common: the arguments that all operators have.
        before: the state with which the operator of a view begins.
        handing: the operators whose rows can be worked on where they come out, by their views.
    """

    spark: SparkSession
    zone: str
    home: QueryFolders | None
    ticks: TickSource | None
    common: Mapping[str, Any]
    frames: Frames
    readers: OwnReaders
    replays: tuple[ReplayInput, ...]
    skips: bool
    before: Mapping[str, StateBefore]
    handing: Mapping[str, MadeHere]

    def last(self, script: SparkScript, rows: LastColumns) -> LastHanded:
        """Return the rows of the query, to be made where those of its last operator come out."""
        import pyarrow as pa

        from sqlext.sources.rows import RowWork

        schema = pa.schema(list(rows.columns))
        (step,) = (s for s in script.steps if isinstance(s, OperatorView) and s.view == rows.view)
        return LastHanded(self.given(step), RowWork(rows.program, tuple(schema.types)), schema)

    def heartbeats(self, script: SparkScript, home: QueryFolders) -> None:
        """Register the rows that only move watermarks."""
        texts = self.spark.readStream.format("text")
        if script.heartbeat:
            self._taken(texts.load(home.heartbeat.made())).createOrReplaceTempView(HEARTBEAT_VIEW)
        for number, kept in enumerate(script.kept):
            if not kept.view:
                continue
            rows = texts.option("cleanSource", "delete").load(home.time.below(str(number)).made())
            self._taken(rows).createOrReplaceTempView(kept.view)

    def fed_back(self, home: QueryFolders) -> None:
        """Register the dead letters that come back."""
        for replay in self.replays:
            rows = replayed(self.spark, home.replays(replay.table.name.plain))
            self._taken(rows).createOrReplaceTempView(replay.view)

    def _taken(self, rows: DataFrame) -> DataFrame:
        """Return what is taken of a stream."""
        return rows.where("false") if self.skips else rows

    def source(self, source: SourceView, *, again: int) -> DataFrame:
        """Return a table's columns, without the rows that cannot be decoded.

        Args:
            again: how often the query reads the source once more, for dead letters alone.
        """
        connector = connector_of(source.table)
        spec = connector.read_spec(connector.naming_bad_rows(source.table), self.zone)
        rows = self._opened(source, spec)
        if source.streaming:
            rows = _nullable(self._taken(rows))
        if spec.faults is not None:
            rows.createOrReplaceTempView(faults_view(source.view))
            rows = _without_faults(rows, source.view, again)
        elif again:
            rows = _counted_again(rows, source.view, again)
        back = next((r for r in self.replays if source.view in r.sources), None)
        return rows if back is None else rows.union(rows_of(self.spark.table(back.view), back.table, rows, self.zone))

    def _opened(self, source: SourceView, spec: ReadSpec) -> DataFrame:
        if source.own:
            return self.readers.open(source, spec)
        if spec.frame is not None:
            return open_frame(self.spark, self.frames.opened(spec.frame, self.spark), spec)
        return open_stream(self.spark, spec) if source.streaming else open_batch(self.spark, spec)

    def step(self, step: Step) -> DataFrame:
        """Return what a step makes of views that are there."""
        match step:
            case SqlView():
                return self.spark.sql(step.sql)
            case TagView():
                return tagged(self.spark.table(step.input), step)
            case WatermarkView():
                return self.spark.table(step.input).withWatermark(step.column, f"{step.delay} milliseconds")
            case ObservedView():
                return self._observed(step)
            case ArrowView():
                return self._packed(step)
            case OperatorView():
                return self._operated(step)
            case ReadView():
                raise TypeError(f"`{step.view}` is for a query without Spark")
            case RowsView():
                schema = ", ".join(f"{identifier(n)} {t}" for n, t in step.columns)
                return self.spark.createDataFrame([tuple(r) for r in step.rows], schema)

    def _operated(self, step: OperatorView) -> DataFrame:
        opened = self.ticks if not step.told_by else None
        ticks = opened.open(self.spark, step.ticks) if opened is not None else None
        ticks = self._taken(ticks) if ticks is not None else None
        arguments = {**self.common, **dict(step.arguments), "before": self.before.get(step.view)}
        if step.onward is not None:
            return self._handing_on(step, step.onward)
        return operator(step.function).apply(self.spark.table(step.input), arguments, ticks)

    def _handing_on(self, step: OperatorView, onward: Onward) -> DataFrame:
        """Return packed rows of the next operator, made where those of this one come out."""
        from sqlext.spark.reading.arrow_sources import work_of  # it needs Arrow, which few statements do
        from sqlext.spark.reading.handed_rows import OnwardWork
        from sqlext_udfs.kernel.packing import PACKED

        work = OnwardWork(work_of(self.spark, onward, {**self.common, **dict(onward.arguments)}))
        return self.given(step).worked(work, PACKED)

    def given(self, step: OperatorView) -> HandedRows:
        """Return the rows of an operator that is made here, as they can be worked on where they come out."""
        from sqlext.spark.reading.handed_rows import HandedRows

        rows, made = self.spark.table(step.input), self.handing[step.view]
        if "packed" not in dict(step.arguments):
            rows = packed_rows(rows, made.operator, range(made.keys), int(self.common["buckets"]))
        return HandedRows(rows.select("bucket", "rows", "now"), made)

    def _packed(self, step: ArrowView) -> DataFrame:
        return self._taken(self.readers.open_packed(step, {**self.common, **dict(step.arguments)}))

    def _observed(self, step: ObservedView) -> DataFrame:
        """Return the rows; Spark's progress will have times and count of all of them, and those of each split."""
        splits = self.readers.splits(step.source)
        observed = self._of_slices(splits) if step.packed else self._of_rows(step.column, splits)
        return self.spark.table(step.input).observe(f"{INPUT}{step.name}", *observed)

    def _of_slices(self, splits: Sequence[str]) -> list[Column]:
        """Return what is observed of packed rows: few columns, as every task of a micro-batch makes code for each."""
        from pyspark.sql import functions as f

        from sqlext.sources.packed import TIMES  # it needs Arrow, which few statements do

        packed = f.count(f.lit(1)).alias(f"{PACKED_OF}{json.dumps(splits)}")
        return [f.collect_list(TIMES).alias(SLICES), packed]

    def _of_rows(self, column: str, splits: Sequence[str]) -> list[Column]:
        """Return what is observed of rows that Spark reads: count and times of all of them, and of each split."""
        from pyspark.sql import functions as f

        time, rows = f.unix_millis(identifier(column)), f.lit(1)
        observed = [f.max(time).alias(LARGEST), f.sum(rows).alias(ROWS), f.min(time).alias(SMALLEST)]
        for split in splits:
            mine = f.col(SPLIT) == split
            observed += [
                f.max(f.when(mine, time)).alias(f"{LARGEST} {split}"),
                f.sum(f.when(mine, rows)).alias(f"{ROWS} {split}"),
            ]
        return observed


def _nullable(rows: DataFrame) -> DataFrame:
    """Return the rows with columns that Spark takes for such as can be NULL; see ``script.scans`` of other columns."""
    from pyspark.sql import functions as f

    never = [field.name for field in rows.schema.fields if not field.nullable]
    if not never:  # Spark Connect has no step that changes nothing
        return rows
    # Not deterministic to Spark, so that no optimiser makes the column what it was.
    return rows.withColumns({n: f.when(f.spark_partition_id() >= 0, f.col(identifier(n))) for n in never})


def _without_faults(rows: DataFrame, view: str, again: int) -> DataFrame:
    """Return the good rows; Spark's progress will have how many bad ones there were, and how many are read again."""
    from pyspark.sql import functions as f

    counted = rows.observe(f"{JUDGED}{view}", f.count(FAULT).alias(BAD_ROWS), _times(again).alias(AGAIN))
    return counted.where(IS_ROW).drop(IS_ROW, FAULT)


def _counted_again(rows: DataFrame, view: str, again: int) -> DataFrame:
    """Return rows of which none is bad; Spark's progress will have how many are read again."""
    from pyspark.sql import functions as f

    return rows.observe(f"{JUDGED}{view}", f.count(f.lit(None)).alias(BAD_ROWS), _times(again).alias(AGAIN))


def _times(again: int) -> Column:
    """Return how many rows of a micro-batch are read again."""
    from pyspark.sql import functions as f

    return f.count(f.lit(1)) * f.lit(again)
