"""Write the files of a batch in the workers that read its rows: Spark gets their names alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlext.sinks.base import Sink, WritesParts
from sqlext.sinks.small_results import BatchCounts
from sqlext.sources.program import Facts
from sqlext.sources.rows import RowWork
from sqlext.sources.stream import Read, Work
from sqlext.spark.reading.data_source import ArrowInput, open_at_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILES = "name STRING, rows BIGINT, read BIGINT"


@dataclass(frozen=True)
class FileWork(Work):
    """Writes the rows that a program makes of a slice.

    Attributes:
        rows: makes them.
        names: of the sink's columns.
        writer: writes them.
        where: the staging.
    """

    rows: RowWork
    names: tuple[str, ...]
    writer: WritesParts
    where: str

    def process(self, split: str, read: Read, place: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield the names of files and how many rows each has; the last row says how many rows were read."""
        facts = Facts()
        tables = (pa.table(batch.columns, list(self.names)) for batch in self.rows.made(read, facts))
        files = list(self.writer.write(tables, self.where, place))
        names = pa.array([*(file.name for file in files), None], pa.string())
        rows = pa.array([*(file.rows for file in files), 0], pa.int64())
        counted = pa.array([*(0 for _ in files), facts.rows], pa.int64())
        yield pa.record_batch([names, rows, counted], ["name", "rows", "read"])


@dataclass(frozen=True)
class FilesWhereRead:
    """A query of SELECTs whose sink's files are written where its table is read.

    Attributes:
        given: what reads the table, of all files that are there when it is asked.
        names: of the sink's columns.
        sink: commits the files.
    """

    spark: SparkSession
    given: Callable[[], ArrowInput]
    names: tuple[str, ...]
    sink: Sink
    writer: WritesParts

    @classmethod
    def of(
        cls, spark: SparkSession, given: Callable[[], ArrowInput], schema: pa.Schema, sink: Sink
    ) -> FilesWhereRead | None:
        """Return it; None where Spark alone writes the files of the sink."""
        writer = sink.part_writer(schema)
        return None if writer is None else cls(spark, given, tuple(schema.names), sink, writer)

    def written(self, batch_id: int, *, repeated: bool) -> BatchCounts | None:
        """Write a batch; None where it may have been written, and its rows are counted otherwise.

        Raises:
            SqlExtError: what cannot be read or computed, or what the sink refuses.
        """
        if repeated:
            return None
        counts: list[BatchCounts] = []
        self.sink.write_parts(batch_id, partial(self._stage, counts))
        return counts[0]

    def _stage(self, counts: list[BatchCounts], where: str) -> Iterable[str]:
        given = self.given()
        assert isinstance(given.work, RowWork)
        work = FileWork(given.work, self.names, self.writer, where)
        files = open_at_once(self.spark, ArrowInput(given.reader, _FILES, work)).collect()
        counts.append(BatchCounts(sum(file["rows"] for file in files), sum(file["read"] for file in files)))
        return [file["name"] for file in files if file["name"] is not None]
