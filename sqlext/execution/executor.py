"""The handler that really runs: statements that read data become jobs on Spark."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from sqlext.analysis.environment import Environment, SparkLookup
from sqlext.analysis.inserts import UPSERT, BoundInsert
from sqlext.catalog import ddl
from sqlext.catalog.model import QueryRecord
from sqlext.catalog.properties import to_properties
from sqlext.catalog.secrets import redact_text
from sqlext.catalog.store import CatalogStore
from sqlext.connectors.registry import connector_of
from sqlext.dialect import statement_nodes as ast
from sqlext.errors import SqlExtError
from sqlext.execution.bounds import closes_late, is_bounded, refuse_unsupported, streaming_scans
from sqlext.execution.checkpoint import QueryHome
from sqlext.execution.explain import explain_statement
from sqlext.execution.failures import refused, run_error
from sqlext.execution.jobs import Job, Part, Schedule
from sqlext.execution.query import Query
from sqlext.execution.result import Result
from sqlext.execution.settings_scope import query_settings, spark_settings
from sqlext.execution.sink_plain import CollectSink
from sqlext.execution.sinks import Sink, SinkContext, open_sink
from sqlext.execution.spark_tables import spark_columns
from sqlext.execution.state import State
from sqlext.execution.views import open_script
from sqlext.plan.fingerprint import fingerprint
from sqlext.plan.nodes import EXISTS, PlanNode
from sqlext.rewrite.compiler import script_of
from sqlext.rewrite.inserts import insert_script
from sqlext.rewrite.script import SparkScript
from sqlext.source import Span

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class RunOptions:
    """How the statements of one run are executed; times in milliseconds."""

    script: str = "sql"
    checkpoint: str | None = None
    interval: int | None = None
    ordinals: dict[str, int] = field(default_factory=dict)

    def query_name(self, sink: str) -> str:
        """Return ``script.sink``, with a number behind it from the second query into that sink on."""
        self.ordinals[sink] = ordinal = self.ordinals.get(sink, 0) + 1
        return f"{self.script}.{sink}" + (f".{ordinal}" if ordinal > 1 else "")


class SparkHandler:
    """Implements ``interpreter.Handler`` on a Spark session."""

    def __init__(
        self, spark: Callable[[], SparkSession], state: State, folder: Path, options: RunOptions
    ) -> None:
        self._spark = spark
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

    def spark(self, statement: ast.Statement) -> Result:
        """Hand a statement to Spark byte for byte."""
        try:
            frame = self.spark_session.sql(statement.span.text)
        except PySparkException as error:
            raise run_error(error, statement.span) from error
        return self._frame_result(frame, statement.span)

    def explain(self, statement: ast.Explain, env: Environment) -> Result:
        """Say what a statement would do."""
        return explain_statement(statement, env)

    def select(self, statement: ast.SelectStatement, plan: PlanNode, env: Environment) -> Result:
        """Run a query; its rows are collected as they come."""
        span, bounded = statement.span, is_bounded(plan)
        refuse_unsupported(plan, bounded, span)
        script = script_of(plan, env, heartbeat=bounded)
        if not script.streaming:
            with self._settings(env, [script]):
                frame = self._open(script, env, None, span)
                rows = _guarded(lambda: [tuple(r) for r in frame.collect()], span)
            return Result(frame.columns, rows, frame=lambda: frame)
        names = tuple(n for _, n in script.outputs)
        exists = EXISTS if script.updating else None
        sink = CollectSink(SinkContext("select", "", keys=script.keys, exists=exists, zone=env.zone))
        name = self.state.settings.get("pipeline.name") or f"{self.options.script}.select"
        home = QueryHome(Path(tempfile.mkdtemp(prefix="sqlext-")), name)
        part = self._part(name, script, env, sink, span, home, plan)
        query = self._start(name, [part], [script], bounded, True, statement, env, lambda q: home.remove())

        def rows_so_far() -> list[tuple[Any, ...]]:
            return [tuple(r)[: len(names)] for r in sink.rows]

        schema = self._schema(script, env)
        return Result(
            names, rows_so_far, query=query, frame=lambda: self.spark_session.createDataFrame(rows_so_far(), schema())
        )

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        """Start INSERTs as one job."""
        bounded = all(is_bounded(i.plan) for i in inserts)
        finish = self.state.settings.get("sqlext.bounded") == "finish"
        named = self.state.settings.get("pipeline.name")
        parts: list[Part] = []
        scripts = []
        try:
            for insert in inserts:
                refuse_unsupported(insert.plan, bounded, insert.span)
                default = self.options.query_name(insert.table.name.name)
                name = f"{named}.{insert.table.name.name}" if named and len(inserts) > 1 else named or default
                script = insert_script(insert, env, heartbeat=bounded and finish)
                scripts.append(script)
                with self._settings(env, [script]):
                    parts.append(self._insert_part(name, insert, script, env, bounded and finish))
        except BaseException:
            _close(parts)
            raise
        name = named or parts[0].name
        self._record(statement, inserts, parts)
        query = self._start(name, parts, scripts, bounded, finish, statement, env, self._record_end)
        return Result(query=query)

    def drop_query(self, statement: ast.Drop) -> Result:
        """Remove a query's record, checkpoint and state."""
        name = ".".join(statement.name)
        self.state.catalog.apply(ddl.drop_query(name, if_exists=statement.if_exists), f"DROP QUERY {name}")
        QueryHome(self.folder, name, self.options.checkpoint).remove()
        return Result()

    def _insert_part(
        self, name: str, insert: BoundInsert, script: SparkScript, env: Environment, finish: bool
    ) -> Part:
        home = QueryHome(self.folder, name, self.options.checkpoint) if script.streaming else None
        try:
            prints = fingerprint(insert.plan, script.query, f"{insert.table.name.plain} ({insert.mode})")
            run = home.begin(prints, restart_finished=finish) if home else None
            run_id = run.run_id if run else uuid.uuid4().hex
            context = SinkContext(
                query=name,
                checkpoint=run_id,
                mode="overwrite" if insert.overwrite else insert.mode,
                keys=insert.merge_keys if insert.mode == UPSERT else script.keys,
                exists=EXISTS if script.updating else None,
                zone=env.zone,
                staging=str(home.staging) if home else None,
                properties=tuple(to_properties(insert.table).items()),
            )
            sink = open_sink(self.spark_session, connector_of(insert.table).write_spec(insert.table), context)
            return self._part(name, script, env, sink, insert.span, home, insert.plan, run)
        except BaseException as error:
            if home is not None:
                home.close()
            if isinstance(error, PySparkException):
                raise run_error(error, insert.span) from error
            if isinstance(error, SqlExtError):
                raise error.at(insert.span) from error.__cause__
            raise

    def _part(
        self,
        name: str,
        script: SparkScript,
        env: Environment,
        sink: Sink,
        span: Span,
        home: QueryHome | None,
        plan: PlanNode,
        run: Any = None,
    ) -> Part:
        late = script.heartbeat and closes_late(plan, env.zone)
        make = _opener(self, script, env, home, span)
        return Part(name, make, sink, script.updating, home, run, script.heartbeat, late)

    def _start(
        self,
        name: str,
        parts: list[Part],
        scripts: list[SparkScript],
        bounded: bool,
        finish: bool,
        statement: ast.Statement,
        env: Environment,
        ended: Callable[[Query], None],
    ) -> Query:
        streaming = any(p.home is not None for p in parts)
        query = Query(name, streaming=streaming, bounded=bounded, explain=lambda e: run_error(e, statement.span))
        settings = query_settings(env.zone, scripts)
        job = Job(
            self.spark_session,
            query,
            parts,
            Schedule(bounded, finish, self.options.interval),
            lambda: spark_settings(self.spark_session, settings),
            ended,
        )
        _guarded(job.start, statement.span)
        return query

    def _open(self, script: SparkScript, env: Environment, home: QueryHome | None, span: Span) -> DataFrame:
        try:
            return open_script(self.spark_session, script, env.zone, home.heartbeat if home else None)
        except PySparkException as error:
            raise refused(error, span) from error
        except SqlExtError as error:
            raise error.at(span) from error.__cause__

    def _settings(self, env: Environment, scripts: list[SparkScript]) -> AbstractContextManager[None]:
        return spark_settings(self.spark_session, query_settings(env.zone, scripts))

    def _schema(self, script: SparkScript, env: Environment) -> Callable[[], Any]:
        def schema() -> Any:
            from pyspark.sql.types import StructType

            with self._settings(env, [script]):
                fields = self.spark_session.sql(script.query).schema.fields
            return StructType(fields[: len(script.outputs)])

        return schema

    def _frame_result(self, frame: DataFrame, span: Span) -> Result:
        if not frame.columns:
            return Result()
        rows = _guarded(lambda: [tuple(r) for r in frame.collect()], span)
        return Result(frame.columns, rows, frame=lambda: frame)

    def _record(self, statement: ast.Statement, inserts: Sequence[BoundInsert], parts: list[Part]) -> None:
        """Remember in the catalog that these queries run; nothing is written again until they end."""
        for insert, part in zip(inserts, parts, strict=True):
            if part.home is None or part.run is None:
                continue
            record = QueryRecord(
                name=part.name,
                statement=redact_text(statement.span.text),
                reads=tuple(sorted({s.table.name.plain for s in streaming_scans(insert.plan)})),
                writes=insert.table.name.plain,
                checkpoint=part.home.checkpoint,
                fingerprint=part.run.run_id,
                status="running",
                started=int(time.time() * 1000),
            )
            self.state.catalog.apply(ddl.record_query(record), f"START QUERY {part.name}")

    def _record_end(self, query: Query) -> None:
        """Write how a query ended; in the job's own thread, so through a store of its own."""
        progress = query.progress
        store = CatalogStore(self.folder)
        for name in query.parts:
            if store.snapshot().query(name) is not None:
                store.commit(ddl.update_query(name, _ended(progress)), f"END QUERY {name}")


def _ended(progress: dict[str, Any]) -> Callable[[QueryRecord], QueryRecord]:
    return lambda r: replace(r, status=progress["status"], watermark=progress["watermark"])


def _opener(
    handler: SparkHandler, script: SparkScript, env: Environment, home: QueryHome | None, span: Span
) -> Callable[[], DataFrame]:
    return lambda: handler._open(script, env, home, span)


def _guarded(action: Callable[[], Any], span: Span) -> Any:
    try:
        return action()
    except PySparkException as error:
        raise run_error(error, span) from error


def _close(parts: Sequence[Part]) -> None:
    for part in parts:
        if part.home is not None:
            part.home.close()
