"""Describe a job before it starts: its parts, where each keeps its place, and when micro-batches run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.analysis.inserts.bound import BAD_ROWS, LATE_ROWS
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.runs import QueryRun
from sqlext.jobs.timekeeping import Timekeeping
from sqlext.plan.bad_rows import BAD
from sqlext.plan.nodes import LATE
from sqlext.plan.steps import PlanStep
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.script.model import SparkScript
from sqlext.sinks.base import Sink
from sqlext.source import Span
from sqlext.spark.reading.one_batch import Whole
from sqlext_catalog.model import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlext.rewrite.arrow.in_process import LocalScript
    from sqlext.sinks.files_where_read import FilesWhereMade
    from sqlext.sinks.local import LocalSink
    from sqlext.sinks.small_results import SmallResult


@dataclass(frozen=True)
class Place:
    """Where a query of a streaming job keeps its place, and the run under which it goes on."""

    home: QueryHome
    run: QueryRun


@dataclass(frozen=True)
class Beside:
    """The hidden columns of rows that come beside those of a query; NULL in its own.

    Attributes:
        late: of late rows, empty for none.
        bad: of rows that it cannot use, empty for none.
        letters: conditions, one of which holds for dead letters.
    """

    late: str = ""
    bad: str = ""
    letters: tuple[str, ...] = ()

    @classmethod
    def of(cls, script: SparkScript) -> Beside:
        """Return those of a script."""
        late, bad = script.keeps(LATE_ROWS), script.keeps(BAD_ROWS)
        letters = tuple(side.counted for side in script.sides if side.letters)
        return cls(LATE if late else "", BAD if bad else "", letters)


@dataclass(frozen=True)
class JobPart:
    """One query of a job, ready to start: its rows and the sink that takes them.

    Attributes:
        span: the statement, for messages.
        targets: the tables that it writes to; two parts with one target write in turns.
        output_mode: Spark's: ``update`` where rows given out before may change.
        place: None for a job without a stream, which has no state.
        heartbeat: whether its input ends with a row that moves the watermark to the end of time.
        closes_late: whether that row must wait until the data is through (sources that come in several batches).
        ticks: the source that tells its operators that it is time: empty, ``start`` or ``clock``
            (``spark.reading.ticks``).
        ends: whether a tick must tell them that a bounded input has ended.
        beside: what rows come beside its own.
        timekeeping: of its inputs, where they have no end.
        clock: the folder of files that its clock is, None for the machine's.
        whole: opens all its rows, where they are one batch: then ``rows`` is a stream that only brings that about.
        other: writes these rows in another way than as rows of Spark, where that is possible.
        real_time: ms that a batch of Spark's real-time mode lasts; None: rows come in micro-batches.
        tables: those that it reads, for messages.
        steps: those of its plan, for those who watch it.
    """

    name: str
    span: Span
    rows: DataFrame
    sink: Sink
    targets: tuple[str, ...]
    output_mode: str = "append"
    place: Place | None = None
    heartbeat: bool = False
    closes_late: bool = False
    ticks: str = ""
    ends: bool = False
    beside: Beside = Beside()
    timekeeping: Timekeeping | None = None
    clock: str | None = None
    whole: Callable[[], Whole] | None = None
    other: SmallResult | FilesWhereMade | None = None
    real_time: int | None = None
    tables: tuple[Table, ...] = ()
    steps: tuple[PlanStep, ...] = ()

    @property
    def own_sources(self) -> tuple[str, ...]:
        """Folders of what it reads as streams and what is none of the user's rows."""
        return self.place.home.own_sources(self.clock) if self.place is not None else ()

    @property
    def streaming(self) -> bool:
        """Whether it reads a stream; a statement set may have parts that do not."""
        return self.rows.isStreaming

    @property
    def complete(self) -> bool:
        """Whether it has come to its end already, and the job goes on for the sake of others."""
        return self.place is not None and self.place.run.finished


@dataclass(frozen=True)
class LocalPart:
    """One query of a job, ready to start in this process; see ``JobPart``.

    Attributes:
        target: the table that it writes to; two parts with one target write in turns.
    """

    name: str
    span: Span
    script: LocalScript
    sink: LocalSink
    place: Place
    steps: tuple[PlanStep, ...] = ()
    target: str = ""


@dataclass(frozen=True)
class Schedule:
    """When micro-batches run.

    Attributes:
        bounded: whether the input has an end: what is there is taken, and that is all.
        finish: whether that end is the end of time, so that every window comes out.
        interval: ms between the batches of an unbounded job; None: as fast as they come.
        planned: whether the one micro-batch runs that stands in the checkpoint already, and no other.
    """

    bounded: bool
    finish: bool = True
    interval: int | None = None
    planned: bool = False

    @property
    def end(self) -> InputEnd:
        """The kind of end that the input has."""
        if not self.bounded:
            return InputEnd.NONE
        return InputEnd.FINISH if self.finish else InputEnd.CATCH_UP
