"""Write the files of a batch in the workers that make its rows: Spark gets their names alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
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
from sqlext.spark.reading.one_batch import rows_read

if TYPE_CHECKING:
    from pyspark.sql import Observation, Row, SparkSession

    from sqlext.spark.reading.views import LastHanded

_FILES = "name STRING, rows BIGINT, read BIGINT"


@dataclass(frozen=True)
class FileWork(Work):
    """Writes the rows that a program makes of a slice, or of what an operator gives.

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
class StagedFiles:
    """Files that workers have staged.

    Attributes:
        names: of the files.
        counts: how many rows they have, and how many were read for them.
    """

    names: tuple[str, ...]
    counts: BatchCounts


@dataclass(frozen=True)
class FilesWhereMade:
    """A query whose sink's files are written where its rows are made.

    Attributes:
        sink: commits the files.
        staged: has the files written into the staging that it is given.
    """

    sink: Sink
    staged: Callable[[str], StagedFiles]

    def written(
        self, batch_id: int, settings: Callable[[], AbstractContextManager[None]], *, repeated: bool
    ) -> BatchCounts | None:
        """Write a batch; None where it may have been written, and its rows are counted otherwise.

        Args:
            batch_id: its number.
            settings: gives the Spark settings that its rows are planned under.
            repeated: whether it may have been written before.

        Raises:
            SqlExtError: what cannot be read or computed, or what the sink refuses.
        """
        if repeated:
            return None
        counts: list[BatchCounts] = []
        with settings():
            self.sink.write_parts(batch_id, partial(self._stage, counts))
        return counts[0]

    def _stage(self, counts: list[BatchCounts], where: str) -> Iterable[str]:
        staged = self.staged(where)
        counts.append(staged.counts)
        return staged.names


def files_where_read(
    spark: SparkSession, given: Callable[[], ArrowInput], schema: pa.Schema, sink: Sink
) -> FilesWhereMade | None:
    """Return how a query of SELECTs is written where its table is read; None where Spark alone writes the files.

    Args:
        given: what reads the table, of all files that are there when it is asked.
        schema: the columns of the sink's table.
        sink: takes them.
    """
    writer = sink.part_writer(schema)
    if writer is None:
        return None
    names = tuple(schema.names)

    def staged(where: str) -> StagedFiles:
        of = given()
        assert isinstance(of.work, RowWork)
        files = open_at_once(spark, ArrowInput(of.reader, _FILES, FileWork(of.work, names, writer, where))).collect()
        return StagedFiles(_names(files), BatchCounts(_sum(files, "rows"), _sum(files, "read")))

    return FilesWhereMade(sink, staged)


def files_of_last(last: LastHanded, read: Sequence[Observation], sink: Sink) -> FilesWhereMade | None:
    """Return how a query is written where the rows of its last operator come out; None where Spark alone writes.

    Args:
        last: its rows.
        read: what counts the rows that are read for them.
        sink: takes them.
    """
    writer = sink.part_writer(last.schema)
    if writer is None:
        return None
    names = tuple(last.schema.names)

    def staged(where: str) -> StagedFiles:
        files = last.given.worked(FileWork(last.rows, names, writer, where), _FILES).collect()
        return StagedFiles(_names(files), BatchCounts(_sum(files, "rows"), rows_read(read)))

    return FilesWhereMade(sink, staged)


def _names(files: Sequence[Row]) -> tuple[str, ...]:
    return tuple(file["name"] for file in files if file["name"] is not None)


def _sum(files: Sequence[Row], column: str) -> int:
    return sum(file[column] for file in files)
