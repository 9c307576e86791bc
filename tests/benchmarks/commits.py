"""What a micro-batch of few rows costs that is committed to a Delta table: by Spark, and in the driver.

python -m tests.benchmarks.commits [--rows 1000] [--batches 30] [--window 10] [--modes append upsert]

Both ways take the same batches in turns, within one JVM, each into a table of its own: rows that are appended, and rows
that are merged by key and window. A window lasts for some batches, so the keys of one are updated that often.
The first third warms up and does not count. Prints medians over batches: milliseconds, milliseconds of CPU of this
process, of the JVM and of the processes that it starts, jobs of Spark, files that come.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from sqlext.connectors.delta.sink.tables import DeltaSink
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.sinks.base import SinkContext
from sqlext.sinks.few_rows import NOTHING, Few
from sqlext.spark.local import local_spark
from sqlext.types import BIGINT

_TICKS = os.sysconf("SC_CLK_TCK")
_COLUMNS = tuple(WriteColumn(name, BIGINT) for name in ("k", "w", "n"))
WAYS = {"Spark": NOTHING, "the driver": Few(10_000, 32 << 20)}


class Cost(NamedTuple):
    """What a batch costs: milliseconds, milliseconds of CPU, jobs, files."""

    wall: float
    cpu: float
    jobs: float
    files: float


def measured(sink: DeltaSink, rows: DataFrame, batch: int, folder: Path) -> Cost:
    """Write a batch."""
    context, group = rows.sparkSession.sparkContext, f"{folder.name}-{batch}"
    context.setJobGroup(group, group)
    files, cpu, began = _files(folder), _cpu(), time.perf_counter()
    sink.write_new(rows, batch)
    ended = time.perf_counter()
    jobs = len(context.statusTracker().getJobIdsForGroup(group))
    return Cost((ended - began) * 1000, (_cpu() - cpu) * 1000, jobs, _files(folder) - files)


def _files(folder: Path) -> int:
    return sum(1 for _ in folder.glob("*.parquet"))


def _cpu() -> float:
    """Return seconds of CPU of this process and of those that it has started, also of those that have ended."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return sum(map(_seconds, ("self", *children)))


def _seconds(process: str) -> float:
    # Behind the name, which may have spaces: utime, stime, and both of children that have ended.
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def compared(spark: SparkSession, root: Path, mode: str, given: argparse.Namespace) -> None:
    """Write batches both ways in turns, and print."""
    sinks = {}
    for way, few in WAYS.items():
        path = root / f"{mode}-{way.replace(' ', '-')}"
        key = ("k", "w") if mode == "upsert" else ()
        spec = WriteSpec("delta", _COLUMNS, "t", path=str(path), primary_key=key)
        sink = DeltaSink(spec, SinkContext("q", "1", mode=mode, keys=key, few=few))  # type: ignore[arg-type]
        sink.open(spark)
        sinks[way] = (sink, path, list[Cost]())
    for batch in range(given.batches):
        rows = spark.range(given.rows).selectExpr("id AS k", f"{batch // given.window}L AS w", f"{batch}L AS n")
        for sink, path, costs in sinks.values():
            costs.append(measured(sink, rows, batch, path))
    for way, (_, _, costs) in sinks.items():
        counted = costs[len(costs) // 3 :]
        wall, cpu, jobs, files = (median(column) for column in zip(*counted, strict=True))
        print(f"{mode} by {way}: {wall:.0f} ms, CPU {cpu:.0f} ms, {jobs:.0f} jobs, {files:.0f} files", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--window", type=int, default=10)
    parser.add_argument("--modes", nargs="*", default=["append", "upsert"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        spark = local_spark(cores=2, folder=root / "spark")
        for mode in given.modes:
            compared(spark, root, mode, given)
        spark.stop()


if __name__ == "__main__":
    main()
