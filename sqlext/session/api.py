"""Define the session, the one object that Python, the command line and notebooks call."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from sqlext.connectors.registry import known
from sqlext.databricks import PlatformRules
from sqlext.dialect.ast.statements import SelectStatement, Statement, UnparsedQuery
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.extras import RUNS, package
from sqlext.jobs.result import Result
from sqlext.locations import checkpoint_place
from sqlext.policy import Restrictions, policy_of
from sqlext.quoting import identifier
from sqlext.session.catalogs.lakes import SeenLakes
from sqlext.session.drafts import script_name
from sqlext.session.foreground import Foreground
from sqlext.session.interpreter import Interpreter
from sqlext.session.introspection.previews import await_first_rows, with_preview
from sqlext.session.needed_secrets import tell_secrets
from sqlext.session.notices import tell_shared
from sqlext.session.offline.checking import checked_statements
from sqlext.session.offline.commands import check_file, explanations, rewrite_source
from sqlext.session.offline.compilation import read_source
from sqlext.session.offline.dry_run import AskSpark
from sqlext.session.offline.editor import Editor
from sqlext.session.opening import apply_to_spark, of_spark, open_state, set_options
from sqlext.session.ownership import is_ours
from sqlext.settings import Settings
from sqlext.source import SourceText, Span
from sqlext.spark.gone import answering
from sqlext.spark.sessions import is_connect, own_session, platform_rules, require_shared_folder, store_settings
from sqlext.stores.access import reached_by
from sqlext.stores.opening import open_store
from sqlext.types import LogicalType
from sqlext_catalog.model import Table
from sqlext_catalog.session_catalog import SessionCatalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sqlext.analysis.names.environment import Environment
    from sqlext.jobs.query import Query
    from sqlext.rewrite.script.model import Compiled
    from sqlext.session.deploying.options import DeployOptions
    from sqlext.session.deploying.report import Deployment
    from sqlext.session.doctor.findings import Diagnosis
    from sqlext.session.introspection.previews import TableFrame
    from sqlext.session.introspection.watermarks import Watermarks
    from sqlext.session.monitor.api import Monitor
    from sqlext.session.offline.script_plan import ScriptPlan
    from sqlext.session.registration import Delay

PathOrText = str | os.PathLike[str]


class Session:
    """Runs streaming SQL on a Spark session, with a catalog.

    Statements see what earlier statements defined. The Spark session is one of its own (``newSession``). Two Sessions
    in a process share Spark and nothing else, unless ``isolated=False``.

    Args:
        spark: an existing Spark session; None starts a local Spark with Delta when it is first needed.
        catalog: the catalog's folder or URL (``s3://bucket/folder``, ``gs://``, ``abfss://``), or the name of a
            database of ``spark`` whose folder has it, or a Delta table in Spark's own catalog
            (``main.streaming.sqlext``), made if it is not there; None makes a temporary one. Credentials of a URL are
            those of ``spark``, of ``settings`` (``spark.hadoop.fs.s3a...``), or of the environment.
        allow_python_functions: whether a script may import code: CREATE FUNCTION ... LANGUAGE PYTHON.
        isolated: False to work in ``spark`` itself: statements see its temporary views, and DataFrames are its own.
        settings: initial settings, of Spark (``spark...``) and of SET, as texts.
        restricted: whether SQL is others': True, or what it may use (``sqlext.Restrictions``).
        starting: is told Spark's version before a local one starts, which takes seconds.

    Raises:
        SqlExtError: CAT-032, CAT-037 and CAT-038 where no catalog can lie, ENV-011 and RUN-015 for a URL that cannot
            be opened, OPT-010 and OPT-011 for an option or a value that SET does not know.
    """

    def __init__(
        self,
        spark: SparkSession | None = None,
        catalog: PathOrText | None = None,
        *,
        allow_python_functions: bool = False,
        isolated: bool = True,
        settings: Mapping[str, str] | None = None,
        starting: Callable[[str], None] | None = None,
        restricted: bool | Restrictions = False,
    ) -> None:
        self._given = spark
        self._starting = starting
        self._isolated = isolated
        self._own: SparkSession | None = None
        # The session holds it: the folder goes with the session.
        self._temporary = None if catalog is not None else tempfile.TemporaryDirectory(prefix="sqlext-catalog-")
        self._spark_settings = of_spark(settings or {})
        place = catalog if self._temporary is None else self._temporary.name
        self._state = open_state(spark, place, {**store_settings(spark), **self._spark_settings})
        self.folder = self._state.folder
        self._state.policy = policy_of(restricted, [self.folder])
        self._state.python_allowed = allow_python_functions and not self._state.policy.restricted
        self._spark_settings |= self._state.policy.spark_settings
        # Limits are those of Spark's queries; the owner's settings go before.
        limited = {"sqlext.engine": "spark"} if self._state.policy.limits is not None else {}
        set_options(self._state, {**limited, **(settings or {})})
        self._queries: list[Query] = []
        self._foreground = Foreground()
        self._start = threading.Lock()

    @property
    def spark(self) -> SparkSession:
        """The Spark session that statements run in, started when it is first asked for; other threads wait for it.

        Raises:
            SqlExtError: ENV-001 to ENV-006 and ENV-011 where no Spark can start, ENV-008 where a Spark Connect server
                does not see the catalog's folder, ENV-010 for a setting that a running Spark cannot take, ENV-020
                where the platform sees no folder of this machine.
        """
        with self._start:
            if self._own is None:
                # Where something is refused, the next statement tries again.
                self._own = self._opened()
            return self._own

    def _opened(self) -> SparkSession:
        given = self._given
        if given is None:  # not before: checks, rewrites and definitions need no JVM
            package("pyspark", "local", RUNS)
            from sqlext.spark.local import local_spark

            given = local_spark(settings=self._spark_settings, starting=self._starting)
        self._rules.require_place(self.folder, "the catalog")
        require_shared_folder(given, self.folder)
        # A session of its own: no setting and no view of ours is seen in the user's.
        own = own_session(given, self) if self._isolated else given
        if self._isolated and own is self._given:
            tell_shared()
        # What the user's session has set itself of object stores does not reach a new one.
        of_stores = store_settings(given)
        apply_to_spark(own, {**of_stores, **self._spark_settings})
        # A Spark that was started here has them from its own files, too.
        self._state.stores = {**of_stores, **self._state.stores}
        return own

    @cached_property
    def _rules(self) -> PlatformRules:
        """What the platform under the Spark session takes."""
        return platform_rules(self._given)

    @property
    def catalog(self) -> SessionCatalog:
        """The catalog as this session sees it; ``history()`` and ``at_version(n)`` go back in time."""
        return self._state.catalog

    @property
    def settings(self) -> Settings:
        """The options of SET as they are now."""
        return self._state.settings

    @property
    def editor(self) -> Editor:
        """Answers to an editor about a text: is it complete, what are its pieces, what could stand here."""
        return Editor(self._state)

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries that this session started and that still run."""
        return tuple(q for q in self._queries if q.is_active)

    @property
    def watermarks(self) -> Watermarks:
        """The watermarks of queries, of this session's and of those in the catalog: ``rows``, ``why``, ``page``."""
        from sqlext.session.introspection.watermarks import Watermarks

        return Watermarks(self.queries, self._state)

    @cached_property
    def monitor(self) -> Monitor:
        """How queries go, those of this session and those in the catalog: what ``sqlext ui`` shows, as plain values."""
        from sqlext.session.monitor.api import Monitor

        return Monitor(lambda: self.queries, self._state)

    def register_trigger(self, name: str, cls: type) -> None:
        """Register a class as the trigger of ``EMIT USING TRIGGER name(arguments)``.

        It is made with the constants among the arguments. Its hooks are ``on_row``, ``on_event_time``,
        ``on_processing_time``, ``clear`` and, over sessions, ``on_merge`` (``sqlext_udfs.windows.triggers.hooks``;
        ``sqlext.hooks.Trigger`` has the most of them). Its state lies in ``context.state``, never in the object.

        Raises:
            SqlExtError: FUNC-030 for a class without these hooks, FUNC-031 for a name that is none.
        """
        self._state.functions.register("trigger", name, cls)

    def register_evictor(self, name: str, cls: type) -> None:
        """Register a class as the evictor of ``EVICT USING name(arguments) [BEFORE | AFTER FIRING]`` in EMIT.

        It is made with the arguments. Its hook ``keep(rowtimes)`` says for each row of a pane whether it stays.

        Raises:
            SqlExtError: as ``register_trigger``.
        """
        self._state.functions.register("evictor", name, cls)

    def register_aggregate(self, name: str, cls: type) -> None:
        """Register a class as the aggregate ``name(arguments)`` of a streaming SELECT with GROUP BY.

        Its hooks are ``zero``, ``add``, ``finish``, and ``merge`` (without it its rows are kept); ``returns`` is the
        SQL type of its result (``sqlext_udfs.aggregates.hooks``).

        Raises:
            SqlExtError: as ``register_trigger``; FUNC-031 also for the name of a built-in function, FUNC-032 for a
                class that does not say what it returns.
        """
        self._state.functions.register("aggregate", name, cls)

    def register_table_function(self, name: str, cls: type, returns: object = None) -> None:
        """Register a class as ``LATERAL TABLE(name(arguments)) [AS t (columns)]``: a Python UDTF of Spark.

        Its hook ``eval(*arguments)`` yields the rows that stand beside a row, as tuples. It must yield the same rows
        whenever it is called with the same arguments.

        Args:
            returns: their columns, ``word STRING, length INT`` or a StructType; by default the class's ``returns``.

        Raises:
            SqlExtError: as ``register_aggregate``.
        """
        self._state.functions.register("table", name, cls, returns)

    def register_function(self, name: str, function: Callable[..., object], returns: object = None) -> None:
        """Register a Python function as ``name(arguments)`` of the values of a row.

        It gets NULL as None, and must give the same value whenever it is called with the same arguments.

        Args:
            returns: the SQL type of its results, or a type of PySpark; by default the function's ``returns``.

        Raises:
            SqlExtError: FUNC-030 for what is no plain function, FUNC-031 for a name that is none, or that a built-in
                function or an aggregate has, FUNC-032 if it does not say what it returns.
        """
        self._state.functions.register("scalar", name, function, returns)

    def register(
        self,
        df: DataFrame,
        name: str,
        *,
        rowtime: str | None = None,
        watermark: Delay | None = None,
        proctime: str | None = None,
        bounded: bool = False,
        replace: bool = False,
    ) -> None:
        """Register a DataFrame, streaming or static, as a temporary table with time attributes.

        Args:
            df: of any Spark session of this application.
            name: the table's name, ``orders`` or ``catalog.database.orders``.
            rowtime: the column, TIMESTAMP or TIMESTAMP_NTZ, that is event time.
            watermark: how far the watermark stays behind it, ``"5 seconds"`` or a timedelta; zero if not given.
            proctime: the name of a further column that is processing time.
            bounded: whether a streaming DataFrame has an end: a query then takes what is there, and ends.
            replace: whether another temporary table of that name may go.

        Raises:
            SqlExtError: CAT-001 the name is taken, DDL-001 two columns of one name, ENV-013 no DataFrame, OPT-017 a
                static one that is to be bounded, TIME-010 and TIME-011 for a rowtime that is no timestamp column,
                TIME-015 and TIME-016 for a watermark.
        """
        from sqlext.session.registration import FrameTable, register_frame

        wanted = FrameTable(self.catalog.resolve(name.split(".")), df, rowtime, watermark, proctime, bounded)
        register_frame(wanted, self.catalog, self._state.frames, replace=replace)

    def table(self, name: str) -> TableFrame:
        """Return a table or view as a DataFrame; a stream gives a streaming one with its watermark. See ``query``.

        Its method ``preview`` is the session's, of this table.
        """
        return with_preview(self.query(f"TABLE {name}"), partial(self.preview, name))

    def preview(self, name: str, rows: int = 20, timeout: float = 30.0) -> Result:
        """Return the first rows of a table or view, also of one that has no end.

        An endless one is read until there are ``rows`` rows, or no further one has come for two seconds.

        Args:
            name: as in SQL.
            rows: the most rows.
            timeout: seconds to wait for the first row.

        Raises:
            SqlExtError: as ``sql``.
        """
        return await_first_rows(self.sql(f"SELECT * FROM {name} LIMIT {rows}"), rows, timeout)

    def query(self, text: str) -> DataFrame:
        """Return a SELECT as a DataFrame; nothing runs until the user writes it somewhere.

        A query of a stream gives a streaming DataFrame. A rowtime is a TIMESTAMP that is event time to Spark, with the
        watermark of its table. The DataFrame belongs to ``session.spark``. Checkpoint, trigger and restart are the
        user's, as of any DataFrame.

        Raises:
            SqlExtError: as ``sql``; PARSE-021 for what is no query, SINK-010 for a result whose rows change, SINK-011
                for late rows that are to be kept.
        """
        package("pyspark", "local", RUNS)
        from sqlext.session.drafts import RunOptions
        from sqlext.session.frame_handler import FrameHandler

        source = SourceText.of(text)
        with answering(), reached_by(lambda: self._state.stores):
            statements = self._checked(source)
            if not _is_query(statements):
                span = statements[0].span if statements else None
                raise SqlExtError("PARSE-021", "query() takes one SELECT", span=span, hint="sql() takes any statement")
            options = RunOptions("query", rules=self._rules)
            handler = FrameHandler(lambda: self.spark, self._state, self.folder, options, lambda: self.queries)
            frame = Interpreter(self._state, handler).run(statements[0]).df
        assert frame is not None
        return frame

    def sql(self, text: str) -> Result:
        """Run one statement and return its result.

        A bounded query has ended when this returns. An unbounded one runs in the background: see ``Result.query``.

        Raises:
            SqlExtError: PARSE-020 for more or fewer statements than one; PARSE-..., NAME-..., TYPE-... and others for
                what is wrong with it, before anything ran or changed; RUN-... for a failure while it ran.
        """
        source = SourceText.of(text)
        statements = self._parsed(source)
        if len(statements) != 1:
            raise SqlExtError(
                "PARSE-020",
                f"sql() takes one statement, this text has {len(statements)}",
                hint="run() takes a script",
            )
        return self._run(source, "sql")[0]

    def first_rows(self, table: str, limit: int) -> Result | None:
        """Return some rows of a table as it is now, ``limit`` at most.

        Args:
            table: its name, of one to three parts joined by dots.

        Returns:
            None for a table that is not in files, and for one that is not there: it cannot be read quickly, or at all.
        """
        found = self.catalog.lookup(tuple(table.split(".")))
        if not isinstance(found, Table):
            return None
        connector = known(found)
        if connector is None or not (connector.in_files and connector.keeps_rows(found)):
            return None
        name = ".".join(map(identifier, found.name))
        try:
            return self.sql(f"SELECT * FROM {name} /*+ OPTIONS('scan.mode' = 'snapshot') */ LIMIT {limit}")
        except SqlExtError:  # nothing was written yet
            return None

    def run(
        self,
        script: PathOrText,
        variables: Mapping[str, str] | None = None,
        *,
        on_statement: Callable[[Result], None] | None = None,
        checkpoint: PathOrText | None = None,
        run_for: int | None = None,
        trigger_interval: int | None = None,
    ) -> list[Result]:
        """Run a script statement by statement and return a result for each.

        The whole script is checked first: if a statement is wrong, none has run.

        Args:
            script: a path (a ``PathLike``, or a one-line string ending in ``.sql``), or the text itself.
            variables: values of ``${NAME}``.
            on_statement: called with each result as it comes; its query is running then.
            checkpoint: the folder for checkpoints, or its URL (of S3, Google Cloud or Azure); by default the
                catalog's.
            run_for: milliseconds, from the last statement on, after which unbounded queries are stopped; None leaves
                them running.
            trigger_interval: milliseconds between the micro-batches of unbounded queries; None runs them as fast as
                they come.

        Raises:
            SqlExtError: as ``sql``; NAME-001 for an unknown variable, RUN-011 for a file that cannot be read, RUN-014
                for the URL of a script, RUN-028 for a checkpoint's that is none of an object store; ENV-020 for a
                checkpoint that the platform does not see.
        """
        # Absolute, as records keep it: another process drops or explains the query by it.
        place = checkpoint_place(checkpoint) if checkpoint is not None else None
        source = self._read(script, variables)
        results = self._run(source, script_name(source), on_statement, place, trigger_interval)
        # The time begins now: bounded queries have ended, and all endless ones run.
        if run_for is not None:
            self._stop_after([r.query for r in results if r.query is not None], run_for)
        return results

    def owns(self, text: str) -> bool:
        """Return whether a statement has syntax of ours or is about tables of this catalog; any other is Spark's.

        Raises:
            SqlExtError: PARSE-... for a text that cannot be read here; it may be one for Spark.
        """
        statements = self._parsed(SourceText.of(text))
        if len(statements) != 1:
            return False
        # Unreadable here, but its words show whether it is about a table of ours.
        if isinstance(statements[0], UnparsedQuery):
            ours = {r.name.name.lower() for r in self.catalog.snapshot().relations()}
            return not ours.isdisjoint(n.lower() for n in statements[0].names)
        return is_ours(statements[0], self._state.environment())

    def is_query(self, text: str) -> bool:
        """Return whether a text is one that ``query`` takes; raises as ``owns``."""
        return _is_query(self._parsed(SourceText.of(text)))

    def drop_query(self, name: str) -> None:
        """Forget a query and remove its state, as DROP QUERY IF EXISTS does; no Spark is needed.

        Raises:
            SqlExtError: RUN-022 if it runs.
        """
        from sqlext.session.records import drop_query

        drop_query(self._state, name, if_exists=True)

    def _read(self, script: PathOrText, variables: Mapping[str, str] | None) -> SourceText:
        return read_source(script, variables, self._state.settings.expressions)

    def _parsed(self, source: SourceText) -> list[Statement]:
        return list(parse_script(source, self._state.settings.expressions, unparsed=True))

    def rewrite(self, script: PathOrText, variables: Mapping[str, str] | None = None, target: str = "spark") -> str:
        """Return the Spark SQL that a script's queries become; nothing runs, no JVM is needed.

        Args:
            target: ``spark``, ``spark-sql``, ``databricks`` or ``pipelines``.

        Raises:
            SqlExtError: what is wrong with the script; OPT-020 for an unknown target, DDL-041, DDL-042 and LATER-...
                for queries that have no such form.
        """
        return rewrite_source(self._read(script, variables), self._state.fork(), target)

    def explain(
        self, script: PathOrText, variables: Mapping[str, str] | None = None, format: str = "text"
    ) -> list[str]:
        """Return the plan of each query of a script, as ``text``, ``json`` or ``mermaid``; nothing runs.

        Raises:
            SqlExtError: what is wrong with the script.
        """
        # A copy: definitions of the script must not reach the session.
        source, state = self._read(script, variables), self._state.fork()
        running = self._own or self._given
        with reached_by((lambda: self._state.stores) if running is not None else None):
            at_once, there = not is_connect(self._given), self._has_spark
            return explanations(source, state, format, self._spark_columns, at_once=at_once, spark_is_there=there)

    def plan(
        self,
        script: PathOrText,
        variables: Mapping[str, str] | None = None,
        *,
        checkpoint: PathOrText | None = None,
    ) -> ScriptPlan:
        """Return what ``run`` of a script would do to what is there: tables, queries, sinks; nothing changes.

        ``str`` of it is for people, ``to_json()`` for programs; ``refused`` and ``loses`` say whether it may run.

        Raises:
            SqlExtError: what is wrong with the script, for which nothing of it would run.
        """
        from sqlext.session.drafts import RunOptions
        from sqlext.session.offline.planning import plan_source

        place = checkpoint_place(checkpoint) if checkpoint is not None else None
        source, state = read_source(script, variables), self._state.fork()
        state.created, state.sparks = set(), set()
        options = RunOptions(script_name(source), place, at_once=not is_connect(self._given), rules=self._rules)
        there = self._own is not None or self._given is not None
        lookup = self._spark_columns if there else None
        running = [part for query in self.queries for part in (query.name, *query.parts)]
        with reached_by((lambda: self._state.stores) if there else None):
            keeps = partial(self._keeps, place)
            return plan_source(source, state, options, lookup=lookup, keeps=keeps, running=running)

    def deploy(
        self,
        script: PathOrText,
        variables: Mapping[str, str] | None = None,
        *,
        checkpoint: PathOrText | None = None,
        allow_differences: str | int = "0",
        allow_columns: Sequence[str] = (),
        show: int = 10,
        stop: bool = False,
        keep_rows: bool = False,
        renew: bool = True,
    ) -> Deployment:
        """Run the changed queries of a script beside the old ones, compare their rows, and make them current.

        Of the script's definitions, those of tables reach the catalog whose query is switched; ``run`` of it goes on
        with the new versions.

        Args:
            checkpoint: as of ``run``.
            allow_differences: how many rows may differ, ``12`` or ``"0.5%"``.
            allow_columns: columns that may differ in any row.
            show: how many rows that differ are shown.
            stop: whether old versions that run are asked to stop.
            keep_rows: whether the rows that are there stay: nothing is compared, and the new versions read what was
                there for their state alone. There is no way back then.
            renew: whether queries that read rows that are replaced are renewed too; else they are refused.

        Raises:
            SqlExtError: what is wrong with the script; OPT-040 for an argument that says nothing; RUN-022 for an old
                version that runs, RUN-084 for a query that cannot be deployed, RUN-087 for one that somebody deploys.
        """
        from sqlext.session.deploying.allowed import Allowed
        from sqlext.session.deploying.options import DeployOptions

        allowed = Allowed.of(allow_differences, allow_columns, show, stop, keep_rows, renew)
        return self._deployed(script, variables, checkpoint, DeployOptions(allowed, stop, keep_rows, renews=renew))

    def roll_back(
        self,
        script: PathOrText,
        variables: Mapping[str, str] | None = None,
        *,
        checkpoint: PathOrText | None = None,
    ) -> Deployment:
        """Bring back the versions of a script's queries from before their last deployment, with their rows.

        Raises:
            SqlExtError: as ``deploy``; RUN-085 where there is no such version.
        """
        from sqlext.session.deploying.options import DeployOptions

        return self._deployed(script, variables, checkpoint, DeployOptions(rollback=True))

    def _deployed(
        self,
        script: PathOrText,
        variables: Mapping[str, str] | None,
        checkpoint: PathOrText | None,
        asked: DeployOptions,
    ) -> Deployment:
        from sqlext.session.deploying.statement import Deploying
        from sqlext.session.drafts import RunOptions

        place = checkpoint_place(checkpoint) if checkpoint is not None else None
        with answering(), reached_by(lambda: self._state.stores):
            source = self._read(script, variables)
            options = RunOptions(script_name(source), place, at_once=not is_connect(self._given), rules=self._rules)
            statements = parse_script(source, self._state.settings.expressions, unparsed=True)
            return Deploying(lambda: self.spark, self._state, self.folder, options).deploy(statements, asked)

    def check(
        self, script: PathOrText, variables: Mapping[str, str] | None = None, *, warnings: bool = False
    ) -> list[SqlExtError]:
        """Return the first error of each statement of a script, in order; nothing runs, and no Spark is started.

        Args:
            warnings: return those too, which have ``severity`` ``warning``: the statement runs all the same.
        """
        lookup = self._spark_columns if self._own is not None else None
        found = check_file(script, variables, state=self._state, lookup=lookup)
        return found if warnings else [e for e in found if e.severity == "error"]

    def doctor(self, *, start: bool = False, checkpoint: PathOrText | None = None) -> Diagnosis:
        """Return what is here and what is missing: a table, line by line, each with what to do.

        A Spark session that is there is asked too, and its workers run a task of a second.

        Args:
            start: whether a local Spark is started where no session is there.
            checkpoint: where ``run(checkpoint=...)`` will put checkpoints; None for the catalog's folder.
        """
        from sqlext.session.doctor.examination import Examination

        asked = start or self._given is not None or self._own is not None
        ask = (lambda: self.spark) if asked else None
        stores = self._state.stores
        return Examination(self.folder, checkpoint, spark=ask, local=self._given is None, stores=stores).diagnosis()

    def interrupt(self) -> None:
        """End the statement that another thread runs in this session; queries in the background go on."""
        self._foreground.end()

    def stop(self) -> None:
        """Stop the queries that this session started, and wait a minute at most for each. Their places are kept."""
        for query in self.queries:
            query.stop()

    def _run(
        self,
        source: SourceText,
        name: str,
        on_statement: Callable[[Result], None] | None = None,
        checkpoint: str | None = None,
        interval: int | None = None,
    ) -> list[Result]:
        if checkpoint is not None:
            self._rules.require_place(checkpoint, "checkpoints")
        from sqlext.session.drafts import RunOptions
        from sqlext.session.local_handler import LocalHandler, OfSpark

        # What an earlier script defined may be defined again with the same text, so scripts can be run twice.
        self._state.created, self._state.sparks = set(), set()
        with answering(), reached_by(lambda: self._state.stores):
            # Before anything runs: where checkpoints cannot lie, no streaming query can begin.
            keeps = partial(self._keeps, checkpoint)
            statements = self._checked(source, self._spark_refusal, keeps, self._reaches)
            options = RunOptions(
                name,
                checkpoint,
                interval,
                at_once=not is_connect(self._given),
                rules=self._rules,
                spark_is_there=self._has_spark,
            )

            def spark_handler() -> OfSpark:
                package("pyspark", "local", RUNS)
                from sqlext.session.deploying.statement import Deploying
                from sqlext.session.executor import SparkHandler

                deploys = Deploying(lambda: self.spark, self._state, self.folder, options).answer
                return SparkHandler(
                    lambda: self.spark, self._state, self.folder, options, lambda: self.queries, deploys
                )

            handler = LocalHandler(spark_handler, self._state, self.folder, options, lambda: self._has_spark)
            interpreter = Interpreter(self._state, handler)
            return [self._one(interpreter, statement, on_statement) for statement in statements]

    @property
    def _has_spark(self) -> bool:
        """Whether a Spark session was given, or is there already."""
        return self._given is not None or self._own is not None

    def _keeps(self, checkpoint: str | None) -> object:
        return open_store(checkpoint_place(checkpoint or self.folder), self._state.stores)

    def _checked(
        self,
        source: SourceText,
        ask: AskSpark | None = None,
        keeps: Callable[[], object] | None = None,
        reaches: Callable[[Compiled, Environment], object] | None = None,
    ) -> list[Statement]:
        """Return the statements of a script, each checked against a copy of the state."""
        lakes = SeenLakes(lambda: self.spark)
        return checked_statements(source, self._state.fork(), self._spark_columns, ask, keeps, reaches, lakes)

    def _reaches(self, query: Compiled, env: Environment) -> None:
        from sqlext.session.reached import require_reached

        require_reached(query, env, lambda: self.spark, there=self._has_spark)

    def _spark_refusal(self, span: Span, *, names: bool) -> SqlExtError | None:
        from sqlext.spark.refusals import refusal

        return refusal(self.spark, span, names=names)

    def _spark_columns(self, parts: tuple[str, ...]) -> tuple[tuple[str, LogicalType | None], ...] | None:
        from sqlext.spark.tables import spark_columns

        return spark_columns(self.spark, parts)

    def _one(
        self, interpreter: Interpreter, statement: Statement, on_statement: Callable[[Result], None] | None
    ) -> Result:
        # Not ``spark``: that would start one for statements without it.
        with self._foreground.statement(lambda: self._own):
            result = interpreter.run(statement)
        result.notices = (*result.notices, *tell_secrets(self.catalog))
        if result.query is not None:
            self._queries.append(result.query)
        if on_statement is not None:
            on_statement(result)
        if result.query is not None and result.query.bounded:
            try:
                with self._foreground.waiting(result.query):
                    result.query.await_termination()
            except KeyboardInterrupt:  # the script ends here, so queries of earlier statements end too
                self.stop()
                raise
        return result

    def _stop_after(self, queries: list[Query], millis: int) -> None:
        deadline = time.monotonic() + millis / 1000  # one for all, so that each has run as long as the others
        for query in queries:
            query.await_termination(max(0.0, deadline - time.monotonic()))
        for query in queries:
            if query.is_active:
                query.stop()
                query.await_termination(60)


def _is_query(statements: Sequence[Statement]) -> bool:
    return len(statements) == 1 and isinstance(statements[0], (SelectStatement, UnparsedQuery))
