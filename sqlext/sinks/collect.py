"""Collect the rows of a SELECT in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlext.policy import require_rows
from sqlext.sinks.base import Sink, SinkContext
from sqlext.sinks.live_rows import LiveRows, StandingRows
from sqlext.sinks.server import ViewBatches, ViewSink
from sqlext.spark.sessions import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


@dataclass
class CollectSink(Sink):
    """Keeps the rows of every batch in this process: for SELECT at top level.

    Attributes:
        folds: False to keep every row that an updating result has given.
        most: how many rows all batches may have together; None for any number.
    """

    context: SinkContext
    folds: bool = True
    most: int | None = None
    batches: Mapping[int, list[Row]] = field(default_factory=dict)

    @property
    def single_pass(self) -> bool:
        """One job collects all rows."""
        return True

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Keep a batch; one that is run again replaces itself."""
        assert isinstance(self.batches, dict)
        self.batches[batch_id] = df.collect() if self.most is None else self._some(df, batch_id, self.most)

    def _some(self, df: DataFrame, batch_id: int, most: int) -> list[Row]:
        """Return the rows of a batch, and no more than one too many of them."""
        left = most - sum(len(rows) for number, rows in self.batches.items() if number != batch_id)
        rows = df.limit(left + 1).collect()
        require_rows(len(rows) + most - left, most)
        return rows

    def live(self, width: int) -> LiveRows:
        """Return the rows from the first batch on, of each the first ``width`` columns."""
        return LiveRows(self.batches, StandingRows(self.context, width, self.folds))


class ServerRows(CollectSink):
    """A ``CollectSink`` whose batches are kept by the server."""

    def __init__(self, spark: SparkSession, context: SinkContext, *, folds: bool) -> None:
        # All queries of a server's session share its views: the id keeps them apart.
        self._prefix = f"sqlext_rows_{context.checkpoint}_"
        super().__init__(context, folds, batches=ViewBatches(spark, self._prefix))

    def __reduce__(self) -> tuple[object, ...]:
        """Only what writes goes to the server."""
        return ViewSink, (self._prefix,)


def collecting(spark: SparkSession, context: SinkContext, *, folds: bool, most: int | None = None) -> CollectSink:
    """Return the sink of a SELECT; see ``CollectSink``."""
    return ServerRows(spark, context, folds=folds) if is_connect(spark) else CollectSink(context, folds, most)
