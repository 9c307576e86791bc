"""Read a table once for several queries of a job: its rows are worked on for all of them in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlext.rewrite.script.model import ArrowView
from sqlext.rewrite.script.shared import SharedRead
from sqlext.stores.location import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
        from sqlext.sources.packed import MEMBER
        from sqlext.spark.reading.arrow_sources import counted_rows

        for number, read in enumerate(self.reads):
            for place, member in enumerate(read.members):
                if member.query == query and member.step is step:
                    return counted_rows(self._packed(number, sources).where(f"{MEMBER} = {place}").drop(MEMBER))
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
        from sqlext.sources.packed import SHARED, SharedWork
        from sqlext.sources.tables import reader_of
        from sqlext.spark.reading.arrow_sources import tasks_of, work_of
        from sqlext.spark.reading.data_source import ArrowInput

        steps = [(member.step, self.common[member.query]) for member in read.members]
        works = tuple(
            work_of(self.spark, step, {**common, **dict(step.arguments)})
            for step, common in steps
            if isinstance(step, ArrowView)
        )
        reader = reader_of(read.table).reader(read.table, read.needed, sources, tasks_of(self.spark))
        return ArrowInput(reader, SHARED, SharedWork(works))


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
