"""Two sinks of one query: one for its rows, one for those that came too late.

Both know which batches they have (``sinks``), and a batch counts for Spark when both have taken it: so each row is in
its sink exactly once, whenever the driver dies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.analysis.bound_insert import BoundInsert
from sqlext.catalog.properties import to_properties
from sqlext.connectors.registry import connector_of
from sqlext.execution.sinks import Sink, SinkContext, open_sink
from sqlext.plan.nodes import LATE
from sqlext.rewrite.late_rows import expanded
from sqlext.rewrite.quoting import named
from sqlext.rewrite.script import LateScript

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def with_late_sink(
    spark: SparkSession, sink: Sink, script: LateScript | None, late: BoundInsert | None, context: SinkContext
) -> Sink:
    """Return a query's sink together with that of its late rows, opened; the sink itself if it keeps none."""
    if script is None or late is None:
        return sink
    own = SinkContext(
        query=f"{context.query}.late",
        checkpoint=context.checkpoint,
        mode=late.mode,
        zone=context.zone,
        properties=tuple(to_properties(late.table).items()),
    )
    spec = connector_of(late.table).write_spec(late.table)
    return LateSink(sink, open_sink(spark, spec, own), script, context.query)


@dataclass(frozen=True)
class LateSink(Sink):
    """Gives each row of a batch to one of two sinks.

    Attributes:
        rows: takes the query's rows.
        late: takes the late ones.
        script: what is written of these.
        operator: who found them late.
    """

    rows: Sink
    late: Sink
    script: LateScript
    operator: str

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Give out a batch, which is computed once: a second time would be another step of its operators."""
        computed = df.is_cached
        kept = df if computed else df.persist()
        try:
            self.rows.write(kept.where(f"{LATE} IS NULL").drop(LATE), batch_id)
            self.write_late(kept, batch_id)
        finally:
            if not computed:
                kept.unpersist()

    def write_late(self, df: DataFrame, batch_id: int) -> None:
        """Give out the late rows of a batch, if it has some."""
        late = df.where(f"{LATE} IS NOT NULL").selectExpr(*expanded(self.operator))
        late = late.selectExpr(*(named(text, name) for text, name in self.script.outputs))
        for condition in self.script.conditions:
            late = late.where(condition)
        if not late.isEmpty():
            self.late.write(late, batch_id)

    def finish(self, spark: SparkSession) -> None:
        """Let both come to their end."""
        self.rows.finish(spark)
        self.late.finish(spark)
