"""Append rows to a data source of Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.connectors.spark_format.table import FILES
from sqlext.connectors.spec import WriteSpec
from sqlext.quoting import identifier
from sqlext.sinks.base import Sink, SinkContext, refuse_mode
from sqlext.spark.object_urls import require_answer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class SparkFormatSink(Sink):
    """Any data source of Spark, appended to batch by batch: at least once."""

    spec: WriteSpec
    context: SinkContext

    def require(self, spark: SparkSession) -> None:
        """Refuse updates, and a URL of files at which nobody answers: else the first batch would fail there."""
        refuse_mode(self.spec, self.context, "append", "overwrite")
        if self.spec.format in FILES:
            require_answer(spark, self.spec.path)

    def open(self, spark: SparkSession) -> None:
        """Refuse as ``require``; there is nothing to make."""
        self.require(spark)

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Hand a batch on."""
        from sqlext_catalog.secrets import resolve_options

        rows = df.select(*(identifier(c.name) for c in self.spec.columns))
        mode = "overwrite" if self.context.mode == "overwrite" else "append"
        writer = rows.write.format(self.spec.format or "").options(**resolve_options(self.spec.options)).mode(mode)
        if self.spec.partitioned_by:
            writer = writer.partitionBy(*self.spec.partitioned_by)
        if self.spec.path is not None:
            writer.save(self.spec.path)
        else:
            writer.save()
