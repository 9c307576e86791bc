"""Compile statements without running them: for checks, rewrites and explanations. Starts no JVM."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.replays import BoundReplay, check_changes, comes_back, source_asked_for
from sqlext.analysis.inserts.sides import side_inserts
from sqlext.analysis.names.environment import Environment, SparkLookup
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import Alteration
from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError
from sqlext.jobs.result import Result
from sqlext.plan.nodes import PlanNode
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.boundedness import is_bounded
from sqlext.rewrite.compiler.inserts import insert_script, with_sides
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.script.begun import BY_SPARK, Begun
from sqlext.rewrite.script.model import Compiled
from sqlext.session.allowing.functions import require_script
from sqlext.session.catalogs.lakes import NO_LAKES, Lakes
from sqlext.session.deploying.options import DeployOptions
from sqlext.session.interpreter import Interpreter
from sqlext.session.introspection.advisor import analyzed
from sqlext.session.introspection.explain import explain_statement
from sqlext.session.local_plans import NotLocalError, any_select, check_insert, refused
from sqlext.session.needed_secrets import check_secrets
from sqlext.session.offline.redefining import redefining
from sqlext.session.scripted_functions import require_function
from sqlext.session.state import SessionState
from sqlext.settings import ENGINE
from sqlext.source import Span
from sqlext_catalog import ddl
from sqlext_catalog.model import ObjectName, Table

_DESCRIBES_FUNCTION = re.compile(r"DESC(RIBE)?\s+FUNCTION\b", re.IGNORECASE)


class AskSpark(Protocol):
    """How to ask Spark whether it takes a query of its own."""

    def __call__(self, span: Span, *, names: bool) -> SqlExtError | None:
        """Return why not, or None; without ``names`` only syntax counts."""


@dataclass
class DryRun:
    """Implements ``interpreter.Handler``: compiles queries, runs nothing.

    Attributes:
        lookup: asks Spark for a table, None without Spark.
        ask: asks Spark about a query of its own, None without Spark.
        keeps: refuses queries that need a checkpoint, where none can lie; None where none will run.
        reaches: refuses queries at URLs that Spark does not know; None where none will run.
        seen: reaches catalogs of lakes, where a Spark can be asked.
        compiled: what was compiled, in order.
        passed_on: whether a statement other than a query went to Spark: it may make tables that only Spark knows.
    """

    state: SessionState
    lookup: SparkLookup | None = None
    ask: AskSpark | None = None
    keeps: Callable[[], object] | None = None
    reaches: Callable[[Compiled, Environment], object] | None = None
    seen: Lakes = NO_LAKES
    heartbeat: bool = True
    at_once: bool = True
    compiled: list[Compiled] = field(default_factory=list)
    passed_on: bool = False

    def spark_table(self) -> SparkLookup | None:
        """Return how to ask Spark for a table, if there is one to ask."""
        return self.lookup

    def lakes(self) -> Lakes:
        """Return how to ask catalogs of lakes: nothing is made in them."""
        return self.seen

    def spark(self, statement: ast.Statement) -> Result:
        """Leave a statement of Spark's own alone, unless it is a query that Spark refuses, or drops what is not there.

        Raises:
            SqlExtError: RUN-101, FUNC-001, or why the query cannot be read here either.
        """
        if self.ask is not None:
            self._require_function(statement, self.ask)
        if not isinstance(statement, (ast.SelectStatement, ast.UnparsedQuery)):
            self.passed_on = True
        elif self.ask is not None:
            if isinstance(statement, ast.UnparsedQuery) and self.ask(statement.span, names=False) is not None:
                raise statement.error
            # What went to Spark before may make the tables and functions of this one.
            error = self.ask(statement.span, names=not self.passed_on)
            if error is not None:
                raise error
        return Result()

    def _require_function(self, statement: ast.Statement, ask: AskSpark) -> None:
        """Refuse to drop or describe a function that Spark does not have, and that the script does not make in it."""
        if isinstance(statement, ast.Drop) and statement.kind == "FUNCTION":
            if statement.if_exists or statement.name[-1].lower() in self.state.sparks:
                return
            place = statement.name_span
            # Spark finds out what it drops when it drops it.
            if ask(place.source.reworded(place, f"DESCRIBE FUNCTION {place.text}"), names=True) is not None:
                require_function(statement, self.state)
        elif isinstance(statement, ast.SparkStatement) and _DESCRIBES_FUNCTION.match(statement.span.text):
            error = ask(statement.span, names=True)
            made = error is not None and error.span is not None and error.span.text.lower() in self.state.sparks
            if error is not None and not made:
                raise error

    def select(self, statement: ast.SelectStatement, plan: PlanNode, env: Environment) -> Result:
        """Compile a query."""
        bounded = is_bounded(plan)
        end = self._end(bounded=bounded)
        script = script_of(plan, env, end=end, begun=self._begun, at_once=self.at_once)
        sides = side_inserts(plan, env)
        self._require_places(sides, env)
        self._require_secrets(plan, sides, statement.span)
        script = with_sides(script, plan, sides, env)
        require_script(script, self.state.policy, statement.span)
        self._require_local(lambda: any_select(plan, env), env, statement.span)
        self._take(Compiled(plan, script, None, statement), env, statement.span)
        return Result()

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        """Compile INSERTs."""
        end = self._end(bounded=all(is_bounded(i.plan) for i in inserts))
        # A job that catches up has no end of time, at which one batch would give all rows.
        at_once = self.at_once and env.settings.get("sqlext.bounded") == "finish"
        for insert in inserts:
            self._require_places((insert, *insert.sides), env)
            self._require_secrets(insert.plan, (insert,), insert.span)
            script = insert_script(insert, env, end=end, begun=self._begun, at_once=at_once)
            require_script(script, self.state.policy, insert.span)
            self._require_local(partial(check_insert, insert, env), env, insert.span)
            self._take(Compiled(insert.plan, script, insert, statement), env, insert.span)
            if script.streaming and self.keeps is not None:
                _placed(self.keeps, insert.span)
        return Result()

    def _take(self, compiled: Compiled, env: Environment, span: Span) -> None:
        if self.reaches is not None:
            _placed(partial(self.reaches, compiled, env), span)
        self.compiled.append(compiled)

    def _require_local(self, check: Callable[[], object], env: Environment, span: Span) -> None:
        """Refuse a query that is to run in this process, and cannot (OPT-036); other tools have their own engines."""
        if not self.heartbeat or env.settings.get(ENGINE) != "local":
            return
        try:
            check()
        except NotLocalError as reason:
            raise refused(reason, span) from reason

    def _require_places(self, inserts: Sequence[BoundInsert], env: Environment) -> None:
        """Refuse sinks that could not write where their tables lie (OPT-018); other tools have sinks of their own."""
        for insert in inserts if self.heartbeat else ():
            try:
                connector_of(insert.table).require_written_here(insert.table)
            except SqlExtError as error:
                raise env.placed(error, insert.table, insert.span) from None

    def _require_secrets(self, plan: PlanNode, inserts: Sequence[BoundInsert], span: Span) -> None:
        """Refuse tables whose secrets another session was given (OPT-093); other tools get theirs elsewhere."""
        if self.heartbeat:
            check_secrets(plan, inserts, span)

    @property
    def _begun(self) -> Begun | None:
        return None if self.heartbeat else BY_SPARK

    def _end(self, *, bounded: bool) -> InputEnd:
        if not self.heartbeat:  # other tools have nobody who would write the row that closes all windows
            return InputEnd.CATCH_UP
        return InputEnd.FINISH if bounded else InputEnd.NONE

    def stop_job(self, statement: ast.StopJob) -> Result:
        """Stop nothing: an INSERT before it may be what starts the job."""
        return Result()

    def show_watermarks(self, statement: ast.Show, env: Environment) -> Result:
        """Show nothing: an INSERT before it may be what starts the query."""
        return Result()

    def explain_why(self, statement: ast.ExplainWhy, env: Environment) -> Result:
        """Explain nothing, for the same reason."""
        return Result()

    def explain_row(self, statement: ast.ExplainRow, rows: PlanNode, env: Environment) -> Result:
        """Explain nothing: the query that makes the rows may start before."""
        return Result()

    def analyze_watermark(self, statement: ast.AnalyzeWatermark, env: Environment) -> Result:
        """Check what is analyzed: its rows may come from an INSERT before it."""
        analyzed(statement, env).plan()
        return Result()

    def replay(self, replay: BoundReplay, env: Environment) -> Result:
        """Check the SET of a REPLAY, where WHERE or the queries before it tell which table the rows are of."""
        plans = [c.insert.plan for c in self.compiled if c.insert is not None]
        back = [b for plan in plans for b in comes_back(plan) if b.letters.name == replay.letters.name]
        asked = source_asked_for(replay.statement, env)
        tables = {b.table.name: b.table for b in back} if asked is None else {asked.name: asked}
        for table in tables.values() if len(tables) == 1 else ():
            check_changes(replay.statement, table, replay.letters, env)
        return Result()

    def deploy(self, statement: ast.Deploy) -> Result:
        """Check what is deployed, in a copy of the state: it is no query that begins."""
        DeployOptions.of(statement)
        copy = self.state.fork()
        copy.created = set()
        beside = replace(self, state=copy, compiled=[])
        Interpreter(copy, beside).run(redefining(statement.statement, copy, everything=False))
        return Result()

    def runs(self, query: str) -> bool:
        """Whether a query runs: none does here."""
        return False

    def drop_kept(self, query: str, table: Table) -> None:
        """Forget the record of a materialized view's query, in the copy of the catalog."""
        self.state.catalog.apply(ddl.drop_query(query, if_exists=True), f"DROP QUERY {query}")

    def alter_stored(self, name: ObjectName, alteration: Alteration, span: Span) -> None:
        """Leave what lies there as it is."""

    def explain(self, statement: ast.Explain, env: Environment) -> Result:
        """Compile what is explained."""
        return explain_statement(statement, env, at_once=self.at_once)

    def drop_query(self, statement: ast.Drop) -> Result:
        """Forget a query's record, in the copy of the catalog."""
        name = ".".join(statement.name)
        self.state.catalog.apply(ddl.drop_query(name, if_exists=statement.if_exists), f"DROP QUERY {name}")
        return Result()


def _placed(check: Callable[[], object], span: Span) -> None:
    """Make a check whose refusal gets a position."""
    try:
        check()
    except SqlExtError as error:
        raise error.at(span) from None
