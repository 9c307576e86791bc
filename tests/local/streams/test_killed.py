"""Drivers that die at any step of a micro-batch in this process: each row once, and the state of an undisturbed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import datetime

import pytest

from sqlext.errors import SqlExtError
from sqlext.jobs.local import running
from sqlext.stores.folder import FolderStore
from tests.local.streams.stream_desk import COUNTS, Desk

_COPIES = """
CREATE TABLE copies (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '{out}-copies', 'format' = 'json');
CREATE TABLE totals (k STRING, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '{out}-totals');
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT, s BIGINT) WITH ('connector' = 'delta', 'path' = '{out}');
EXECUTE STATEMENT SET BEGIN
  INSERT INTO copies SELECT k, v FROM events;
  INSERT INTO totals SELECT k, SUM(v) FROM events GROUP BY k;
  INSERT INTO counts SELECT k, window_start, COUNT(*), SUM(v)
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
END;
"""
_FILES = [[("a", 1, 1), ("b", 2, 2)], [("a", 3, 3)], [("a", 4, 12), ("b", 5, 13)], [("a", 6, 31)]]


class DiedError(BaseException):
    """In place of the death of a process: nothing of sqlext catches it."""


def _dies_at(monkeypatch: pytest.MonkeyPatch, step: str, nth: int) -> None:
    left = [nth]

    def at_step(name: str) -> None:
        if name == step:
            left[0] -= 1
            if left[0] == 0:
                raise DiedError

    monkeypatch.setattr(running, "at_step", at_step)


def _worked_off(desk: Desk, script: str) -> None:
    query = desk.start(script)
    try:
        query.process_available()
    finally:
        query.stop()


def _put_all(desk: Desk, script: str, monkeypatch: pytest.MonkeyPatch, step: str, nth: int) -> None:
    """Put file after file; the driver dies once and begins again."""
    _dies_at(monkeypatch, step, nth)
    for number, rows in enumerate(_FILES):
        desk.put("events", f"{number}.json", rows)
        try:
            _worked_off(desk, script)
        except SqlExtError:
            monkeypatch.setattr(running, "at_step", lambda name: None)
            # What comes in between is of the next micro-batch, and not of the one that is repeated.
            desk.put("events", f"{number}-late.json", [("z", 100, 1)])
            _worked_off(desk, script)
            (desk.root / "events" / f"{number}-late.json").unlink()


@pytest.mark.parametrize("step", ["batch begun", "batch written", "batch done"])
@pytest.mark.parametrize("nth", [1, 2, 4, 6])
def test_dead_at_a_step(desk: Desk, monkeypatch: pytest.MonkeyPatch, step: str, nth: int) -> None:
    _put_all(desk, desk.script(_COPIES), monkeypatch, step, nth)
    own = [row for row in desk.rows("out-totals") if row[0] != "z"]
    assert own == [("a", 14), ("b", 7)]
    copies = sorted((row["k"], row["v"]) for row in desk.files("out-copies") if row["k"] != "z")
    assert copies == [("a", 1), ("a", 3), ("a", 4), ("a", 6), ("b", 2), ("b", 5)]
    first, second = datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 10)
    counts = [row for row in desk.rows() if row[0] != "z"]
    assert counts == [("a", first, 2, 4), ("a", second, 1, 4), ("b", first, 1, 2), ("b", second, 1, 5)]


@pytest.mark.sampled
@pytest.mark.parametrize("operation", ["write", "create", "delete"])
@pytest.mark.parametrize("nth", range(1, 40, 3))
def test_dead_at_a_write(desk: Desk, monkeypatch: pytest.MonkeyPatch, operation: str, nth: int) -> None:
    """Before and after each write of the query's place."""
    own, left = getattr(FolderStore, operation), [nth]

    def dying(self: FolderStore, *arguments: object) -> object:
        left[0] -= 1
        if left[0] == 0:
            raise DiedError
        found = own(self, *arguments)
        if left[0] == -1:
            raise DiedError
        return found

    script = desk.script(COUNTS)
    desk.put("events", "0.json", _FILES[0])
    _worked_off(desk, script)
    with monkeypatch.context() as patched:
        patched.setattr(FolderStore, operation, dying)
        for number, rows in enumerate(_FILES[1:], 1):
            desk.put("events", f"{number}.json", rows)
            with suppress(SqlExtError, DiedError):
                _worked_off(desk, script)
    # The lease of a driver that is dead ends by itself.
    _worked_off(desk, "SET 'sqlext.take-over' = 'true';\n" + script)
    first, second = datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 10)
    assert desk.rows() == [("a", first, 2, 4), ("a", second, 1, 4), ("b", first, 1, 2), ("b", second, 1, 5)]


_DRIVER = """
import os, signal, sys
from pathlib import Path
import sqlext
from sqlext.jobs.local import running
script, catalog, step, nth = sys.argv[1:]
left = [int(nth)]
def at_step(name):
    left[0] -= name == step
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
running.at_step = at_step
sqlext.connect(catalog=catalog).run(Path(script).read_text(), trigger_interval=1)[-1].query.await_termination(60)
"""


@pytest.mark.parametrize("step", ["batch begun", "batch written", "batch done"])
def test_kill_9(desk: Desk, step: str) -> None:
    script = desk.script(_COPIES)
    (desk.root / "job.sql").write_text(script)
    for number, rows in enumerate(_FILES):
        desk.put("events", f"{number}.json", rows)
    arguments = [str(desk.root / "job.sql"), str(desk.root / "catalog"), step, "2"]
    done = subprocess.run([sys.executable, "-c", _DRIVER, *arguments], check=False, env=os.environ, timeout=120)
    assert done.returncode == -signal.SIGKILL
    _worked_off(desk, "SET 'sqlext.take-over' = 'true';\n" + script)
    assert desk.rows("out-totals") == [("a", 14), ("b", 7)]
    assert sorted((row["k"], row["v"]) for row in desk.files("out-copies")) == [
        ("a", 1), ("a", 3), ("a", 4), ("a", 6), ("b", 2), ("b", 5)
    ]  # fmt: skip
    assert len(desk.rows()) == 4
