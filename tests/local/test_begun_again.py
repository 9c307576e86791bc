"""``sqlext run --restart``: a sink that fails by what may pass gets each row once in the end."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from deltalake import DeltaTable

from sqlext.cli.main import main
from sqlext.cli.restarting import Restarts
from sqlext.jobs import in_process

_JOB = """
CREATE TABLE orders (item STRING, amount BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
CREATE TABLE copies (item STRING, amount BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}');
INSERT INTO copies SELECT item, amount FROM orders;
"""


@pytest.fixture
def waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the command waits; none of them pass."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text(json.dumps({"item": "pen", "amount": 1}))
    (tmp_path / "job.sql").write_text(_JOB)
    found: list[float] = []
    monkeypatch.setattr("sqlext.cli.run.Restarts", partial(Restarts, wait=found.append))
    return found


def run(*arguments: str) -> Result:
    here = Path.cwd()
    places = ("-d", f"IN={here / 'in'}", "-d", f"OUT={here / 'out'}")
    return CliRunner().invoke(main, ["run", "job.sql", *places, "--conf", "sqlext.engine=local", *arguments])


def fails(monkeypatch: pytest.MonkeyPatch, step: str, *errors: Exception) -> None:
    """Let the job fail so at a step, one time after the other."""
    left = list(errors)

    def at_step(name: str) -> None:
        if name == step and left:
            raise left.pop(0)

    monkeypatch.setattr(in_process, "at_step", at_step)


@pytest.mark.parametrize("step", ["batch begun", "batch written", "sink finished"])
def test_what_passes(waits: list[float], monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    fails(
        monkeypatch, step, ConnectionResetError(104, "Connection reset by peer"), OSError(28, "No space left on device")
    )
    done = run("--restart", "3")
    assert done.exit_code == 0, done.output
    assert waits == [1, 2]
    assert "begins again in 2 s (2 of 3)" in done.stderr
    assert DeltaTable("out").to_pyarrow_table().to_pylist() == [{"item": "pen", "amount": 1}]


def test_too_often(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    fails(monkeypatch, "batch begun", *[ConnectionResetError(104, "Connection reset by peer")] * 3)
    done = run("--restart", "2")
    assert done.exit_code == 1
    assert waits == [1, 2]
    assert "Connection reset by peer" in done.stderr


@pytest.mark.parametrize(
    ("error", "arguments"),
    [(ValueError("no such luck"), ("--restart", "3")), (ConnectionResetError(104, "Connection reset by peer"), ())],
)
def test_what_does_not(
    waits: list[float], monkeypatch: pytest.MonkeyPatch, error: Exception, arguments: tuple[str, ...]
) -> None:
    fails(monkeypatch, "batch begun", error)
    assert run(*arguments).exit_code == 1
    assert waits == []
