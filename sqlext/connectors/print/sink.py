"""Print rows; on the client, where Spark Connect runs the query on a server."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlext.connectors.formats.conversions import as_text, convert
from sqlext.connectors.spec import WriteSpec
from sqlext.quoting import identifier
from sqlext.sinks.base import Sink, SinkContext
from sqlext.sinks.server import ViewBatches, ViewSink
from sqlext.spark.sessions import is_connect
from sqlext.types import LogicalType
from sqlext_udfs.kernel.row_kinds import SHOWN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

#: Two threads may look for what is to be printed; each line is for one of them.
_PRINTING = threading.Lock()


@dataclass
class PrintSink(Sink):
    """A line per row on standard output: ``identifier> +I[a, 1]``, ``-D[...]`` for a row that is gone.

    Of a changelog every row, with what it does: ``-U[...]`` is the row that the next one takes the place of.

    Attributes:
        on_server: whether batches come to a server: it keeps their texts until the client prints them.
    """

    spec: WriteSpec
    context: SinkContext
    on_server: bool = False

    def open(self, spark: SparkSession) -> None:
        """Find out where batches come to."""
        self.on_server = is_connect(spark)

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Print a batch, or keep it; one that is run again is printed again."""
        if self.on_server:
            ViewSink(self._views).write(self._texts(df), batch_id)
        else:
            # Partition by partition: a batch need not fit into the driver's memory.
            self._print(self._texts(df).toLocalIterator())

    def show(self, spark: SparkSession) -> None:
        """Print the batches that a server has kept so far."""
        if not self.on_server:
            return
        with _PRINTING:
            batches = ViewBatches(spark, self._views)
            for number in batches:
                self._print(batches[number])
                # Only after it was printed: a crash between the two prints it again, and loses nothing.
                spark.catalog.dropTempView(f"{self._views}{number}")

    def finish(self, spark: SparkSession) -> None:
        """Print what is left."""
        self.show(spark)

    @property
    def _views(self) -> str:
        """How the names of a server's views begin."""
        return f"sqlext_lines_{self.context.identity.replace('-', '_')}_"

    def _texts(self, df: DataFrame) -> DataFrame:
        """Return the texts of a batch's values and, where rows are changes, what each of them does."""
        texts = printed_columns(self.spec, self.context)
        return df.selectExpr(*(f"{text} AS {identifier(name)}" for name, text in texts.items()))

    def _print(self, rows: Iterable[Row]) -> None:
        """Print such texts."""
        print_rows(rows, self.spec, self.context)


def printed_columns(spec: WriteSpec, context: SinkContext) -> dict[str, str]:
    """Return the SQL of what is printed of each column and, where rows are changes, what each of them does."""
    texts = {c.name: _printed(c.type, identifier(c.name), context.zone) for c in spec.columns}
    flag = context.kind or context.exists
    return {**texts, flag: identifier(flag)} if flag else texts


def print_rows(rows: Iterable[Sequence[Any]], spec: WriteSpec, context: SinkContext) -> None:
    """Print the values of ``printed_columns``, a line for each row."""
    stream = sys.stderr if spec.flag("standard-error") else sys.stdout
    name = spec.option("print-identifier")
    prefix = f"{name}> " if name else ""
    for row in rows:
        values = ", ".join(java_text(row[i]) for i in range(len(spec.columns)))
        print(f"{prefix}{_kind(row, spec, context)}[{values}]", file=stream, flush=True)


def _kind(row: Sequence[Any], spec: WriteSpec, context: SinkContext) -> str:
    if context.kind is not None:
        return SHOWN[row[len(spec.columns)]]
    if context.exists is None:
        return "+I"
    return "+U" if row[len(spec.columns)] else "-D"


def _printed(declared: LogicalType, expression: str, zone: str) -> str:
    return convert(declared, expression, lambda t, e: _java_time(t, e, zone))


def _java_time(declared: LogicalType, expression: str, zone: str) -> str:
    """Return a time as Java prints it: LocalDateTime leaves out seconds that are zero, Instant does not."""
    if declared.root in ("TIMESTAMP", "TIME"):
        text = as_text(declared, expression, zone, iso=True)
        # A fraction has no zeros at its end, so a text that ends so has none.
        return f"CASE WHEN {text} LIKE '%:00' THEN substring_index({text}, ':', 2) ELSE {text} END"
    return as_text(declared, expression, zone, iso=True)


def java_text(value: Any) -> str:
    """Return a value as Flink's rows print it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{java_text(k)}={java_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return "+I[" + ", ".join(java_text(v) for v in value) + "]"
    if isinstance(value, (list, bytes, bytearray)):
        return "[" + ", ".join(java_text(v) for v in value) + "]"
    return str(value)
