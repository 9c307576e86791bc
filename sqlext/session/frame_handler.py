"""Return queries as DataFrames that nothing has run yet.

Static tables give a static DataFrame, and a stream gives a streaming one. Its time attributes are event time to Spark,
with the watermarks of their tables. So Spark's windows, joins and ``dropDuplicatesWithinWatermark`` work on them.
"""

from __future__ import annotations

import atexit
import shutil
import time

from sqlext.analysis.inserts.sides import bad_scans, late_insert, letters_of
from sqlext.analysis.names.environment import Environment
from sqlext.connectors.options import BAD_ROWS_OPTION
from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError
from sqlext.jobs.result import Result
from sqlext.plan.nodes import PlanNode
from sqlext.rewrite.compiler.frames import frame_script
from sqlext.rewrite.script.model import OperatorView
from sqlext.session.executor import SparkHandler
from sqlext.session.needed_secrets import check_secrets
from sqlext.settings import DEAD_LETTERS
from sqlext.spark.quiet import quiet
from sqlext.spark.reading.ticks import TickSource
from sqlext.spark.sessions import temporary_folder
from sqlext.stores.location import Location


class FrameHandler(SparkHandler):
    """Implements ``interpreter.Handler`` for queries: each becomes ``Result.df``, and no query starts."""

    def spark(self, statement: ast.Statement) -> Result:
        """Return Spark's own DataFrame of a query that is its own."""
        with quiet():
            frame = self.spark_session.sql(statement.span.text)
        return Result(frame.columns, frame=lambda: frame)

    def select(self, statement: ast.SelectStatement, plan: PlanNode, env: Environment) -> Result:
        """Return the DataFrame of a query.

        Raises:
            SqlExtError: SINK-010 for a result that changes, SINK-011 for one whose late rows are kept.
        """
        _refuse_changes(statement, plan, env)
        check_secrets(plan, (), statement.span)
        script = frame_script(plan, env)
        with self.scripts.settings(env, [script]):
            ticks = self._ticks(env) if script.ticks else None
            frame = self.scripts.opened(script, env, None, ticks, statement.span).rows
        if any(isinstance(step, OperatorView) for step in script.steps):
            from sqlext_udfs.spark.state_store import require_state_store

            require_state_store(self.spark_session)  # the user starts the query, and not now
        return Result(frame.columns, frame=lambda: frame)

    def _ticks(self, env: Environment) -> TickSource:
        """Return the clock of a query whose start nobody knows: the first tick is there already."""
        # The user's query may run until the process ends, so nothing else can say when the folder may go.
        folder = temporary_folder(self.spark_session, self.folder)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        (folder / "start.txt").write_text(f"{time.time_ns() // 1_000_000}\n", encoding="utf-8")
        return TickSource(Location.of(folder), runs=True, clock=env.settings.get("sqlext.clock"))


def _refuse_changes(statement: ast.SelectStatement, plan: PlanNode, env: Environment) -> None:
    if plan.updating or plan.changelog:
        raise SqlExtError(
            "SINK-010",
            "this result takes back and replaces rows, and the rows of a DataFrame stay as they are",
            span=statement.span,
            hint="CREATE VIEW v AS it, and SELECT * FROM TO_CHANGELOG(TABLE v): each change is a row",
        )
    if late_insert(plan, env) is not None:
        raise SqlExtError(
            "SINK-011",
            "the late rows of a DataFrame have nowhere to go",
            span=statement.span,
            hint="leave LATE DATA TO out, or INSERT the result INTO a table",
        )
    if letters_of(plan):
        raise SqlExtError(
            "SINK-011",
            "the dead letters of a DataFrame have nowhere to go",
            span=statement.span,
            hint=f"RESET '{DEAD_LETTERS}', or INSERT the result INTO a table",
        )
    kept = bad_scans(plan)
    if kept:
        raise SqlExtError(
            "SINK-011",
            f"the rows of `{kept[0].table.name.name}` that cannot be decoded have nowhere to go from a DataFrame",
            span=statement.span,
            hint=f"'{BAD_ROWS_OPTION}' = 'drop' or 'fail', or INSERT the result INTO a table",
        )
