"""How an engine's process is asked: a line of JSON for each task, one back for what it took.

This module is imported by Pythons that have no sqlext.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict


class Task(TypedDict):
    """What an engine is to run.

    ``side``: which engine; ``name``: of the question; ``script``: its SQL, the tables' first; ``source``, ``out``:
    folders; ``form``: of the files.
    """

    side: str
    name: str
    script: str
    source: str
    out: str
    form: str


class Taken(NamedTuple):
    """Seconds of a task.

    Attributes:
        busy: while the job ran: within micro-batches, or from a job's first task to its last.
        wall: from the statement to its end, planning included.
        cpu: of the process and of those that it started and that have ended; 0 where nobody asks.
    """

    busy: float
    wall: float
    cpu: float = 0


def cpu_seconds() -> float:
    """Return the processor time of this process so far, and of those that it started and that have ended."""
    return sum(os.times()[:4])


def serve(run: Callable[[Task], Taken]) -> None:
    """Run tasks from standard input until it ends; nothing else gets to standard output."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            print(json.dumps(_answer(run, json.loads(line))), file=answers, flush=True)


def _answer(run: Callable[[Task], Taken], task: Task) -> dict[str, Any]:
    try:
        return run(task)._asdict()
    except Exception as error:  # noqa: BLE001 - the engine's own, whatever it is: the next task comes
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}".partition("\n")[0]}
