"""Run statements in this process where that is wanted and possible, and hand all others to Spark's handler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Protocol, TypeVar

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.replays import BoundReplay
from sqlext.analysis.names.environment import Environment, SparkLookup
from sqlext.connectors.moments import ProcessingClock
from sqlext.connectors.spec import Alteration
from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.limits import ended_by_limit
from sqlext.jobs.parts import Place, Schedule
from sqlext.jobs.query import Query
from sqlext.jobs.result import Result
from sqlext.jobs.runs import QueryRun
from sqlext.plan.nodes import PlanNode
from sqlext.plan.panes import has_clause
from sqlext.plan.ranking import most_rows
from sqlext.plan.steps import steps_of
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.arrow.in_process import LocalScript, compiled_script
from sqlext.rewrite.script.model import ArrowView, ReadView
from sqlext.rewrite.script.shared import shared_streams
from sqlext.session.catalogs.lakes import Lakes, SparkLakes
from sqlext.session.drafts import Draft, Drafts, JobDraft, RunOptions, fed, shared_by
from sqlext.session.handler import Handler
from sqlext.session.local_plans import (
    ENDLESS,
    NotLocalError,
    any_select,
    in_process,
    local_sink_of,
    refused,
    require_plain,
    require_small,
)
from sqlext.session.needed_secrets import check_secrets
from sqlext.session.notices import tell_changes, tell_takeovers, warn_of_unbounded_state
from sqlext.session.places import JobPlaces, Passing, knowing_closed, record_of, select_context, sink_context
from sqlext.session.records import QueryRecords
from sqlext.session.state import SessionState
from sqlext.settings import ENGINE
from sqlext.sinks.live_rows import Row
from sqlext.source import Span
from sqlext.spark.failures import run_error
from sqlext.stores.location import Location
from sqlext_catalog.model import ObjectName, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sqlext.jobs.parts import LocalPart

T = TypeVar("T")


class OfSpark(Handler, Protocol):
    """Spark's handler."""

    @property
    def spark_session(self) -> SparkSession:
        """The session's Spark, started when it is first needed."""


class LocalHandler:
    """Implements ``interpreter.Handler``.

    Args:
        spark: makes the handler of all that is Spark's, when it is first needed.
        prefers_spark: whether a Spark session is there already, which ``auto`` then takes.
    """

    def __init__(
        self,
        spark: Callable[[], OfSpark],
        state: SessionState,
        folder: Path | str,
        options: RunOptions,
        prefers_spark: Callable[[], bool],
    ) -> None:
        self._make = spark
        self.state = state
        self.folder = folder
        self.options = options
        self._prefers_spark = prefers_spark

    @cached_property
    def _spark(self) -> OfSpark:
        return self._make()

    # Statements that read data

    def select(self, statement: ast.SelectStatement, plan: PlanNode, env: Environment) -> Result:
        """Run a query; it has ended when this returns, unless its input has no end."""
        script = self._local(lambda: any_select(plan, env, packs=True), lambda found: [found], env, statement.span)
        if script is None:
            return self._spark.select(statement, plan, env)
        check_secrets(plan, (), statement.span)
        if not script.script.at_once:
            return self._followed(statement, plan, script, env)
        return _selected(script, env.zone, statement.span, lambda: self._spark.spark_session)

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        """Run INSERTs as one job; it has ended when this returns, unless its input has no end."""
        begun = partial(Drafts.of(self.state, env, self.options).have_begun_here, inserts)
        prepared = self._local(
            lambda: self._prepared(inserts, env), lambda found: found.scripts, env, statement.span, begun
        )
        if prepared is None:
            return self._spark.insert(statement, inserts, env)
        for insert in inserts:
            check_secrets(insert.plan, (insert,), insert.span)
        self.options.ordinals.update(prepared.drafting.options.ordinals)
        return self._run(statement, prepared, env)

    def _followed(
        self, statement: ast.SelectStatement, plan: PlanNode, script: LocalScript, env: Environment
    ) -> Result:
        """Run a query whose input has no end; its rows are collected as they come, and nothing of it stays."""
        import pyarrow as pa

        from sqlext.jobs.local.job import start_job
        from sqlext.jobs.parts import LocalPart
        from sqlext.sinks.collect_here import CollectHere

        warn_of_unbounded_state([plan])
        sink = CollectHere(select_context(script.script, env.zone), script.query.schema, folds=not has_clause(plan))
        name = self.options.numbered(self.state.settings.get("pipeline.name") or f"{self.options.script}.select")
        folder = Path(mkdtemp(prefix="sqlext-"))
        home = QueryHome(folder, name)
        part = LocalPart(name, statement.span, script, sink, Place(home, QueryRun("select", {})), steps_of(plan, name))
        clock = ProcessingClock(env.settings.get("sqlext.clock"))
        query = start_job(name, [part], Passing(home, folder), clock, self.options.interval)
        names = [name for _, name in script.script.outputs]

        def rows() -> list[Row]:
            followed = sink.live(len(names))  # a follower of its own: others keep what they have taken
            followed.take()
            return followed.rows

        schema = pa.schema(list(script.query.columns)[: len(names)])

        def frame() -> DataFrame:
            columns = list(zip(*rows(), strict=True)) or [()] * len(names)
            arrays = [pa.array(column, of) for column, of in zip(columns, schema.types, strict=True)]
            return self._spark.spark_session.createDataFrame(pa.Table.from_arrays(arrays, names=names))

        result = Result(names, rows, query=query, frame=frame, live=lambda: sink.live(len(names)))
        ended_by_limit(query, lambda: len(result.rows), most_rows(plan))
        return result

    def _local(
        self,
        prepare: Callable[[], T],
        scripts: Callable[[T], Sequence[LocalScript]],
        env: Environment,
        span: Span,
        begun: Callable[[], bool] = lambda: False,
    ) -> T | None:
        """Return what is prepared for this process; None: Spark runs it.

        Args:
            scripts: those of the queries that are prepared.
            begun: whether they are queries without an end that have begun in this process: ``auto`` lets them go on.

        Raises:
            SqlExtError: OPT-036 where it is to run here, and cannot.
        """
        engine = self.state.settings.get(ENGINE)
        if engine == "spark" or (engine == "auto" and self._prefers_spark() and not begun()):
            return None
        try:
            prepared = prepare()
            found = scripts(prepared)
            if engine == "auto" and all(script.script.at_once for script in found):
                require_small(found, env)
            elif engine == "auto" and not begun():
                raise NotLocalError(ENDLESS)
        except NotLocalError as reason:
            if engine == "local":
                raise refused(reason, span) from reason
            return None
        return prepared

    def _prepared(self, inserts: Sequence[BoundInsert], env: Environment) -> _Prepared:
        # A copy: queries that Spark runs after all take their names there.
        options = replace(self.options, ordinals=dict(self.options.ordinals))
        drafting = Drafts.of(self.state, env, options)
        scripts = []
        for insert in inserts:
            require_plain(insert, env)
        job = in_process(lambda: drafting.job(inserts, local=True))
        if not job.streaming:
            raise NotLocalError("an INSERT that reads its tables once, and keeps no place")
        if job.end is InputEnd.CATCH_UP:
            raise NotLocalError("a query that stops where it has caught up")
        for draft in job.drafts:
            begun = drafting.begun(draft.name, job.end)
            script = in_process(partial(compiled_script, draft.script, env.zone))
            if begun is not None and not begun.could_be_local([step.table for step in script.all_reads]):
                raise NotLocalError(f"query `{draft.name}` has begun on Spark, and goes on there")
            # Its identity is not known yet; whether it can write is.
            local_sink_of(draft.insert, script, sink_context(draft, None, env))
            scripts.append(script)
        return _Prepared(drafting, job, scripts)

    def _run(self, statement: ast.Statement, prepared: _Prepared, env: Environment) -> Result:
        drafts, endless = prepared.job.drafts, prepared.job.end is InputEnd.NONE
        prepared.job.require_end(self.state.settings)
        if endless:
            warn_of_unbounded_state([draft.insert.plan for draft in drafts])
        name = self.state.settings.get("pipeline.name") or drafts[0].name
        checkpoint = self.options.checkpoint or self.state.settings.checkpoint
        kept = JobPlaces(self.folder, checkpoint, self.state)
        with ExitStack() as held:
            repeats = kept.repeats(drafts, Schedule(not endless, interval=self.options.interval))
            places = [place for place in kept.taken(prepared.drafting, prepared.job, held) if place is not None]
            if endless:
                prepared = _going_on(prepared, places, env)
                drafts = prepared.job.drafts
            runs = [(p.home, p.run) for p in places]
            notices = (*repeats, *tell_takeovers(home for home, _ in runs), *tell_changes(runs))
            _require_sources(drafts, prepared.scripts)
            parts = [_part(*query, env) for query in zip(drafts, prepared.scripts, places, strict=True)]
            for part in parts:
                _placed(part.sink.require, part.span)
            # Opened before the job begins: a refusal then leaves no run behind.
            for part in parts:
                _placed(part.sink.open, part.span)
            records = [record_of(statement, d, p) for d, p in zip(drafts, places, strict=True)]
            log = QueryRecords(self.state.catalog, name, records)
            held.pop_all()  # from here on the job holds the places
        query = self._started(name, parts, log, prepared, places, env)
        writes = list(dict.fromkeys(d.insert.table.name.plain for d in drafts))
        return Result(query=query, notices=notices, writes=writes)

    def _started(
        self,
        name: str,
        parts: Sequence[LocalPart],
        log: QueryRecords,
        prepared: _Prepared,
        places: Sequence[Place],
        env: Environment,
    ) -> Query:
        """Return the query of a job: it has ended, or it has no end and has begun."""
        drafts = prepared.job.drafts
        if prepared.job.end is InputEnd.NONE:
            from sqlext.jobs.local.job import start_job

            clock = ProcessingClock(env.settings.get("sqlext.clock"))
            reads = shared_streams([draft.script for draft in drafts], [draft.insert for draft in drafts])
            return start_job(name, parts, log, clock, self.options.interval, reads)
        from sqlext.jobs.in_process import run_job

        return run_job(name, parts, log, shared_by(drafts, places, [draft.script for draft in drafts]))

    # All others

    def spark_table(self) -> SparkLookup | None:
        """Return how to ask Spark for a table; it is started only if one is asked for."""
        return lambda parts: (self._spark.spark_table() or _nothing)(parts)

    def lakes(self) -> Lakes:
        """Return how to reach catalogs of lakes: Spark is started only if one is reached."""
        return SparkLakes(lambda: self._spark.spark_session)

    def explain(self, statement: ast.Explain, env: Environment) -> Result:
        """Say what a statement would do."""
        return self._spark.explain(statement, env)

    def spark(self, statement: ast.Statement) -> Result:
        """Hand a statement to Spark byte for byte."""
        return self._spark.spark(statement)

    def drop_query(self, statement: ast.Drop) -> Result:
        """Remove a query and its state."""
        return self._spark.drop_query(statement)

    def stop_job(self, statement: ast.StopJob) -> Result:
        """Stop a running job."""
        return self._spark.stop_job(statement)

    def show_watermarks(self, statement: ast.Show, env: Environment) -> Result:
        """Say how far the inputs of queries are."""
        return self._spark.show_watermarks(statement, env)

    def explain_why(self, statement: ast.ExplainWhy, env: Environment) -> Result:
        """Say why nothing comes out of a query."""
        return self._spark.explain_why(statement, env)

    def explain_row(self, statement: ast.ExplainRow, rows: PlanNode, env: Environment) -> Result:
        """Say which input rows made the rows of a result."""
        return self._spark.explain_row(statement, rows, env)

    def analyze_watermark(self, statement: ast.AnalyzeWatermark, env: Environment) -> Result:
        """Say how late the rows of a table are."""
        return self._spark.analyze_watermark(statement, env)

    def replay(self, replay: BoundReplay, env: Environment) -> Result:
        """Feed dead letters back into their queries."""
        return self._spark.replay(replay, env)

    def deploy(self, statement: ast.Deploy) -> Result:
        """Make the new version of a statement's queries the current one."""
        return self._spark.deploy(statement)

    def runs(self, query: str) -> bool:
        """Whether a query of this session runs."""
        return self._spark.runs(query)

    def drop_kept(self, query: str, table: Table) -> None:
        """Stop the query that keeps a materialized view, and remove its state."""
        self._spark.drop_kept(query, table)

    def alter_stored(self, name: ObjectName, alteration: Alteration, span: Span) -> None:
        """Change the columns of what lies behind a table, as ALTER TABLE asks."""
        self._spark.alter_stored(name, alteration, span)


@dataclass(frozen=True)
class _Prepared:
    """INSERTs that this process runs, and what made drafts of them."""

    drafting: Drafts
    job: JobDraft
    scripts: Sequence[LocalScript]


def _going_on(prepared: _Prepared, places: Sequence[Place], env: Environment) -> _Prepared:
    """Return queries without an end as they go on from their places: windows that are closed stay so."""
    from sqlext.jobs.local.commits import Commits

    for place in places:
        before = place.home.run()
        if before is not None and place.run.renews(before):
            Commits(place.home).leave_state()
    drafts = knowing_closed(prepared.job.drafts, places)
    scripts = [
        script if draft.script.closed is None else compiled_script(draft.script, env.zone)
        for draft, script in zip(drafts, prepared.scripts, strict=True)
    ]
    return replace(prepared, job=replace(prepared.job, drafts=drafts), scripts=scripts)


def _part(draft: Draft, script: LocalScript, place: Place, env: Environment) -> LocalPart:
    from sqlext.jobs.parts import LocalPart

    sink = local_sink_of(draft.insert, script, sink_context(draft, place, env))
    target = draft.insert.table.name.plain
    return LocalPart(draft.name, draft.insert.span, script, sink, place, steps_of(draft.insert.plan, target), target)


def _require_sources(drafts: Sequence[Draft], scripts: Sequence[LocalScript]) -> None:
    """Refuse tables that are not there before a sink makes its own."""
    with TemporaryDirectory(prefix="sqlext-") as sources:
        for draft, script, waits in zip(drafts, scripts, fed(drafts), strict=True):
            for step in () if waits else script.all_reads:
                _placed(partial(_require_source, step, Location(sources)), draft.insert.span)


def _require_source(step: ReadView | ArrowView, sources: Location) -> None:
    from sqlext.local.reading import opened

    opened(step, sources).close()


def _placed(check: Callable[[], object], span: Span) -> None:
    """Make a check whose refusal gets a position."""
    try:
        check()
    except SqlExtError as error:
        raise error.at(span) from error.__cause__


def _selected(script: LocalScript, zone: str, span: Span, spark: Callable[[], SparkSession]) -> Result:
    from sqlext.local.engine import computed
    from sqlext.sinks.standing import standing
    from sqlext.sources.values import rows_of_table

    with TemporaryDirectory(prefix="sqlext-") as sources:
        try:
            rows = standing(computed(script, Location(sources)).rows, select_context(script.script, zone))
        except Exception as error:
            raise run_error(error, span) from error
    table = rows.select(range(len(script.script.outputs)))
    return Result(table.column_names, list(rows_of_table(table)), frame=lambda: spark().createDataFrame(table))


def _nothing(parts: tuple[str, ...]) -> None:
    """Return that Spark knows no table."""
