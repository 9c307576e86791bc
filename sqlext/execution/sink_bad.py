"""A query's sink, and those of the rows that its sources cannot decode.

As with late rows (``sink_late``), each knows which batches it has, and a batch counts when all have taken it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.analysis.bound_insert import BoundInsert
from sqlext.catalog.properties import to_properties
from sqlext.connectors.registry import connector_of
from sqlext.execution.sinks import Sink, SinkContext, open_sink
from sqlext.plan.bad_rows import BAD, NUMBER
from sqlext.rewrite.quoting import named
from sqlext.rewrite.script import BadScript

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def with_bad_sinks(
    spark: SparkSession, sink: Sink, scripts: Sequence[BadScript], bad: Sequence[BoundInsert], context: SinkContext
) -> Sink:
    """Return a query's sink together with those of its bad rows, opened; the sink itself if it keeps none."""
    if not scripts:
        return sink
    opened = []
    for insert in bad:
        own = SinkContext(
            query=f"{context.query}.bad",
            checkpoint=context.checkpoint,
            mode=insert.mode,
            zone=context.zone,
            properties=tuple(to_properties(insert.table).items()),
        )
        opened.append(open_sink(spark, connector_of(insert.table).write_spec(insert.table), own))
    return BadSink(sink, tuple(zip(scripts, opened, strict=True)))


@dataclass(frozen=True)
class BadSink(Sink):
    """Gives each row of a batch to the sink that it is for.

    Attributes:
        rows: takes the query's rows.
        bad: what is written of bad rows, and who takes it, by their number.
    """

    rows: Sink
    bad: tuple[tuple[BadScript, Sink], ...]

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Give out a batch, which is computed once: a second time would be another step of its operators."""
        computed = df.is_cached
        kept = df if computed else df.persist()
        try:
            self.rows.write(kept.where(f"{BAD} IS NULL").drop(BAD), batch_id)
            for number, (script, sink) in enumerate(self.bad):
                found = kept.where(f"{BAD}.{NUMBER} = {number}").select(f"{BAD}.*")
                _write(found, batch_id, script, sink)
        finally:
            if not computed:
                kept.unpersist()

    def finish(self, spark: SparkSession) -> None:
        """Let all come to their end."""
        self.rows.finish(spark)
        for _, sink in self.bad:
            sink.finish(spark)


def _write(found: DataFrame, batch_id: int, script: BadScript, sink: Sink) -> None:
    rows = found.selectExpr(*(named(text, name) for text, name in script.outputs))
    for condition in script.conditions:
        rows = rows.where(condition)
    if not rows.isEmpty():
        sink.write(rows, batch_id)
