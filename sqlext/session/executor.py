"""Run statements that read data as jobs on Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pyspark.errors import AnalysisException

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.replays import BoundReplay
from sqlext.analysis.inserts.sides import side_inserts
from sqlext.analysis.names.environment import Environment, SparkLookup
from sqlext.connectors.spec import Alteration
from sqlext.dialect.ast import statements as ast
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.limits import ended_by_limit, limited, limited_time
from sqlext.jobs.parts import JobPart, Place, Schedule
from sqlext.jobs.query import Query
from sqlext.jobs.result import Result
from sqlext.jobs.runner import Job
from sqlext.jobs.runs import QueryRun
from sqlext.locations import for_spark, is_remote
from sqlext.plan.nodes import PlanNode
from sqlext.plan.panes import has_clause
from sqlext.plan.ranking import most_rows
from sqlext.plan.timing import InputEnd
from sqlext.policy import require_rows
from sqlext.rewrite.compiler.boundedness import is_bounded
from sqlext.rewrite.compiler.inserts import with_sides
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.script.model import SparkScript
from sqlext.secrets import redact_value
from sqlext.session.catalogs.lakes import Lakes, SparkLakes
from sqlext.session.drafts import Drafts, RunOptions
from sqlext.session.introspection.advisor import analyzed
from sqlext.session.introspection.explain import explain_statement
from sqlext.session.introspection.show import matching
from sqlext.session.introspection.watermarks import COLUMNS as WATERMARKS
from sqlext.session.introspection.watermarks import Watermarks
from sqlext.session.materialized import own_place
from sqlext.session.needed_secrets import check_secrets
from sqlext.session.notices import (
    tell_catch_up,
    tell_changes,
    tell_kept,
    tell_takeovers,
    warn_of_unbounded_state,
)
from sqlext.session.places import JobPlaces, Passing, knowing_closed, record_of, select_context
from sqlext.session.reached import require_able
from sqlext.session.records import QueryRecords, drop_query, stop_job
from sqlext.session.starting.job_opening import JobOpening
from sqlext.session.starting.scripts import SparkScripts, targets_of, told_of
from sqlext.session.state import SessionState
from sqlext.sinks.collect import CollectSink, collecting
from sqlext.sinks.live_rows import LiveRows, Row
from sqlext.sinks.opening import alter_stored
from sqlext.source import Span
from sqlext.spark.object_urls import require_file_system
from sqlext.spark.refusals import refused_as_written
from sqlext.spark.sessions import temporary_folder
from sqlext.spark.tables import spark_columns
from sqlext.stores.opening import remove_all
from sqlext_catalog.model import ObjectName, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


T = TypeVar("T")
#: The first columns of what Spark answers to SET.
_SETTING = ["key", "value"]


class SparkHandler:
    """Implements ``interpreter.Handler`` on a Spark session."""

    def __init__(
        self,
        spark: Callable[[], SparkSession],
        state: SessionState,
        folder: Path | str,
        options: RunOptions,
        running: Callable[[], Sequence[Query]] = tuple,
        deploys: Callable[[ast.Deploy], Result] | None = None,
    ) -> None:
        self._spark = spark
        self.scripts = SparkScripts(spark, state, folder, options)
        self._deploys = deploys
        self._running = running
        self.state = state
        self.folder = folder
        self.options = options

    @property
    def spark_session(self) -> SparkSession:
        """The session's Spark, started when it is first needed."""
        return self._spark()

    def spark_table(self) -> SparkLookup:
        """Return the look-up of tables that only Spark knows."""
        return lambda parts: spark_columns(self.spark_session, parts)

    def lakes(self) -> Lakes:
        """Return how to reach catalogs of lakes."""
        return SparkLakes(self._spark)

    def spark(self, statement: ast.Statement) -> Result:
        """Hand a statement to Spark byte for byte."""
        given = statement.text if isinstance(statement, ast.SparkStatement) else ""
        text = given or statement.span.text

        def answered() -> Result:
            try:
                frame = self.spark_session.sql(text)
                rows = [tuple(r) for r in frame.collect()] if frame.columns else []
            except AnalysisException as error:  # what Spark cannot read is one of these too
                raise refused_as_written(str(error), statement.span, text) from error
            if isinstance(statement, ast.SparkStatement) and frame.columns[:2] == _SETTING:
                rows = [(key, redact_value(key, value), *more) for key, value, *more in rows]
            return Result(frame.columns, rows, frame=(lambda: frame) if frame.columns else None)

        return told_of(answered, statement.span)

    def explain(self, statement: ast.Explain, env: Environment) -> Result:
        """Say what a statement would do."""
        options = replace(self.options, ordinals=dict(self.options.ordinals))  # no query takes a name
        drafts = self._drafts(env, options)
        return explain_statement(
            statement,
            env,
            self.options.interval,
            drafts,
            at_once=options.at_once,
            spark_is_there=self.options.spark_is_there,
        )

    def drop_query(self, statement: ast.Drop) -> Result:
        """Remove a query's record, checkpoint and state."""
        name = ".".join(statement.name)
        drop_query(self.state, name, if_exists=statement.if_exists)
        return Result()

    def stop_job(self, statement: ast.StopJob) -> Result:
        """Stop a job of this session; its place is kept."""
        return stop_job(statement, self._running(), self.state.catalog)

    def show_watermarks(self, statement: ast.Show, env: Environment) -> Result:
        """Say how far the inputs of queries are."""
        rows = self._watermarks().rows(".".join(statement.name) or None, statement.name_span)
        return Result(WATERMARKS, matching(statement, rows))

    def explain_why(self, statement: ast.ExplainWhy, env: Environment) -> Result:
        """Say why nothing comes out of a query."""
        text = self._watermarks().why(".".join(statement.name), statement.name_span)
        return Result(("result",), [(text,)])

    def explain_row(self, statement: ast.ExplainRow, rows: PlanNode, env: Environment) -> Result:
        """Say which input rows made the rows of a result."""
        from sqlext.session.introspection.row_origins import explained_rows

        check_secrets(rows, (), statement.span)
        return told_of(lambda: explained_rows(statement, rows, env, self.state), statement.span)

    def analyze_watermark(self, statement: ast.AnalyzeWatermark, env: Environment) -> Result:
        """Say how late the rows of a table are."""
        if statement.seen_span is not None:
            from sqlext.session.introspection.seen import seen_by_queries

            asked = analyzed(statement, env)
            return told_of(lambda: seen_by_queries(asked, self._running(), self.state), statement.span)
        # Numbers are counted with numpy, which a session loads when it needs it.
        from sqlext.session.introspection.advised import read_here, script_here

        found = told_of(analyzed(statement, env).opened, statement.span)
        check_secrets(found.plan(), (), statement.span)
        script = script_here(found)
        return told_of(lambda: read_here(found, script), statement.span)

    def replay(self, replay: BoundReplay, env: Environment) -> Result:
        """Feed dead letters back into their queries, exactly once."""
        from sqlext.session.replaying import Replaying

        span = replay.statement.span
        check_secrets(replay.plan, (), span)
        script = script_of(replay.plan, env, end=InputEnd.FINISH)
        with self.scripts.settings(env, [script]):
            chosen = self.scripts.of_query(script, env, None, span).rows
            return told_of(lambda: Replaying(replay, env, self.state).answer(chosen), span)

    def deploy(self, statement: ast.Deploy) -> Result:
        """Make the new version of a statement's queries the current one."""
        assert self._deploys is not None, "who has none takes queries alone"
        return self._deploys(statement)

    def _watermarks(self) -> Watermarks:
        return Watermarks(self._running(), self.state)

    def runs(self, query: str) -> bool:
        """Whether a query of this session runs."""
        return any(q.name == query for q in self._running())

    def drop_kept(self, query: str, table: Table) -> None:
        """Stop the query that keeps a materialized view, and remove its state; the view's own rows go too."""
        for running in self._running():
            if running.name == query:
                running.stop()
        drop_query(self.state, query, if_exists=True)
        self.options.ordinals.pop(query, None)
        # Rows that WITH put elsewhere are the user's.
        place = own_place(self.folder, table.name)
        if place is not None and table.option("path") == place:
            remove_all(place, self.state.stores)

    def alter_stored(self, name: ObjectName, alteration: Alteration, span: Span) -> None:
        """Change the columns of what lies behind a table, as ALTER TABLE asks."""
        told_of(lambda: alter_stored(self.spark_session, alteration), span)

    def select(self, statement: ast.SelectStatement, plan: PlanNode, env: Environment) -> Result:
        """Run a query; its rows are collected as they come."""
        # Whatever 'sqlext.bounded' says: a SELECT keeps no place from which it could catch up.
        schedule = self._schedule(InputEnd.FINISH if is_bounded(plan) else self.options.endless)
        self._warn_of_endless([plan])
        script = script_of(plan, env, end=schedule.end, at_once=self.options.at_once)
        sides = side_inserts(plan, env)
        check_secrets(plan, sides, statement.span)
        script = with_sides(script, plan, sides, env)
        if not script.streaming:
            return self._select_at_once(script, env, statement.span)
        context = select_context(script, env.zone)
        shown = collecting(self.spark_session, context, folds=not has_clause(plan), most=self._most)
        wanted = self.state.settings.get("pipeline.name") or f"{self.options.script}.select"
        name = self.options.numbered(wanted)
        folder = temporary_folder(self.spark_session, self.folder)
        home = QueryHome(folder, name)
        with ExitStack() as undo, self.scripts.settings(env, [script]):
            leaves = Passing(home, folder)
            undo.callback(leaves.remove)
            opened = self.scripts.of_query(script, env, home, statement.span, runs=not schedule.bounded)
            sink = self.scripts.with_sides(shown, script, replace(context, query=name), statement.span, env)
            place = Place(home, QueryRun("select", {}))
            part = JobPart(name, statement.span, opened.rows, sink, targets_of(name, script), script.output_mode, place)
            part = self.scripts.scripted(part, lambda: opened, script, plan, env)
            job = Job(self.spark_session, name, [part], schedule, lambda: self.scripts.settings(env, [script]), leaves)
            undo.pop_all()  # from here on the job removes the folder, when it ends
        started = limited(job.start(), self.state.policy.limits, statement.span)
        result = _collected(started, shown, opened.rows, [n for _, n in script.outputs], self.spark_session)
        ended_by_limit(started, lambda: len(result.rows), None if schedule.bounded else most_rows(plan))
        return result

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        """Start INSERTs as one job."""
        for insert in inserts:
            check_secrets(insert.plan, (insert,), insert.span)
        drafting = self._drafts(env, self.options)
        made = drafting.job(inserts)
        made.require_end(self.state.settings)
        schedule, drafts = self._schedule(made.end), made.drafts
        told = self._warn_of_endless([i.plan for i in inserts])
        scripts = [d.script for d in drafts]
        name = self.state.settings.get("pipeline.name") or drafts[0].name
        # One thread at a time: settings and views are one for the whole Spark session.
        with ExitStack() as held, self.scripts.settings(env, scripts):
            kept = JobPlaces(self.folder, self._checkpoint, self.state)
            repeats = kept.repeats(drafts, schedule)
            require_file_system(self.spark_session, for_spark(self._checkpoint or str(self.folder)))
            for draft in drafts:
                refuse = partial(require_able, self._spark, draft.script, draft.insert)
                told_of(refuse, draft.insert.span)
            places = kept.taken(drafting, made, held)
            drafts = knowing_closed(drafts, places)
            # Before anything is renewed: it compares with the run that the folder has now.
            held_now = [(p.home, p.run) for p in places if p is not None]
            stays = tell_kept((d.name, d.kept) for d in drafts)
            notices = (*repeats, *tell_takeovers(home for home, _ in held_now), *tell_changes(held_now), *stays)
            opening = JobOpening(self.scripts, env, drafts, places, not schedule.bounded)
            opening.renew()
            shared = opening.shared
            held.callback(shared.close)
            parts = opening.parts()
            records = [record_of(statement, d, p) for d, p in zip(drafts, places, strict=True) if p is not None]
            log = QueryRecords(self.state.catalog, name, records)
            settings = partial(self.scripts.settings, env, scripts)
            job = Job(self.spark_session, name, parts, schedule, settings, log, [shared.close])
            held.pop_all()  # from here on the job holds the places
        writes = list(dict.fromkeys(d.insert.table.name.plain for d in drafts))
        started = limited(job.start(), self.state.policy.limits, statement.span)
        return Result(query=started, notices=(*told, *notices), writes=writes)

    def _drafts(self, env: Environment, options: RunOptions) -> Drafts:
        if is_remote(self._checkpoint or self.folder):
            _ = self.spark_session  # once it is there, the state has its settings of object stores
        return Drafts.of(self.state, env, options)

    @property
    def _checkpoint(self) -> str | None:
        return self.options.checkpoint or self.state.settings.checkpoint

    @property
    def _most(self) -> int | None:
        """How many rows a SELECT may show, None for any number."""
        limits = self.state.policy.limits
        return limits.rows if limits is not None else None

    def _warn_of_endless(self, plans: Sequence[PlanNode]) -> tuple[str, ...]:
        """Warn of what a query without an end brings; return what its result tells too."""
        if all(is_bounded(plan) for plan in plans):
            return ()
        warn_of_unbounded_state(plans)
        rules = self.options.rules
        return () if rules.endless else (tell_catch_up(rules.platform),)

    def _schedule(self, end: InputEnd) -> Schedule:
        return Schedule(end is not InputEnd.NONE, end is not InputEnd.CATCH_UP, self.options.interval)

    def _select_at_once(self, script: SparkScript, env: Environment, span: Span) -> Result:
        with self.scripts.settings(env, [script]):
            frame = self.scripts.of_query(script, env, None, span).rows
            shown = frame if self._most is None else frame.limit(self._most + 1)
            with limited_time(self.spark_session, self.state.policy.limits, span):
                rows = told_of(lambda: [tuple(r) for r in shown.collect()], span, script.tables)
            told_of(lambda: require_rows(len(rows), self._most), span)
        return Result(frame.columns, rows, frame=lambda: frame)


def _collected(query: Query, sink: CollectSink, rows: DataFrame, names: Sequence[str], spark: SparkSession) -> Result:
    """Return the rows of a SELECT so far, without the hidden columns of an updating one."""

    def live() -> LiveRows:
        return sink.live(len(names))

    def rows_so_far() -> list[Row]:
        followed = live()  # a follower of its own: others keep what they have taken
        followed.take()
        return followed.rows

    def frame() -> DataFrame:
        from pyspark.sql.types import StructType

        return spark.createDataFrame(rows_so_far(), StructType(rows.schema.fields[: len(names)]))

    return Result(names, rows_so_far, query=query, frame=frame, live=live)
