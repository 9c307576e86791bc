"""Count the writes of a job in all its processes, and kill its driver at one of them.

Spark starts this module in place of its own daemon of Python workers. So the steps that workers take count too.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.write_points import watch

#: Of the environment: the folder of a driver's plan and of its log.
FOLDER = "SQLEXT_TESTS_DEATH"


@dataclass(frozen=True)
class Death:
    """When a driver dies.

    Attributes:
        at: the number of the write at which it dies.
        with_java: whether its JVM dies with it, and the worker that writes.
        driver: its process, and its group of processes.
    """

    at: int
    with_java: bool
    driver: int

    def plan(self, folder: Path) -> None:
        """Let it be known."""
        (folder / "death.json").write_text(json.dumps(asdict(self)))

    def come(self) -> None:
        """Kill the driver."""
        (os.killpg if self.with_java else os.kill)(self.driver, signal.SIGKILL)
        if self.with_java:
            os.kill(os.getpid(), signal.SIGKILL)


def writes(folder: Path) -> Sequence[str]:
    """Return the names of a driver's writes until now."""
    log = folder / "writes.txt"
    return log.read_text().splitlines() if log.exists() else []


def arm() -> None:
    """Watch the writes of this process."""
    folder = Path(os.environ[FOLDER])

    def at_write(name: str) -> None:
        with (folder / "writes.txt").open("a+") as log:
            # The queries of a job, and its workers, write at the same time.
            fcntl.flock(log, fcntl.LOCK_EX)
            log.seek(0)
            number = len(log.readlines()) + 1
            log.write(f"{name}\n")
        if (folder / "death.json").exists():
            death = Death(**json.loads((folder / "death.json").read_text()))
            if death.at == number:
                death.come()

    watch(at_write)


if __name__ == "__main__":
    from pyspark.daemon import manager

    arm()
    manager()  # type: ignore[no-untyped-call]
