"""A streaming job into a file sink and a Delta sink that kills itself, run by test_sinks_kill.

usage: sink_job.py FOLDER KILL_AT_STEP KILL_AFTER_DELTA
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from pyspark.sql import DataFrame

from sqlext.connectors.filesystem.sink import commit
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.sinks.base import SinkContext
from sqlext.sinks.opening import open_sink
from sqlext.spark.local import local_spark
from sqlext.types import INT, STRING

COLUMNS = (WriteColumn("k", STRING), WriteColumn("v", INT))


def die() -> None:
    """Be killed as by ``kill -9``."""
    os.kill(os.getpid(), signal.SIGKILL)


def main(folder: Path, kill_at_step: int, kill_after_delta: int) -> None:
    """Copy ``folder/in`` into two sinks, a file per batch."""
    spark = local_spark(cores=2, folder=folder / "spark")
    files = WriteSpec("filesystem", COLUMNS, "f", format="csv", path=str(folder / "files"))
    table = WriteSpec("delta", COLUMNS, "d", format="delta", path=str(folder / "delta"))
    to_files = open_sink(spark, files, SinkContext("q.f", "1"))
    to_table = open_sink(spark, table, SinkContext("q.d", "1"))
    steps = [0]

    def at_step(name: str) -> None:
        steps[0] += 1
        if steps[0] == kill_at_step:
            die()

    commit.at_step = at_step

    def write(df: DataFrame, batch_id: int) -> None:
        to_table.write(df, batch_id)
        if batch_id + 1 == kill_after_delta:
            die()
        to_files.write(df, batch_id)

    rows = spark.readStream.schema("k STRING, v INT").option("maxFilesPerTrigger", 1).csv(str(folder / "in"))
    query = rows.writeStream.foreachBatch(write).option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
