"""A streaming job that runs until its input says so, run by test_kafka_killed, which kills it.

usage: kafka_job.py FOLDER SCRIPT SPARK: waits with its Spark, whose files are in the folder SPARK, for a line on its
standard input (it does nothing if there is none); prints "running" when its query has begun; a second line lets it work
off what there is, stop and end.
"""

from __future__ import annotations

import sys
from pathlib import Path

import sqlext
from sqlext.spark.local import local_spark


def main(folder: Path, script: Path, own: Path) -> None:
    """Run the script, whose last statement is an INSERT without an end."""
    # One core and one shuffle partition, so that two processes of tests go on beside it.
    spark = local_spark(cores=1, folder=own)
    if not sys.stdin.readline():
        return
    session = sqlext.connect(spark, catalog=folder / "catalog")
    query = session.run(script.read_text(), variables={"OUT": str(folder / "out")})[-1].query
    assert query is not None
    print("running", flush=True)
    sys.stdin.readline()
    query.process_available()
    query.stop()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
