"""Whose reader tells an endless query the time with its rows, and who has heartbeats and ticks as sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.jobs.result import Result
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.script.begun import Begun, readers
from sqlext.rewrite.script.model import ArrowView, OperatorView, SparkScript, SqlView
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText

_TABLE = """CREATE TABLE {name} (k BIGINT, v INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'csv');"""
_COUNTS = """SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 1s"""


@dataclass
class _Scripts(DryRun):
    """Keeps the script of a query."""

    end: InputEnd = InputEnd.NONE
    begun: Begun | None = None
    found: list[SparkScript] = field(default_factory=list)

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        self.found.append(script_of(inserts[0].plan, env, end=self.end, begun=self.begun))
        return Result()


def _script(
    folder: Path, query: str = _COUNTS, end: InputEnd = InputEnd.NONE, begun: Begun | None = None
) -> SparkScript:
    tables = "".join(_TABLE.format(name=name, folder=folder) for name in "tu")
    sink = "CREATE TABLE s (k BIGINT, n BIGINT) WITH ('connector' = 'blackhole');"
    state = new_state(None)
    scripts = _Scripts(state, end=end, begun=begun)
    interpreter = Interpreter(state, scripts)
    for statement in parse_script(
        SourceText.of(f"SET 'sqlext.source' = 'arrow'; {tables} {sink} INSERT INTO s {query};")
    ):
        interpreter.run(statement)
    return scripts.found[0]


def _operators(script: SparkScript) -> list[OperatorView]:
    return [step for step in script.steps if isinstance(step, OperatorView)]


def _arrow(script: SparkScript) -> list[ArrowView]:
    return [step for step in script.steps if isinstance(step, ArrowView)]


def test_the_reader_of_packed_rows_tells_the_time(tmp_path: Path) -> None:
    script = _script(tmp_path)
    (view,), (operator,), (kept,) = _arrow(script), _operators(script), script.kept
    assert (view.tells_time, operator.told_by) == (True, view.view)
    assert (script.ticks, script.ticks_apart) == ("clock", "")
    assert (kept.view, kept.source) == ("", view.view)
    assert not any("UNION ALL" in step.sql for step in script.steps if isinstance(step, SqlView))
    assert readers(script) == {"reader of t": ("Arrow", "arrow 2")}


def test_a_query_goes_on_as_it_began(tmp_path: Path) -> None:
    silent = {"reader of t": ("Arrow", "arrow 1")}
    script = _script(tmp_path, begun=Begun.of(silent))
    (view,), (operator,), (kept,) = _arrow(script), _operators(script), script.kept
    assert (view.tells_time, operator.told_by, operator.ticks) == (False, "", "clock")
    assert kept.view
    assert any(kept.view in step.sql for step in script.steps if isinstance(step, SqlView))
    assert readers(script) == silent
    assert _script(tmp_path, begun=Begun.of(readers(_script(tmp_path)))) == _script(tmp_path)


def test_one_of_two_inputs_tells_a_join_what_time_it_is(tmp_path: Path) -> None:
    script = _script(tmp_path, "SELECT t.k, CAST(u.v AS BIGINT) FROM t JOIN u ON t.k = u.k AND t.ts = u.ts")
    views, (operator,) = _arrow(script), _operators(script)
    assert [view.tells_time for view in views] == [True, True]
    assert operator.told_by == (views[0].view if operator.ticks else "")
    assert [kept.view for kept in script.kept] == ["", ""]


def test_what_comes_to_an_end_has_sources_of_its_own(tmp_path: Path) -> None:
    """It says nevertheless that its reader can tell the time: it may become endless."""
    script = _script(tmp_path, end=InputEnd.CATCH_UP)
    (operator,) = _operators(script)
    assert (operator.told_by, operator.ticks) == ("", "clock")
    assert readers(script) == readers(_script(tmp_path))
    assert "beat" not in script.sql


def test_rows_that_spark_reads_have_heartbeats_apart(tmp_path: Path) -> None:
    script = _script(tmp_path, begun=Begun())
    (operator,), (kept,) = _operators(script), script.kept
    assert not _arrow(script)
    assert (operator.told_by, bool(kept.view)) == ("", True)
