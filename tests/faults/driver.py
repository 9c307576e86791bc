"""A driver that runs a script and kills itself at one moment of it.

usage: driver.py FOLDER SCRIPT MOMENT:NTH, where MOMENT is
    before-commit    the sink is about to take a batch
    after-commit     the sink has taken a batch, Spark's own commit log does not know
    between-sinks    the sink has taken a batch, that of its late rows has not
    heartbeat        the data is through, the row that ends the input is about to be put
    before-finish    every row is written, a sink is about to come to its end
    after-finish     a sink has come to its end, its query is not marked as finished
    between-finish   one query of a job is marked as finished, the next is not
    staged           dead letters are to come back, who asked for it is not told
    begin            a run has begun, Spark has not started
    versions         ``versions.json`` of a deployed query has changed
    planned          a micro-batch of a new version is done
    replaced         the rows of a sink are those of the new version
    restored         they are those of the old version again
    moved            the new versions that have read the new rows go on behind them
    recorded         the catalog says which version is the current one

The variable SETTINGS has Spark's settings as JSON; IN, OUT, CATALOG and CHECKPOINT have other places than the folder.
COMMAND is ``deploy``, ``fill`` (``deploy`` with ``keep_rows``) or ``roll_back`` where the script is not run.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlext
from sqlext.connectors.delta.replacement import DeltaReplacement
from sqlext.connectors.delta.sink.small_batches import SmallBatches
from sqlext.connectors.delta.sink.tables import DeltaSink
from sqlext.jobs.batches import BatchWriter
from sqlext.jobs.checkpoint import QueryHome
from sqlext.rewrite.arrow import choose_source
from sqlext.session.deploying.beside import NewVersions
from sqlext.session.deploying.deployer import Deployer
from sqlext.session.deploying.records import VersionRecords
from sqlext.session.replaying import Replaying
from sqlext.sinks.sides import Side
from sqlext.spark.local import local_spark

#: moment -> the function that it belongs to, and whether it is before or after it.
MOMENTS: dict[str, tuple[type, str, bool]] = {
    "before-commit": (BatchWriter, "__call__", True),
    "after-commit": (BatchWriter, "__call__", False),
    "before-small-commit": (SmallBatches, "write", True),
    "after-small-commit": (SmallBatches, "write", False),
    "between-sinks": (Side, "write", True),
    "heartbeat": (QueryHome, "write_heartbeat", True),
    "before-finish": (DeltaSink, "finish", True),
    "after-finish": (QueryHome, "finish", True),
    "between-finish": (QueryHome, "finish", False),
    "staged": (Replaying, "answer", False),
    "begin": (QueryHome, "begin", False),
    "set-aside": (QueryHome, "set_aside", False),
    "carried-over": (QueryHome, "begin", True),
    "versions": (NewVersions, "change", False),
    "planned": (NewVersions, "_run_planned", False),
    "replaced": (DeltaReplacement, "replace", False),
    "restored": (DeltaReplacement, "restore", False),
    "moved": (Deployer, "_move_readers", False),
    "recorded": (VersionRecords, "say", False),
}


def arm(moment: str, nth: int) -> None:
    """Let the nth call of the moment's function kill this process."""
    owner, name, before = MOMENTS[moment]
    original: Callable[..., Any] = getattr(owner, name)
    calls = [0]

    def armed(*arguments: Any, **named: Any) -> Any:
        calls[0] += 1
        number = calls[0]  # the queries of a job have threads of their own
        if before and number == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*arguments, **named)
        if not before and number == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, armed)


def main(folder: Path, script: Path, moment: str, nth: int) -> None:
    """Run the script over the folder of a ``Workspace``."""
    # One core and one shuffle partition: the tests, which restart the job, have two.
    settings = json.loads(os.environ.get("SETTINGS", "{}"))
    choose_source.ENOUGH_AT_ONCE = 1 << 20  # as ``tests.few_rows_as_streams``: moments are those of streams
    spark = local_spark(cores=1, folder=folder / "spark", settings=settings)
    arm(moment, nth)
    session = sqlext.connect(spark, catalog=os.environ.get("CATALOG", folder / "catalog"))
    variables = {name: os.environ.get(name, str(folder / name.lower())) for name in ("IN", "OUT")}
    command = os.environ.get("COMMAND")
    if command is not None:
        wanted: dict[str, dict[str, Any]] = {
            "deploy": {"allow_differences": "100%"},
            "fill": {"keep_rows": True},
            "roll_back": {},
        }
        getattr(session, command.replace("fill", "deploy"))(script.read_text(), variables, **wanted[command])
        return
    for result in session.run(script.read_text(), variables=variables, checkpoint=os.environ.get("CHECKPOINT")):
        if result.query is not None:
            result.query.await_termination()


if __name__ == "__main__":
    at, _, number = sys.argv[3].partition(":")
    main(Path(sys.argv[1]), Path(sys.argv[2]), at, int(number))
