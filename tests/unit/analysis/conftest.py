"""Queries bound against a few tables, without Spark."""

from __future__ import annotations

import pytest

from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.plan.nodes import PlanNode
from sqlext.rewrite.script.model import Compiled
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText

TABLES = """
CREATE TABLE clicks (
  user_name STRING, amount INT, ts TIMESTAMP(3), extra ROW<a INT, b ROW<c STRING>>, tags MAP<STRING, INT>,
  pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '/in/clicks', 'format' = 'json');
CREATE TABLE visits (user_name STRING, page STRING, vt TIMESTAMP(3), WATERMARK FOR vt AS vt)
WITH ('connector' = 'datagen');
CREATE TABLE instants (k STRING, rt TIMESTAMP_LTZ(3), WATERMARK FOR rt AS rt) WITH ('connector' = 'datagen');
CREATE TABLE users (user_name STRING, country STRING, since TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '/in/users', 'format' = 'json', 'scan.mode' = 'snapshot');
CREATE TABLE snk (user_name STRING, n BIGINT) WITH ('connector' = 'blackhole');
"""


class Analysis:
    """Binds queries and says what their columns are, or how they are refused."""

    def __init__(self, mode: str = "flink") -> None:
        self.mode = mode
        self.handler = DryRun(new_state(None))
        self.interpreter = Interpreter(self.handler.state, self.handler)
        self.run(TABLES)

    def run(self, text: str) -> Compiled | None:
        """Run statements; return what the last query compiles to."""
        state = self.handler.state
        state.settings = state.settings.with_value("sqlext.expressions", self.mode)
        self.handler.compiled.clear()
        for statement in parse_script(SourceText.of(text), self.mode):
            self.interpreter.run(statement)
        return self.handler.compiled[-1] if self.handler.compiled else None

    def plan(self, text: str) -> PlanNode:
        """Return the plan of a query."""
        compiled = self.run(text)
        assert compiled is not None
        return compiled.plan

    def columns(self, text: str) -> dict[str, str]:
        """Return name and type of a query's columns, as DESCRIBE prints them."""
        return {c.name: c.type_text() for c in self.plan(text).columns}

    def times(self, text: str) -> dict[str, str]:
        """Return the time attributes of a query."""
        return {c.name: c.time.value for c in self.plan(text).columns if c.time is not None}

    def refuse(self, text: str, code: str, at: str | None = None) -> SqlExtError:
        """Check that a statement is refused, at the last place where ``at`` stands."""
        with pytest.raises(SqlExtError) as caught:
            self.run(text)
        error = caught.value
        assert error.code == code, error.render()
        if at is not None:
            assert error.span is not None
            assert error.span.start == text.rindex(at), error.render()
        return error


@pytest.fixture
def flink() -> Analysis:
    return Analysis()


@pytest.fixture
def spark_mode() -> Analysis:
    return Analysis("spark")
