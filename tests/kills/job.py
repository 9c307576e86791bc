"""A driver: it runs a script when it is told to, and says when it has ended.

usage: job.py FOLDER SCRIPT SPARK ENGINE JARS VARIABLES
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import sqlext
from tests.kills.death import arm


def main(folder: Path, script: Path, own: Path, engine: str, jars: str, variables: str) -> None:
    """Run the script, by ``local`` or by Spark, whose own files are in ``own``."""
    arm()
    if engine == "local":
        session = sqlext.connect(catalog=folder / "catalog", settings={"sqlext.engine": "local"})
    else:
        from sqlext.spark.local import local_spark

        settings = {"spark.python.daemon.module": "tests.kills.death", **({"spark.jars": jars} if jars else {})}
        session = sqlext.connect(local_spark(cores=1, folder=own, settings=settings), catalog=folder / "catalog")
    print("ready", flush=True)
    if not sys.stdin.readline():
        return
    for result in session.run(script, variables=json.loads(variables)):
        if result.query is not None:
            result.query.await_termination()
    print("ended", flush=True)


if __name__ == "__main__":
    places = map(Path, sys.argv[1:4])
    main(*places, *sys.argv[4:])
