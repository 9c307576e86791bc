"""How long a person waits for the first result: whole processes, from the command to its exit, sides in turns.

python -m tests.benchmarks.first_result [--runs 3] [--only run emit auto shell]

The example of README.md runs by ``sqlext run``: on Spark, with an EMIT clause on Spark, and with
``'sqlext.engine' = 'auto'``. Beside it runs a bare PySpark script that starts the same Spark and writes the same
answer to a Delta table in one batch. ``sqlext shell -e "SELECT 1"`` runs beside a script that does the same.
One round warms caches up and does not count. Prints the median of seconds, of seconds of CPU (with all processes
below), and both divided by those of the bare script.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.pages import blocks

_CHILD_SUBREAPER = 36
_EMIT = " EMIT AFTER WATERMARK EARLY EVERY 30s LATE EVERY ROW ALLOW LATENESS 1d"
_START = """
from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession
builder = (
    SparkSession.builder.master("local[*]")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.session.timeZone", "UTC")
)
spark = configure_spark_with_delta_pip(builder).getOrCreate()
"""
_BARE = (
    _START
    + """
from pyspark.sql import functions as f
rows = spark.read.schema("item STRING, amount DOUBLE, ts TIMESTAMP_NTZ").json("data/orders")
sums = rows.groupBy("item", f.window("ts", "1 minute")).agg(f.sum("amount").alias("total"))
answer = sums.select("item", f.col("window.start").alias("minute"), "total")
answer.write.format("delta").save("{out}/per_minute")
spark.read.format("delta").load("{out}/per_minute").show()
spark.stop()
"""
)
_SELECT = _START + 'spark.sql("SELECT 1").show()\nspark.stop()\n'


class Side(NamedTuple):
    """A command, and the name of the one that it is compared with."""

    command: Sequence[str]
    beside: str


class Taken(NamedTuple):
    """What one process took, with all below it.

    Attributes:
        seconds: from its start to its exit.
        cpu: seconds of CPU, in it and all processes below it.
    """

    seconds: float
    cpu: float


def sides() -> Mapping[str, Side]:
    """Return the commands; ``{out}`` is a folder of each run's own."""
    sqlext = str(Path(sys.executable).with_name("sqlext"))
    run = (sqlext, "run", "--define", "IN=data", "--define", "OUT={out}", "--catalog", "{out}/catalog")
    bare = (sys.executable, "-c")
    return {
        "bare": Side((*bare, _BARE), "bare"),
        "run": Side((*run, "orders.sql"), "bare"),
        "emit": Side((*run, "early.sql"), "bare"),
        "auto": Side((*run, "orders.sql", "--conf", "sqlext.engine=auto"), "bare"),
        "select": Side((*bare, _SELECT), "select"),
        "shell": Side((sqlext, "shell", "--catalog", "{out}/catalog", "-e", "SELECT 1"), "select"),
    }


def write_example(folder: Path) -> None:
    """Write the files of README.md, and the script with an EMIT clause, into a folder."""
    for block in blocks("../README.md"):
        if block.file:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text)
    script = (folder / "orders.sql").read_text()
    (folder / "early.sql").write_text(script.replace("window_end;", f"window_end{_EMIT};"))


def take(command: Sequence[str], folder: Path) -> Taken:
    """Run a command in a folder.

    Raises:
        SystemExit: the command failed; the message is its output.
    """
    with tempfile.TemporaryDirectory() as out:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        words = [word.replace("{out}", out) for word in command]
        done = subprocess.run(words, cwd=folder, env=os.environ, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - began
        _reap()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return Taken(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _reap() -> None:
    """Wait for what a command left behind: the JVM ends after the Python that started it."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def main() -> None:
    """Run the sides in turns and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[*sides()])
    chosen = parser.parse_args()
    # Processes that lose their parent become ours, so that their CPU is counted (prctl(2)).
    ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        write_example(folder)
        every = sides()
        wanted = {name: side for name, side in every.items() if not chosen.only or name in chosen.only}
        wanted |= {side.beside: every[side.beside] for side in wanted.values()}
        taken: dict[str, list[Taken]] = {name: [] for name in wanted}
        for _ in range(chosen.runs + 1):
            for name, side in wanted.items():
                taken[name].append(take(side.command, folder))
    typical = {
        name: Taken(median(t.seconds for t in runs[1:]), median(t.cpu for t in runs[1:]))
        for name, runs in taken.items()
    }
    for name, side in wanted.items():
        own, other = typical[name], typical[side.beside]
        ratios = f"{own.seconds / other.seconds:.2f} (CPU {own.cpu / other.cpu:.2f}) times {side.beside}"
        print(f"{name:8} {own.seconds:6.2f} s {own.cpu:6.2f} s of CPU  {ratios}")


if __name__ == "__main__":
    main()
