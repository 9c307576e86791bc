"""Runs tasks by sqlext without Spark, in this process."""

from __future__ import annotations

import time

import sqlext
from tests.benchmarks.engines.tasks import Taken, Task, cpu_seconds, serve


def by_sqlext_here(task: Task) -> Taken:
    """Run a script as it is."""
    began, used = time.perf_counter(), cpu_seconds()
    settings = {"sqlext.engine": "local", "sqlext.sink.updates": "final-state"}
    sqlext.connect(catalog=f"{task['out']}.catalog", settings=settings).run(task["script"])
    wall = time.perf_counter() - began
    return Taken(wall, wall, cpu_seconds() - used)


if __name__ == "__main__":
    serve(by_sqlext_here)
