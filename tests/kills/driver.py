"""A driver in a process of its own, from its start to its death."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.kills.death import FOLDER, Death, writes
from tests.kills.inputs import Input
from tests.workspace import short_lived

#: A job that hangs ends the trial, in seconds.
PATIENCE = 600
_ROOT = Path(__file__).parents[2]
_GLANCE = 0.05


class Driver:
    """A job in a process of its own, which has started its engine and waits to be told to go on.

    Attributes:
        dies_at: the number of its write at which it dies; 0: it dies at none.
    """

    def __init__(self, folder: Path, script: Path, source: Input, number: int, more: Mapping[str, str]) -> None:
        self.dies_at = 0
        self._folder = folder
        self._own = folder / f"driver-{number}"
        self._own.mkdir()
        self._log = folder / "job.log"
        variables = json.dumps({"OUT": str(folder / "out")})
        command = [folder, script, self._own / "spark", source.engine, source.jars, variables]
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.kills.job", *map(str, command)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**short_lived(), **more, FOLDER: str(self._own), "PYTHONPATH": path},
                start_new_session=True,
            )

    def ready(self) -> None:
        """Wait until it can be told to go on."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line == "ready", f"{line}\n{self.said()}"

    def go(self, dies_at: int = 0, *, with_java: bool = False) -> None:
        """Let it run its script, to its end or to one of its writes."""
        self.dies_at = dies_at
        if dies_at:
            Death(dies_at, with_java, self._process.pid).plan(self._own)
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def until_open(self) -> None:
        """Wait until a batch is open, or it has ended or died."""
        until = time.monotonic() + PATIENCE
        while self._process.poll() is None and not open_batches(self._folder):
            assert time.monotonic() < until, self.said()
            time.sleep(_GLANCE)

    def end(self) -> bool:
        """Wait until its script has run, or it is dead; return whether it has run.

        Raises:
            AssertionError: it failed of itself.
        """
        said, _ = self._process.communicate(timeout=PATIENCE)
        code = self._process.returncode
        assert "ended" in said or code == -signal.SIGKILL, f"{code}\n{self.said()}"
        return "ended" in said

    def kill(self, *, with_java: bool) -> None:
        """Kill it if it lives, by itself (its JVM ends when it finds that out), or with its JVM."""
        if self._process.poll() is None:
            (os.killpg if with_java else os.kill)(self._process.pid, signal.SIGKILL)

    @property
    def writes(self) -> Sequence[str]:
        """The names of its writes until now."""
        return writes(self._own)

    def said(self) -> str:
        """Return why it failed."""
        return self._log.read_text()[-4000:]


def open_batches(folder: Path) -> int:
    """Return how many queries have begun a batch that is not done."""
    queries = folder / "catalog" / "queries"
    streams = sum(_last(c / "offsets") > _last(c / "commits") for c in queries.glob("*/checkpoint"))
    # A query without Spark has one batch, which is begun when its file is there.
    return streams + len(list(queries.glob("*/local/0")))


def _last(log: Path) -> int:
    return max((int(entry.name) for entry in log.glob("[0-9]*") if entry.name.isdigit()), default=-1)
