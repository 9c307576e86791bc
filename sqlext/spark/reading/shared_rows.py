"""Read a table once for several queries of a job: its rows are worked on for all of them in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from sqlext.rewrite.script.model import ArrowView
from sqlext.rewrite.script.shared import SharedRead
from sqlext.stores.location import Location

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from sqlext.sources.program import Program
    from sqlext.sources.together import Worked
    from sqlext.spark.reading.arrow_sources import CountedRows
    from sqlext.spark.reading.data_source import ArrowInput


@dataclass
class PackedTables:
    """The tables that queries of a job read together.

    Spark keeps the packed rows until the job has ended: who asks first has them computed, for all. Where it has lost
    some, it reads them again.

    Attributes:
        reads: the tables and their views.
        common: of each query the arguments that all its operators have.
    """

    spark: SparkSession
    reads: Sequence[SharedRead]
    common: Sequence[Mapping[str, Any]]
    _kept: dict[int, DataFrame] = field(default_factory=dict)

    def of(self, query: int) -> SharedRows:
        """Return those of one query, by its place in the job."""
        return SharedRows(self, query)

    def rows(self, query: int, step: ArrowView, sources: Location) -> CountedRows | None:
        """Return the packed rows of a view, None where it shares its table with no other; see ``SharedRows``."""
        from sqlext.sources.packed import FAILURE, MEMBER
        from sqlext.spark.reading.arrow_sources import counted_rows

        for number, read in enumerate(self.reads):
            for place, member in enumerate(read.members):
                if member.query == query and member.step is step:
                    packed = self._packed(number, sources)
                    # In one condition, so that no query fails for another one's work.
                    fails = f"WHEN {FAILURE} IS NOT NULL THEN CAST(raise_error({FAILURE}) AS BOOLEAN)"
                    mine = packed.where(f"CASE WHEN {MEMBER} <> {place} THEN false {fails} ELSE true END")
                    return counted_rows(mine.drop(MEMBER, FAILURE))
        return None

    def close(self) -> None:
        """Give free what is kept."""
        while self._kept:
            self._kept.popitem()[1].unpersist()

    def _packed(self, number: int, sources: Location) -> DataFrame:
        """Return the packed rows of all views of a table; opened by the first that asks."""
        from sqlext.spark.reading.data_source import open_arrow

        if number not in self._kept:
            packed = open_arrow(self.spark, self._input(self.reads[number], sources), at_once=True)
            self._kept[number] = packed.persist()
        return self._kept[number]

    def _input(self, read: SharedRead, sources: Location) -> ArrowInput:
        # These need Arrow, which few statements do.
        from sqlext.sources.packed import SHARED, SharedWork, Together
        from sqlext.sources.tables import reader_of
        from sqlext.sources.together import works_together
        from sqlext.spark.reading.arrow_sources import tasks_of, work_of
        from sqlext.spark.reading.data_source import ArrowInput
        from sqlext_udfs.windows.shares import Share

        views = [(query, step) for query, step in read.members if isinstance(step, ArrowView)]
        works = works_together([worked(step, int(self.common[query]["buckets"])) for query, step in views])
        done = {share.member for work in works for share in work.shares}
        for number, (query, step) in enumerate(views):
            if number not in done:
                work = work_of(self.spark, step, {**self.common[query], **dict(step.arguments)})
                works.append(Together(work, (Share(number),)))
        reader = reader_of(read.table).reader(read.table, read.needed, sources, tasks_of(self.spark))
        return ArrowInput(reader, SHARED, SharedWork(tuple(works)))


def worked(step: ArrowView, buckets: int) -> Worked:
    """Return what is done with a view's rows where they are read."""
    from sqlext.sources.together import Worked

    types = cast("tuple[pa.DataType, ...]", step.types)
    return Worked(cast("Program", step.program), step.function, dict(step.arguments), types, buckets)


@dataclass(frozen=True)
class SharedRows:
    """The tables that one query of a job reads together with others."""

    tables: PackedTables
    query: int

    def rows(self, step: ArrowView, sources: Location) -> CountedRows | None:
        """Return the packed rows of a view, None where it shares its table with no other.

        Args:
            step: the view.
            sources: a folder for what the reader remembers of this run, if this is the first to ask.

        Raises:
            OptionError: OPT-009 if nothing lies at the table's path.
        """
        return self.tables.rows(self.query, step, sources)
