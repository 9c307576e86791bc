"""Run statements that read data as jobs on Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pyspark.errors import AnalysisException, PySparkException

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.replays import BoundReplay
from sqlext.analysis.inserts.sides import side_inserts
from sqlext.analysis.names.environment import Environment, SparkLookup
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import Alteration
from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.handover.ends import FirstBatch
from sqlext.jobs.limits import ended_by_limit, limited, limited_time
from sqlext.jobs.parts import Beside, JobPart, Place, Schedule
from sqlext.jobs.query import Query
from sqlext.jobs.renewal import SCRATCH, begin_empty, refit
from sqlext.jobs.result import Result
from sqlext.jobs.runner import Job
from sqlext.jobs.runs import QueryRun
from sqlext.jobs.timekeeping import ProcessingClock, Timekeeping
from sqlext.locations import for_spark, is_remote
from sqlext.plan.nodes import PlanNode
from sqlext.plan.panes import has_clause
from sqlext.plan.ranking import most_rows
from sqlext.plan.steps import steps_of
from sqlext.plan.timing import InputEnd
from sqlext.policy import require_rows
from sqlext.rewrite.compiler.boundedness import closes_late, is_bounded
from sqlext.rewrite.compiler.inserts import with_sides
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.script.begun import readers
from sqlext.rewrite.script.model import SparkScript
from sqlext.rewrite.script.real_time import asked_for
from sqlext.secrets import redact_value
from sqlext.session.allowing.functions import require_script
from sqlext.session.catalogs.lakes import Lakes, SparkLakes
from sqlext.session.drafts import Draft, Drafts, RunOptions, fed, reads_of, shared_by
from sqlext.session.introspection.advisor import analyzed
from sqlext.session.introspection.explain import explain_statement
from sqlext.session.introspection.show import matching
from sqlext.session.introspection.watermarks import COLUMNS as WATERMARKS
from sqlext.session.introspection.watermarks import Watermarks
from sqlext.session.local_plans import small_result, written_otherwise
from sqlext.session.materialized import own_place
from sqlext.session.needed_secrets import check_secrets
from sqlext.session.notices import (
    tell_catch_up,
    tell_changes,
    tell_kept,
    tell_takeovers,
    warn_of_unbounded_state,
)
from sqlext.session.places import JobPlaces, Passing, knowing_closed, record_of, select_context, sink_context
from sqlext.session.reached import require_able, sinks_of
from sqlext.session.records import QueryRecords, drop_query, stop_job
from sqlext.session.state import SessionState
from sqlext.sinks.base import Sink, SinkContext
from sqlext.sinks.collect import CollectSink, collecting
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.sinks.live_rows import LiveRows, Row
from sqlext.sinks.opening import alter_stored, open_sink, require_sink
from sqlext.sinks.sides import beside
from sqlext.source import Span
from sqlext.spark.failures import refused, run_error
from sqlext.spark.object_urls import require_file_system
from sqlext.spark.quiet import quiet
from sqlext.spark.reading.one_batch import Whole
from sqlext.spark.reading.shared_rows import PackedTables, SharedRows
from sqlext.spark.reading.ticks import TickSource
from sqlext.spark.reading.views import CarriedState, Opened, handing_on, open_script
from sqlext.spark.refusals import refused_as_written
from sqlext.spark.sessions import temporary_folder
from sqlext.spark.settings_scope import CASE_SENSITIVE, query_settings, source_settings, spark_settings
from sqlext.spark.tables import spark_columns
from sqlext.spark.workers.needs import STORES
from sqlext.spark.workers.ready import require_folder, require_python
from sqlext.stores.opening import remove_all
from sqlext_catalog.model import ObjectName, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sqlext.sinks.small_results import SmallResult

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

        return _guarded(answered, statement.span)

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
        return _guarded(lambda: explained_rows(statement, rows, env, self.state), statement.span)

    def analyze_watermark(self, statement: ast.AnalyzeWatermark, env: Environment) -> Result:
        """Say how late the rows of a table are."""
        if statement.seen_span is not None:
            from sqlext.session.introspection.seen import seen_by_queries

            asked = analyzed(statement, env)
            return _guarded(lambda: seen_by_queries(asked, self._running(), self.state), statement.span)
        # Numbers are counted with numpy, which a session loads when it needs it.
        from sqlext.session.introspection.advised import read_here, script_here

        found = _guarded(analyzed(statement, env).opened, statement.span)
        check_secrets(found.plan(), (), statement.span)
        script = script_here(found)
        return _guarded(lambda: read_here(found, script), statement.span)

    def replay(self, replay: BoundReplay, env: Environment) -> Result:
        """Feed dead letters back into their queries, exactly once."""
        from sqlext.session.replaying import Replaying

        span = replay.statement.span
        check_secrets(replay.plan, (), span)
        script = script_of(replay.plan, env, end=InputEnd.FINISH)
        with self.settings(env, [script]):
            chosen = self._open(script, env, None, span).rows
            return _guarded(lambda: Replaying(replay, env, self.state).answer(chosen), span)

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
        _guarded(lambda: alter_stored(self.spark_session, alteration), span)

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
        with ExitStack() as undo, self.settings(env, [script]):
            leaves = Passing(home, folder)
            undo.callback(leaves.remove)
            opened = self._open(script, env, home, statement.span, runs=not schedule.bounded)
            sink = self._with_sides(shown, script, replace(context, query=name), statement.span, env)
            place = Place(home, QueryRun("select", {}))
            part = JobPart(name, statement.span, opened.rows, sink, _targets(name, script), script.output_mode, place)
            part = self._as_scripted(part, lambda: opened, script, plan, env)
            job = Job(self.spark_session, name, [part], schedule, lambda: self.settings(env, [script]), leaves)
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
        with ExitStack() as held, self.settings(env, scripts):
            kept = JobPlaces(self.folder, self._checkpoint, self.state)
            repeats = kept.repeats(drafts, schedule)
            require_file_system(self.spark_session, for_spark(self._checkpoint or str(self.folder)))
            for draft in drafts:
                refuse = partial(require_able, self._spark, draft.script, draft.insert)
                _guarded(refuse, draft.insert.span)
            places = kept.taken(drafting, made, held)
            drafts = knowing_closed(drafts, places)
            # Before anything is renewed: it compares with the run that the folder has now.
            held_now = [(p.home, p.run) for p in places if p is not None]
            stays = tell_kept((d.name, d.kept) for d in drafts)
            notices = (*repeats, *tell_takeovers(home for home, _ in held_now), *tell_changes(held_now), *stays)
            for draft, place in zip(drafts, places, strict=True):
                self._renew(draft, place, env, schedule)
            shared = self._shared(drafts, places, env)
            held.callback(shared.close)
            parts = self._parts(drafts, places, env, schedule, shared)
            records = [record_of(statement, d, p) for d, p in zip(drafts, places, strict=True) if p is not None]
            log = QueryRecords(self.state.catalog, name, records)
            settings = partial(self.settings, env, scripts)
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

    def _renew(self, draft: Draft, place: Place | None, env: Environment, schedule: Schedule) -> None:
        """Give a query whose checkpoint does not fit as it is one that does."""
        if place is None:
            return
        clock, sources = env.settings.get("sqlext.clock"), partial(self._sources, draft, place.home, env, schedule)
        try:
            refit(place.home, place.run, clock, sources, reads_of(draft.script), at_once=draft.script.at_once)
        except SqlExtError as error:
            raise error.at(draft.insert.span) from error.__cause__

    def _sources(
        self,
        draft: Draft,
        home: QueryHome,
        env: Environment,
        schedule: Schedule,
        folder: str,
        state: CarriedState | None = None,
    ) -> FirstBatch:
        """Return what a first micro-batch tells of the sources of a query, in a checkpoint of its folder.

        Args:
            state: with which it begins. If it is to be divided first, no checkpoint is begun.
        """
        home.location.store.remove(SCRATCH)
        runs = not schedule.bounded
        opened = self._open(draft.script, env, home, draft.insert.span, runs=runs, skips=True, state=state)
        if state is not None and state.checkpoint is not None:
            return FirstBatch(folder)
        with quiet():
            return begin_empty(opened.rows, home, draft.script.output_mode, folder)

    def _shared(self, drafts: Sequence[Draft], places: Sequence[Place | None], env: Environment) -> PackedTables:
        """Return the tables that queries of a job read together."""
        common = [d.script.common_arguments(env.functions) for d in drafts]
        handed = [handing_on(d.script, env.zone, of) for d, of in zip(drafts, common, strict=True)]
        scripts = [of.script if of is not None else d.script for d, of in zip(drafts, handed, strict=True)]
        reads = shared_by(drafts, places, scripts)
        return PackedTables(self.spark_session, reads, common, handed)

    def _parts(
        self,
        drafts: Sequence[Draft],
        places: Sequence[Place | None],
        env: Environment,
        schedule: Schedule,
        shared: PackedTables,
    ) -> list[JobPart]:
        """Open the sources and sinks of a job: no sink makes its table before all is accepted."""

        def opened(number: int) -> Opened:
            draft, place = drafts[number], places[number]
            home, of = place.home if place else None, shared.of(number)
            return self._open(draft.script, env, home, draft.insert.span, runs=not schedule.bounded, shared=of)

        def small(number: int) -> SmallResult | None:
            draft, place = drafts[number], places[number]
            if not draft.script.at_once:
                return None
            found = _guarded(lambda: small_result(draft, place, shared.of(number), env), draft.insert.span)
            if found is not None:
                self._require_able(draft.script, env, place.home if place else None, draft.insert.span)
            return found

        queries = list(zip(drafts, places, strict=True))
        # Of a query that is finished here Spark gets no views, unless there is more of its rows than is thought.
        here = [small(number) for number in range(len(drafts))]
        late = [waits or here[number] is not None for number, waits in enumerate(fed(drafts))]
        early = [None if waits else opened(number) for number, waits in enumerate(late)]
        sinks = [(draft, sink) for draft, place in queries for sink in sinks_of(draft, place, env)]
        for draft, sink in sinks if len(sinks) > 1 else ():  # one alone refuses as it is opened
            _guarded(partial(require_sink, self.spark_session, *sink), draft.insert.span)
        return [
            self._insert_part(draft, place, env, found or partial(opened, number), of)
            for number, ((draft, place), found, of) in enumerate(zip(queries, early, here, strict=True))
        ]

    def _insert_part(
        self,
        draft: Draft,
        place: Place | None,
        env: Environment,
        rows: Opened | Callable[[], Opened],
        small: SmallResult | None,
    ) -> JobPart:
        """Return what runs an INSERT.

        Args:
            draft, place: the query.
            env: what its text may name.
            rows: its rows, or what opens them.
            small: how it is finished in this process, where it is.
        """
        insert, script = draft.insert, draft.script
        context = sink_context(draft, place, env)
        spec = connector_of(insert.table).write_spec(insert.table)
        # Opened before the job begins: a refusal then leaves no run behind.
        sink = _guarded(lambda: open_sink(self.spark_session, spec, context), insert.span)
        sink = self._with_sides(sink, script, context, insert.span, env, spec.primary_key)
        targets = _targets(insert.table.name.plain, script)
        if small is not None and not isinstance(rows, Opened):
            assert place is not None
            part = JobPart(draft.name, insert.span, self._tick(place), sink, targets, script.output_mode, place)
            return self._as_scripted(replace(part, other=small), rows, script, insert.plan, env)
        opened = rows if isinstance(rows, Opened) else rows()
        part = JobPart(draft.name, insert.span, opened.rows, sink, targets, script.output_mode, place)
        part = replace(part, real_time=asked_for(env.settings))
        if place is not None and script.at_once:
            part = replace(part, other=written_otherwise(self.spark_session, draft, place, sink, opened))
        return self._as_scripted(part, lambda: opened, script, insert.plan, env)

    def _tick(self, place: Place) -> DataFrame:
        """Return the stream of one row that brings a batch about."""
        first = TickSource(place.home.ticks, runs=False).open(self.spark_session, "start")
        assert first is not None
        return first

    def _as_scripted(
        self, part: JobPart, opened: Callable[[], Opened], script: SparkScript, plan: PlanNode, env: Environment
    ) -> JobPart:
        """Return a part with what its script and its plan say of how it runs; ``opened`` gives its rows."""
        part = replace(part, tables=script.tables, steps=steps_of(plan, " and ".join(part.targets)))
        place, clock = part.place, env.settings.get("sqlext.clock")
        if script.at_once:
            # Its rows are static. A stream of one tick hands them to ``foreachBatch``, so that the checkpoint and the
            # sink count them as one batch, as they do for any other query.
            assert place is not None
            return replace(part, rows=self._tick(place), whole=lambda: _whole(opened()), ticks="start")
        kept = place is not None and bool(script.kept)
        return replace(
            part,
            timekeeping=Timekeeping(place.home.time, script.kept, ProcessingClock(clock))
            if place is not None and kept
            else None,
            heartbeat=script.heartbeat,
            closes_late=closes_late(plan, env.zone),
            ticks=script.ticks,
            ends=script.ends,
            beside=Beside.of(script),
            clock=clock,
        )

    def _with_sides(
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
        return _guarded(lambda: beside(self.spark_session, sink, script.sides, context, limit, keys), span)

    def _select_at_once(self, script: SparkScript, env: Environment, span: Span) -> Result:
        with self.settings(env, [script]):
            frame = self._open(script, env, None, span).rows
            shown = frame if self._most is None else frame.limit(self._most + 1)
            with limited_time(self.spark_session, self.state.policy.limits, span):
                rows = _guarded(lambda: [tuple(r) for r in shown.collect()], span, script.tables)
            _guarded(lambda: require_rows(len(rows), self._most), span)
        return Result(frame.columns, rows, frame=lambda: frame)

    def _open(
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
        ticks = None
        if home is not None and not script.at_once:
            ticks = TickSource(home.ticks, runs, env.settings.get("sqlext.clock"))
        return self.opened(script, env, home, ticks, span, skips=skips, shared=shared, state=state)

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
        spark = self.spark_session
        try:
            self._require_able(script, env, home, span)
            with quiet():
                whole = (spark, script, env.zone, home, ticks, env.functions, self.state.frames)
                return open_script(*whole, skips=skips, shared=shared, state=state)
        except PySparkException as error:
            raise refused(error, span) from error
        except SqlExtError as error:
            raise error.at(span) from error.__cause__

    def _require_able(self, script: SparkScript, env: Environment, home: QueryHome | None, span: Span) -> None:
        """Refuse a script that may not run here, or cannot."""
        require_script(script, env.policy, span)
        self._require_workers(script, home)

    def _require_workers(self, script: SparkScript, home: QueryHome | None) -> None:
        if script.runs_python:
            # Where a reader of ours has been lies with the query, and Spark asks the reader in a Python of the workers.
            by_url = home is not None and home.location.path is None and readers(script)
            require_python(self.spark_session, *((STORES,) if by_url else ()))
        own = home.location.path if home is not None else None
        if own is not None:  # a URL is one place for all
            catalog = self.folder
            # One look serves all queries of a catalog. Checkpoints may lie elsewhere.
            inside = isinstance(catalog, Path) and own.is_relative_to(catalog)
            require_folder(self.spark_session, Path(catalog) if inside else own.parent)

    def settings(self, env: Environment, scripts: Sequence[SparkScript]) -> AbstractContextManager[None]:
        """Return a block in which Spark has the settings that scripts are opened and started under."""
        kept = CASE_SENSITIVE if env.mode == "flink" else frozenset[str]()
        wanted = self.options.rules.settable(query_settings(env.zone, scripts))
        return spark_settings(self.spark_session, wanted, kept | source_settings(scripts).keys())


def _whole(opened: Opened) -> Whole:
    return Whole.of(opened.rows, opened.read)


def _targets(name: str, script: SparkScript) -> tuple[str, ...]:
    """Return what a query writes to."""
    return (name, *(side.table.name.plain for side in script.sides))


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


def _guarded(action: Callable[[], T], span: Span, tables: Sequence[Table] = ()) -> T:
    """Return what an action gives; whatever fails in it is told as a failure of the statement."""
    try:
        with quiet():
            return action()
    except Exception as error:
        raise run_error(error, span, tables) from error
