"""Sinks that keep no rows of their own: print, blackhole, collect, and any other Spark format."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlext.connectors.formats.conversions import as_text, convert
from sqlext.connectors.spec import WriteSpec
from sqlext.quoting import identifier
from sqlext.sinks.base import Sink, SinkContext, refuse_mode
from sqlext.sinks.live_rows import LiveRows, StandingRows
from sqlext.types import LogicalType
from sqlext_udfs.kernel.row_kinds import SHOWN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


@dataclass(frozen=True)
class PrintSink(Sink):
    """A line per row on standard output: ``identifier> +I[a, 1]``, ``-D[...]`` for a row that is gone.

    Of a changelog every row, with what it does: ``-U[...]`` is the row that the next one takes the place of.
    """

    spec: WriteSpec
    context: SinkContext

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Print a batch; one that is run again is printed again."""
        self.show_rows(self.texts(df).toLocalIterator())

    def texts(self, df: DataFrame) -> DataFrame:
        """Return the texts of a batch's values and, where rows are changes, what each of them does."""
        flag, zone = self.context.kind or self.context.exists, self.context.zone
        texts = [f"{_printed(c.type, identifier(c.name), zone)} AS {identifier(c.name)}" for c in self.spec.columns]
        return df.selectExpr(*texts, *([identifier(flag)] if flag else []))

    def show_rows(self, rows: Iterable[Row]) -> None:
        """Print such texts."""
        stream = sys.stderr if self.spec.flag("standard-error") else sys.stdout
        for row in rows:
            values = ", ".join(java_text(row[i]) for i in range(len(self.spec.columns)))
            print(f"{self._prefix}{self._kind(row)}[{values}]", file=stream, flush=True)

    @property
    def _prefix(self) -> str:
        name = self.spec.option("print-identifier")
        return f"{name}> " if name else ""

    def _kind(self, row: Row) -> str:
        if self.context.kind is not None:
            return SHOWN[row[len(self.spec.columns)]]
        if self.context.exists is None:
            return "+I"
        return "+U" if row[len(self.spec.columns)] else "-D"


def _printed(declared: LogicalType, expression: str, zone: str) -> str:
    return convert(declared, expression, lambda t, e: _java_time(t, e, zone))


def _java_time(declared: LogicalType, expression: str, zone: str) -> str:
    """Return a time as Java prints it: LocalDateTime leaves out seconds that are zero, Instant does not."""
    if declared.root in ("TIMESTAMP", "TIME"):
        return f"regexp_replace({as_text(declared, expression, zone, iso=True)}, '(\\\\d\\\\d:\\\\d\\\\d):00$', '$1')"
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


@dataclass(frozen=True)
class BlackholeSink(Sink):
    """Computes every row and keeps none."""

    spec: WriteSpec
    context: SinkContext

    @property
    def single_pass(self) -> bool:
        """One job computes all rows."""
        return True

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Compute a batch."""
        df.write.format("noop").mode("overwrite").save()


@dataclass(frozen=True)
class SparkFormatSink(Sink):
    """Any data source of Spark, appended to batch by batch: at least once."""

    spec: WriteSpec
    context: SinkContext

    def open(self, spark: SparkSession) -> None:
        """Refuse updates."""
        refuse_mode(self.spec, self.context, "append", "overwrite")

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


@dataclass
class CollectSink(Sink):
    """Keeps the rows of every batch in this process: for SELECT at top level.

    Attributes:
        folds: False to keep every row that an updating result has given.
    """

    context: SinkContext
    folds: bool = True
    batches: Mapping[int, list[Row]] = field(default_factory=dict)

    @property
    def single_pass(self) -> bool:
        """One job collects all rows."""
        return True

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Keep a batch; one that is run again replaces itself."""
        assert isinstance(self.batches, dict)
        self.batches[batch_id] = df.collect()

    def live(self, width: int) -> LiveRows:
        """Return the rows from the first batch on, of each the first ``width`` columns."""
        return LiveRows(self.batches, StandingRows(self.context, width, self.folds))
