"""Open scripts on a session's Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pyspark.errors import PySparkException

from sqlext.analysis.names.environment import Environment
from sqlext.connectors.moments import ProcessingClock
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.handover.ends import FirstBatch
from sqlext.jobs.parts import Beside, JobPart, Place
from sqlext.jobs.renewal import SCRATCH, begin_empty
from sqlext.jobs.timekeeping import Timekeeping
from sqlext.plan.nodes import PlanNode
from sqlext.plan.steps import steps_of
from sqlext.rewrite.compiler.boundedness import closes_late
from sqlext.rewrite.script.begun import readers
from sqlext.rewrite.script.model import SparkScript
from sqlext.session.allowing.functions import require_script
from sqlext.session.drafts import Draft, RunOptions
from sqlext.session.state import SessionState
from sqlext.sinks.base import Sink, SinkContext
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.sinks.sides import beside
from sqlext.source import Span
from sqlext.spark.failures import refused, run_error
from sqlext.spark.quiet import quiet
from sqlext.spark.reading.one_batch import Whole
from sqlext.spark.reading.shared_rows import SharedRows
from sqlext.spark.reading.ticks import TickSource
from sqlext.spark.reading.views import CarriedState, Opened, open_script
from sqlext.spark.settings_scope import CASE_SENSITIVE, query_settings, source_settings, spark_settings
from sqlext.spark.workers.needs import STORES
from sqlext.spark.workers.ready import require_folder, require_python
from sqlext_catalog.model import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")


@dataclass(frozen=True)
class SparkScripts:
    """Opens the scripts of a session.

    Attributes:
        spark: gives the session's Spark, started when it is first needed.
        state: of the session.
        folder: of the catalog, or its URL.
        options: how its queries run.
    """

    spark: Callable[[], SparkSession]
    state: SessionState
    folder: Path | str
    options: RunOptions

    def settings(self, env: Environment, scripts: Sequence[SparkScript]) -> AbstractContextManager[None]:
        """Return a block in which Spark has the settings that scripts are opened and started under."""
        kept = CASE_SENSITIVE if env.mode == "flink" else frozenset[str]()
        wanted = self.options.rules.settable(query_settings(env.zone, scripts))
        return spark_settings(self.spark(), wanted, kept | source_settings(scripts).keys())

    def opened(
        self,
        script: SparkScript,
        env: Environment,
        home: QueryHome | None,
        ticks: TickSource | None,
        span: Span,
        *,
        skips: bool = False,
        shared: SharedRows | None = None,
        state: CarriedState | None = None,
    ) -> Opened:
        """Return a script's query as a DataFrame, with nothing of what its sources have if it ``skips``.

        Args:
            shared: the tables that it reads together with other queries of its job.
            state: with which it begins.

        Raises:
            SqlExtError: OPT-..., RUN-010 for a source that cannot be opened, RUN-101 what Spark refuses, ENV-015 to
                ENV-018 where workers cannot run it.
        """
        spark = self.spark()
        try:
            self.require_able(script, env, home, span)
            with quiet():
                whole = (spark, script, env.zone, home, ticks, env.functions, self.state.frames)
                return open_script(*whole, skips=skips, shared=shared, state=state)
        except PySparkException as error:
            raise refused(error, span) from error
        except SqlExtError as error:
            raise error.at(span) from error.__cause__

    def of_query(
        self,
        script: SparkScript,
        env: Environment,
        home: QueryHome | None,
        span: Span,
        *,
        runs: bool = False,
        skips: bool = False,
        shared: SharedRows | None = None,
        state: CarriedState | None = None,
    ) -> Opened:
        """Return a script's query as ``opened`` does, with the ticks of its folder.

        Args:
            runs: whether its input has no end.
        """
        ticks = None
        if home is not None and not script.at_once:
            ticks = TickSource(home.ticks, runs, env.settings.get("sqlext.clock"))
        return self.opened(script, env, home, ticks, span, skips=skips, shared=shared, state=state)

    def first_batch(
        self,
        draft: Draft,
        home: QueryHome,
        env: Environment,
        folder: str,
        state: CarriedState | None = None,
        *,
        runs: bool = False,
    ) -> FirstBatch:
        """Return what a first micro-batch tells of the sources of a query.

        Args:
            folder: of a checkpoint, within the query's folder.
            state: with which it begins. If it is to be divided first, no checkpoint is begun.
            runs: as of ``of_query``.
        """
        home.location.store.remove(SCRATCH)
        opened = self.of_query(draft.script, env, home, draft.insert.span, runs=runs, skips=True, state=state)
        if state is not None and state.checkpoint is not None:
            return FirstBatch(folder)
        with quiet():
            return begin_empty(opened.rows, home, draft.script.output_mode, folder)

    def tick(self, place: Place) -> DataFrame:
        """Return the stream of one row that brings a batch about."""
        first = TickSource(place.home.ticks, runs=False).open(self.spark(), "start")
        assert first is not None
        return first

    def scripted(
        self, part: JobPart, opened: Callable[[], Opened], script: SparkScript, plan: PlanNode, env: Environment
    ) -> JobPart:
        """Return a part with what its script and its plan say of how it runs; ``opened`` gives its rows.

        The part has these, or the stream of ``tick`` already where they need not be opened.
        """
        part = replace(part, tables=script.tables, steps=steps_of(plan, " and ".join(part.targets)))
        place, clock = part.place, env.settings.get("sqlext.clock")
        if script.at_once:
            # Its rows are static. A stream of one tick hands them to ``foreachBatch``, so that the checkpoint and the
            # sink count them as one batch, as they do for any other query.
            assert place is not None
            rows = part.rows if part.rows.isStreaming else self.tick(place)
            return replace(part, rows=rows, whole=lambda: _whole(opened()), ticks="start")
        kept = place is not None and bool(script.kept)
        return replace(
            part,
            timekeeping=Timekeeping(place.home.time, script.kept, ProcessingClock(clock))
            if place is not None and kept
            else None,
            heartbeat=script.heartbeat,
            closes_late=closes_late(plan, env.zone),
            ticks=script.ticks_apart,
            ends=script.ends,
            beside=Beside.of(script),
            clock=clock,
        )

    def with_sides(
        self,
        sink: Sink,
        script: SparkScript,
        context: SinkContext,
        span: Span,
        env: Environment,
        keys: Sequence[str] = (),
    ) -> Sink:
        """Return a query's sink, with those of the rows that are kept beside its own."""
        limit = LetterLimit.of(env.settings)
        return told_of(partial(beside, self.spark(), sink, script.sides, context, limit, keys), span)

    def require_able(self, script: SparkScript, env: Environment, home: QueryHome | None, span: Span) -> None:
        """Refuse a script that may not run here, or cannot; raises as ``opened``."""
        require_script(script, env.policy, span)
        if script.runs_python:
            # Where a reader of ours has been lies with the query, and Spark asks the reader in a Python of the workers.
            by_url = home is not None and home.location.path is None and readers(script)
            require_python(self.spark(), *((STORES,) if by_url else ()))
        own = home.location.path if home is not None else None
        if own is not None:  # a URL is one place for all
            catalog = self.folder
            # One look serves all queries of a catalog. Checkpoints may lie elsewhere.
            inside = isinstance(catalog, Path) and own.is_relative_to(catalog)
            require_folder(self.spark(), Path(catalog) if inside else own.parent)


def targets_of(name: str, script: SparkScript) -> tuple[str, ...]:
    """Return what a query writes to."""
    return (name, *(side.table.name.plain for side in script.sides))


def told_of(action: Callable[[], T], span: Span, tables: Sequence[Table] = ()) -> T:
    """Return what an action gives; whatever fails in it is told as a failure of the statement.

    Raises:
        SqlExtError: for any failure.
    """
    try:
        with quiet():
            return action()
    except Exception as error:
        raise run_error(error, span, tables) from error


def _whole(opened: Opened) -> Whole:
    return Whole.of(opened.rows, opened.read)
