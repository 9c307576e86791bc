"""How work is spread over executors: a standalone cluster on this machine, each worker a process with one core.

python -m tests.benchmarks.executors [--rows 8000000] [--keys 100000] [--executors 1 2 4]

Windows over files of csv, by our reader and operator, second of two jobs. For each number of executors prints the
seconds of the job, and each executor's share of the time that tasks ran, and of their number. On a machine with fewer
cores than executors the seconds do not fall; shares say what further machines would take over.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import sqlext
from sqlext.spark.local import configuration
from sqlext.spark.worker_processes import spark_home
from tests.benchmarks.arrow import write_round
from tests.cluster.standalone import cluster, packages_without

_SCRIPT = """
CREATE TABLE src (k BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'csv');
CREATE TABLE answer (k BIGINT, window_start TIMESTAMP(3), n BIGINT, total BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'parquet');
SET 'sqlext.source' = 'arrow';
INSERT INTO answer SELECT k, window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '100' SECOND)) GROUP BY k, window_start, window_end;
"""
_FILES, _JOBS = 8, 2


def drive(url: str, executors: int, source: str, folder: Path) -> tuple[float, float]:
    """Run the jobs on a cluster; return when the last one began (seconds since 1970), and its seconds.

    Its tasks are in the event log in ``folder``.
    """
    os.environ |= {"SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    (folder / "events").mkdir()
    settings = {"spark.executor.memory": "1g", "spark.eventLog.enabled": "true"}
    settings |= {"spark.eventLog.dir": (folder / "events").as_uri(), "spark.eventLog.rolling.enabled": "false"}
    settings |= {"spark.eventLog.compress": "false"}
    conf = configuration(executors, folder / "spark", ()).setMaster(url).setAll(list(settings.items()))
    spark = SparkSession.builder.config(conf=conf).getOrCreate()
    while spark.sparkContext.defaultParallelism < executors:
        spark.range(1).collect()
    for number in range(_JOBS):
        session = sqlext.connect(spark.newSession(), catalog=folder / f"catalog-{number}")
        began = time.time()
        session.run(_SCRIPT.format(source=source, out=folder / f"out-{number}"))
        taken = time.time() - began
    spark.stop()
    return began, taken


def shares(events: Path, since: float) -> list[tuple[str, float, int]]:
    """Return of each executor its share of the time of tasks that began after a time (ms since 1970), and how many."""
    times, tasks = Counter[str](), Counter[str]()
    for line in next(iter(events.iterdir())).read_text("utf-8").splitlines():
        event: dict[str, Any] = json.loads(line)
        if event["Event"] == "SparkListenerTaskEnd" and event["Task Info"]["Launch Time"] >= since:
            executor = event["Task Info"]["Executor ID"]
            times[executor] += event["Task Info"]["Finish Time"] - event["Task Info"]["Launch Time"]
            tasks[executor] += 1
    return [(executor, time / times.total(), tasks[executor]) for executor, time in sorted(times.items())]


def measured(executors: int, source: Path, root: Path, packages: Path) -> str:
    """Return the line of a number of executors."""
    folder = root / f"executors-{executors}"
    folder.mkdir()
    with cluster(folder / "cluster", *[packages] * executors) as running:
        words = ["--drive", running.url, str(executors), str(source), str(folder)]
        found = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.executors", *words],
            env={**os.environ, "PYSPARK_PYTHON": str(running.python)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    began, taken = map(float, found.stdout.splitlines()[-1].split())
    parts = shares(folder / "events", began * 1000)
    told = ", ".join(f"{share:.0%} of the time and {tasks} tasks" for _, share, tasks in parts)
    return f"{executors} executors: {taken:.2f} s; {told}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--executors", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--drive", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.drive:
        url, executors, source, folder = given.drive
        print(*drive(url, int(executors), source, Path(folder)))
        return
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        write_round(root / "in", 0, given.rows, given.keys, "csv", _FILES)
        packages = packages_without(root / "packages", ())
        for executors in given.executors:
            print(measured(executors, root / "in", root, packages), flush=True)


if __name__ == "__main__":
    main()
