"""Open the sink of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from sqlext.connectors.base import loaded
from sqlext.connectors.registry import connector_named
from sqlext.connectors.spec import Alteration, WriteSpec
from sqlext.sinks.base import Foreseen, RefusedRow, Sink, SinkContext, SparkStream, WritesParts
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.spark.object_urls import require_file_system
from sqlext.spark.workers.ready import require_target

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

#: What ``Connector.sink`` names.
MakeSink = Callable[[WriteSpec, SinkContext], Sink]


def open_sink(spark: SparkSession, spec: WriteSpec, context: SinkContext) -> Sink:
    """Return the sink of a table, ready to write.

    Raises:
        SqlExtError: SINK-090 the sink cannot write in that mode, SINK-091 what is there has other columns,
            SINK-092 the path is a file, SINK-093 a type that the format cannot hold, ENV-017 workers do not see the
            path.
    """
    _require_place(spark, spec)
    sink = _sink(spec, context)
    sink.open(spark)
    return sink if context.fence is None else FencedSink(sink, context)


def require_sink(spark: SparkSession, spec: WriteSpec, context: SinkContext) -> None:
    """Refuse what ``open_sink`` would refuse, with nothing made."""
    _require_place(spark, spec)
    _sink(spec, context).require(spark)


def _require_place(spark: SparkSession, spec: WriteSpec) -> None:
    require_target(spark, spec.path)
    require_file_system(spark, spec.path, spec.format)


def foreseen(spec: WriteSpec, context: SinkContext, coming: Sequence[Alteration] = ()) -> Foreseen:
    """Return what opening the sink of a table would do to what lies there; see ``Sink.foreseen``."""
    return _sink(spec, context).foreseen(coming)


def writer(spec: WriteSpec, context: SinkContext) -> str | None:
    """Return who commits the micro-batches of a stream to a table, for EXPLAIN; see ``Sink.writer``."""
    return _sink(spec, context).writer()


def alter_stored(spark: SparkSession, alteration: Alteration) -> None:
    """Change the columns of what lies behind a table, as ALTER TABLE asks; see ``Sink.alter``."""
    require_file_system(spark, alteration.before.path, alteration.before.format)
    _sink(alteration.before, SinkContext("", "")).alter(spark, alteration)


def make_stored(spark: SparkSession, spec: WriteSpec) -> None:
    """Make what lies behind a table, or hold what is there against it; see ``Sink.open``."""
    _sink(spec, SinkContext("", "")).open(spark)


def drop_stored(spark: SparkSession, spec: WriteSpec) -> None:
    """Drop what lies behind a table; see ``Sink.drop``."""
    _sink(spec, SinkContext("", "")).drop(spark)


def foreseen_change(alteration: Alteration, coming: Sequence[Alteration] = ()) -> Sequence[str]:
    """Return what ALTER TABLE would do to what lies behind a table; see ``Sink.foreseen_change``."""
    return _sink(alteration.before, SinkContext("", "")).foreseen_change(alteration, coming)


def _sink(spec: WriteSpec, context: SinkContext) -> Sink:
    # A connector names its sink as text, so that reading a table loads no code that writes.
    make = cast(MakeSink, loaded(connector_named(spec.connector).sink))
    return make(spec, context)


@dataclass(frozen=True)
class FencedSink(Sink):
    """Lets a sink write while the query is this driver's.

    A driver that was away during a batch has written it under the batch's own number, as the next one does. Then it is
    told here, so that Spark counts no batch in a checkpoint that is another's.
    """

    sink: Sink
    context: SinkContext

    @property
    def single_pass(self) -> bool:
        """As the sink."""
        return self.sink.single_pass

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Take a batch; raises RUN-029 if the query has become another driver's."""
        self.context.check_fence()
        self.sink.write(df, batch_id)
        self.context.check_fence()

    def write_new(self, df: DataFrame, batch_id: int) -> None:
        """Take a batch that cannot have been written before; raises as ``write``."""
        self.context.check_fence()
        self.sink.write_new(df, batch_id)
        self.context.check_fence()

    def stream(self, rows: DataFrame) -> SparkStream | None:
        """As the sink: who follows the query looks whether it is this driver's still."""
        return self.sink.stream(rows)

    def part_writer(self, schema: pa.Schema) -> WritesParts | None:
        """As the sink."""
        return self.sink.part_writer(schema)

    def write_parts(self, batch_id: int, stage: Callable[[str], Iterable[str]]) -> None:
        """Take a batch as files; raises as ``write``."""
        self.context.check_fence()
        self.sink.write_parts(batch_id, stage)
        self.context.check_fence()

    def take(self, df: DataFrame, batch_id: int, limit: LetterLimit, *, new: bool) -> Sequence[RefusedRow]:
        """Take a batch but for what is refused; raises as ``write``."""
        self.context.check_fence()
        refused = self.sink.take(df, batch_id, limit, new=new)
        self.context.check_fence()
        return refused

    def show(self, spark: SparkSession) -> None:
        """Show what batches have left."""
        self.sink.show(spark)

    def finish(self, spark: SparkSession) -> None:
        """Do what is left at the end; raises as ``write``."""
        self.context.check_fence()
        self.sink.finish(spark)
