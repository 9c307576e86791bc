"""Rows for the client of Spark Connect, of a SELECT or to be printed: views of the server's session keep batches.

They are written in a process of the server and read by the client, which share a session and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.connectors.spec import WriteSpec
from sqlext.sinks.base import Sink, SinkContext
from sqlext.sinks.plain import CollectSink, PrintSink
from sqlext.spark.sessions import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


#: Two threads may look for what is to be printed; each line is for one of them.
_PRINTING = threading.Lock()


@dataclass(frozen=True)
class ViewSink(Sink):
    """Keeps each batch, computed, as a view; its number stands behind ``prefix``."""

    prefix: str

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Keep a batch; one that is run again replaces itself."""
        df.localCheckpoint().createOrReplaceTempView(f"{self.prefix}{batch_id}")


class ViewBatches(Mapping[int, "list[Row]"]):
    """Those batches as the client sees them; each is fetched once."""

    def __init__(self, spark: SparkSession, prefix: str) -> None:
        self._spark = spark
        self._prefix = prefix
        self._fetched: dict[int, list[Row]] = {}

    def __getitem__(self, number: int) -> list[Row]:
        """Return the rows of a batch."""
        if number not in self._fetched:
            self._fetched[number] = self._spark.table(f"{self._prefix}{number}").collect()
        return self._fetched[number]

    def __iter__(self) -> Iterator[int]:
        """Return the numbers of the batches so far."""
        views = self._spark.catalog.listTables(pattern=f"{self._prefix}*")
        return iter(sorted(int(v.name[len(self._prefix) :]) for v in views))

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(1 for _ in self)


class ServerRows(CollectSink):
    """A ``CollectSink`` whose batches are kept by the server."""

    def __init__(self, spark: SparkSession, context: SinkContext, *, folds: bool) -> None:
        self._prefix = f"sqlext_rows_{context.checkpoint}_"
        super().__init__(context, folds, ViewBatches(spark, self._prefix))

    def __reduce__(self) -> tuple[object, ...]:
        """Only what writes goes to the server."""
        return ViewSink, (self._prefix,)


def collecting(spark: SparkSession, context: SinkContext, *, folds: bool) -> CollectSink:
    """Return the sink of a SELECT; see ``CollectSink``."""
    return ServerRows(spark, context, folds=folds) if is_connect(spark) else CollectSink(context, folds)


@dataclass(frozen=True)
class ServerPrint(Sink):
    """Prints on the client: the server keeps the texts of each batch until they are."""

    lines: PrintSink
    prefix: str

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Keep a batch; one that is run again is printed again."""
        ViewSink(self.prefix).write(self.lines.texts(df), batch_id)

    def show(self, spark: SparkSession) -> None:
        """Print the batches so far."""
        with _PRINTING:
            batches = ViewBatches(spark, self.prefix)
            for number in batches:
                self.lines.show_rows(batches[number])
                spark.catalog.dropTempView(f"{self.prefix}{number}")

    def finish(self, spark: SparkSession) -> None:
        """Print what is left."""
        self.show(spark)


def printing(spark: SparkSession, spec: WriteSpec, context: SinkContext) -> Sink:
    """Return the sink of a table that prints; see ``PrintSink``."""
    lines = PrintSink(spec, context)
    return ServerPrint(lines, f"sqlext_lines_{context.identity.replace('-', '_')}_") if is_connect(spark) else lines
