"""``sqlext run --restart`` on Spark: a disk that was full, a store that broke off, a Python process that died."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from sqlext import SqlExtError
from sqlext.cli.main import main
from sqlext.cli.restarting import Restarts
from sqlext.connectors.delta.sink.tables import DeltaSink
from sqlext.spark.passing import may_pass
from tests.workspace import EVENTS, Workspace

_JOB = """
CREATE TABLE orders (item STRING, amount BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
CREATE TABLE copies (item STRING, amount BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}');
"""
_INSERT = "INSERT INTO copies SELECT item, amount FROM orders;"


@pytest.fixture
def waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the command waits; none of them pass."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"item": "pen", "amount": 1}\n')
    found: list[float] = []
    monkeypatch.setattr("sqlext.cli.run.Restarts", partial(Restarts, wait=found.append))
    return found


def run(*arguments: str, job: str = _JOB + _INSERT) -> Result:
    here = Path.cwd()
    (here / "job.sql").write_text(job)
    places = ("-d", f"IN={here / 'in'}", "-d", f"OUT={here / 'out'}")
    return CliRunner().invoke(main, ["run", "job.sql", *places, "--conf", "sqlext.engine=spark", *arguments])


@pytest.mark.parametrize("behind", [False, True])
def test_what_passes(spark: SparkSession, waits: list[float], monkeypatch: pytest.MonkeyPatch, behind: bool) -> None:
    """The sink fails before its commit, or the driver does behind it: the row is there once."""
    errors = [ConnectionResetError(104, "Connection reset by peer"), OSError(28, "No space left on device")]
    original = DeltaSink.write_new

    def failing(self: DeltaSink, df: object, batch_id: int) -> None:
        if behind:
            original(self, df, batch_id)  # type: ignore[arg-type]
        if errors:
            raise errors.pop(0)
        if not behind:
            original(self, df, batch_id)  # type: ignore[arg-type]

    monkeypatch.setattr(DeltaSink, "write_new", failing)
    done = run("--restart", "3")
    assert done.exit_code == 0, done.output
    assert waits == ([1] if behind else [1, 2])
    assert "begins again in 1 s (1 of 3)" in done.stderr
    assert DeltaTable("out").to_pyarrow_table().to_pylist() == [{"item": "pen", "amount": 1}]


def test_what_does_not(spark: SparkSession, waits: list[float]) -> None:
    done = run("--restart", "3", job=_JOB + _INSERT.replace("amount FROM", "amount / 0 FROM"))
    assert done.exit_code == 1
    assert waits == []


def test_a_python_process_that_died(workspace: Workspace) -> None:
    """A function of a user ends its process: the query fails by name, and goes on where it was."""
    dies = workspace.folder / "dies"
    dies.touch()

    def kept(value: int) -> int:
        if dies.exists():
            dies.unlink()
            os._exit(9)
        return value

    session = workspace.session()
    session.register_function("kept", kept, "INT")
    workspace.put("a.csv", "a,1,1", "b,2,2")
    sink = "CREATE TABLE s (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/s');"
    insert = "INSERT INTO s SELECT k, kept(v) FROM events;"
    with pytest.raises(SqlExtError, match="a Python process of Spark died") as failed:
        workspace.run(EVENTS, sink, insert, session=session)
    assert may_pass(failed.value)
    assert "the query goes on with the batch that failed" in (failed.value.hint or "")
    assert not dies.exists()
    workspace.run(insert, session=session)
    assert workspace.delta("s") == [("a", "1"), ("b", "2")]


@pytest.mark.parametrize("reader", ["arrow", "spark"])
def test_a_source_that_vanished(workspace: Workspace, reader: str) -> None:
    """Its folder is gone at a restart: the query says which, and goes on when it is back."""
    workspace.put("a.csv", "a,1,1")
    catch_up = "SET 'sqlext.bounded' = 'catch-up';"
    sink = "CREATE TABLE s (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/s');"
    insert = "INSERT INTO s SELECT k, v FROM events;"
    read_by = f"SET 'sqlext.source' = '{reader}';"
    workspace.run(catch_up, read_by, EVENTS, sink, insert)
    away = workspace.input.rename(workspace.folder / "away")
    with pytest.raises(SqlExtError, match=re.escape(str(workspace.input))):
        workspace.run(catch_up, read_by, insert)
    away.rename(workspace.input)
    workspace.put("b.csv", "b,2,2")
    workspace.run(catch_up, read_by, insert)
    assert workspace.delta("s") == [("a", "1"), ("b", "2")]
