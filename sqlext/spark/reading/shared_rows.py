"""Read a table once for several queries of a job: its rows are worked on for all of them in one pass."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlext.rewrite.script.model import ArrowView
from sqlext.rewrite.script.shared import SharedRead
from sqlext.stores.location import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sqlext.local.reading import MemberRows, ReadRows
    from sqlext.rewrite.compiler.handed_on import HandedOn
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
        handed: of each query that is one batch its operators, as they hand on what they give.
    """

    spark: SparkSession
    reads: Sequence[SharedRead]
    common: Sequence[Mapping[str, Any]]
    handed: Sequence[HandedOn | None]
    _kept: dict[int, DataFrame] = field(default_factory=dict)
    _small: dict[int, Mapping[int, MemberRows]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, query: int) -> SharedRows:
        """Return those of one query, by its place in the job."""
        return SharedRows(self, query)

    def rows(self, query: int, step: ArrowView, sources: Location) -> CountedRows | None:
        """Return the packed rows of a view, None where it shares its table with no other; see ``SharedRows``."""
        from sqlext.sources.packed import FAILURE, MEMBER
        from sqlext.spark.reading.arrow_sources import counted_rows

        found = self._place(query, step)
        if found is None:
            return None
        number, place = found
        packed = self._packed(number, sources)
        # In one condition, so that no query fails for another one's work.
        fails = f"WHEN {FAILURE} IS NOT NULL THEN CAST(raise_error({FAILURE}) AS BOOLEAN)"
        mine = packed.where(f"CASE WHEN {MEMBER} <> {place} THEN false {fails} ELSE true END")
        return counted_rows(mine.drop(MEMBER, FAILURE))

    def small(self, query: int, steps: Sequence[ArrowView], most: int) -> Mapping[str, ReadRows] | None:
        """Return the packed rows of a query's views, here; None where one has more bytes, or no table with others.

        Who asks first has them computed by Spark, for all.

        Args:
            most: how many bytes a view may have.

        Raises:
            WorkFailedError: where the work of one of them failed.
        """
        from sqlext.sources.packed import WorkFailedError

        found = {}
        for step in steps:
            place = self._place(query, step)
            with self._lock:
                rows = self._taken(place[0], most).get(place[1]) if place is not None else None
            if rows is None:
                return None
            if rows.failure is not None:
                raise WorkFailedError(rows.failure)
            found[step.view] = rows.rows
        return found

    def open(self, query: int, steps: Sequence[ArrowView], sources: Location) -> None:
        """Open the tables of a query's views; see ``SharedRows``."""
        for place in (self._place(query, step) for step in steps):
            if place is not None:
                self._packed(place[0], sources)

    def shares(self, query: int, step: ArrowView) -> bool:
        """Whether a view's table is read together with others."""
        return self._place(query, step) is not None

    def _place(self, query: int, step: ArrowView) -> tuple[int, int] | None:
        """Return the numbers of a view's table and of the view among those of the table."""
        for number, read in enumerate(self.reads):
            for place, member in enumerate(read.members):
                if member.query == query and member.step is step:
                    return number, place
        return None

    def _taken(self, number: int, most: int) -> Mapping[int, MemberRows]:
        """Return the packed rows of a table's views that are small, by their numbers."""
        if number not in self._small:
            packed = self._kept[number]
            self._small[number] = {}  # a table that cannot be read is not read once more for each
            self._small[number] = small_rows(packed, len(self.reads[number].members), most)
        return self._small[number]

    def close(self) -> None:
        """Give free what is kept."""
        self._small.clear()
        while self._kept:
            self._kept.popitem()[1].unpersist()

    def _packed(self, number: int, sources: Location) -> DataFrame:
        """Return the packed rows of all views of a table; opened by the first that asks."""
        from sqlext.spark.reading.data_source import open_at_once

        if number not in self._kept:
            packed = open_at_once(self.spark, self._input(self.reads[number], sources))
            self._kept[number] = packed.persist()
        return self._kept[number]

    def _input(self, read: SharedRead, sources: Location) -> ArrowInput:
        # These need Arrow, which few statements do.
        from sqlext.local.reading import worked
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


def small_rows(packed: DataFrame, members: int, most: int) -> Mapping[int, MemberRows]:
    """Return the packed rows of views that have few bytes, by the numbers of the views.

    Args:
        packed: kept rows of all of them (``SHARED``).
        members: how many there are.
        most: how many bytes each may have.
    """
    from pyspark.sql import functions as f

    from sqlext.local.reading import member_rows
    from sqlext.sources.packed import FAILURE, MEMBER, READ

    # A number for each packed table is less work than a shuffle.
    sizes = packed.select(MEMBER, f.length("rows").alias("bytes")).toArrow()
    totals = sizes.group_by(MEMBER).aggregate([("bytes", "sum")]).to_pylist()
    large = [total[MEMBER] for total in totals if (total["bytes_sum"] or 0) > most]
    wanted = packed.where(~f.col(MEMBER).isin(large)) if large else packed
    table = wanted.select(MEMBER, FAILURE, READ, "bucket", "rows", "now").toArrow()
    return member_rows(table, [m for m in range(members) if m not in large])


@dataclass(frozen=True)
class SharedRows:
    """The tables that one query of a job reads together with others."""

    tables: PackedTables
    query: int

    @property
    def handed(self) -> HandedOn | None:
        """The query, where it is one batch, as its operators hand on what they give."""
        return self.tables.handed[self.query]

    def rows(self, step: ArrowView, sources: Location) -> CountedRows | None:
        """Return the packed rows of a view, None where it shares its table with no other.

        Args:
            step: the view.
            sources: a folder for what the reader remembers of this run, if this is the first to ask.

        Raises:
            OptionError: OPT-009 if nothing lies at the table's path.
        """
        return self.tables.rows(self.query, step, sources)

    def open(self, steps: Sequence[ArrowView], sources: Location) -> None:
        """Open the tables of views, which no query has asked for yet; raises as ``rows``."""
        self.tables.open(self.query, steps, sources)

    def small(self, steps: Sequence[ArrowView], most: int) -> Mapping[str, ReadRows] | None:
        """Return the packed rows of views, here; None where one has more bytes; see ``PackedTables.small``."""
        return self.tables.small(self.query, steps, most)

    def shares(self, step: ArrowView) -> bool:
        """Whether the table of a view is read together with others."""
        return self.tables.shares(self.query, step)

    def shares_all(self, steps: Sequence[ArrowView]) -> bool:
        """Whether the tables of views are all read together with others."""
        return all(map(self.shares, steps))
