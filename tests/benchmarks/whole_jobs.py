"""Whole jobs over files, as rows and keys grow: seconds within micro-batches, what a row costs, and memory.

python -m tests.benchmarks.whole_jobs [--rows 16000000] [--keys 1000 10000 100000 1000000] [--forms csv]
    [--only TUMBLE HOP ...] [--window 10] [--sinks blackhole parquet] [--runs 2]

Rows are spread over 1,000 s of event time; ``--window`` is the length of windows in seconds (1000: one for all), so
it says how many results there are: with a million keys and windows of ten seconds nearly each row is a group of its
own. The first run of a question warms the JVM up and does not count (``--runs`` do, median). Memory is the most that
the JVM and all processes of Python took together (proportional set size).
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import tempfile
import threading
from pathlib import Path
from statistics import median
from typing import NamedTuple

import sqlext
from sqlext.spark.local import local_spark
from tests.benchmarks.arrow import processes_below, write_round

_TABLES = """
CREATE TABLE src (k BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = '{form}');
CREATE TABLE answer (k BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT)
WITH ({sink});
INSERT INTO answer SELECT k, window_start, window_end, COUNT(*), SUM(v)
FROM TABLE({window}) GROUP BY k, window_start, window_end;
"""
_SINKS = {
    "blackhole": "'connector' = 'blackhole'",
    "parquet": "'connector' = 'filesystem', 'path' = '{out}/rows', 'format' = 'parquet'",
    "json": "'connector' = 'filesystem', 'path' = '{out}/rows', 'format' = 'json'",
    "delta": "'connector' = 'delta', 'path' = '{out}/rows'",
}


class Taken(NamedTuple):
    """What a job took.

    Attributes:
        seconds: within its micro-batches.
        bytes: of memory, at most.
    """

    seconds: float
    bytes: int


class Peak:
    """Watches the memory of this process and all below it, ten times a second, while it is entered."""

    def __enter__(self) -> Peak:
        """Begin."""
        self.bytes, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """End."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self.bytes = max(self.bytes, sum(map(_held, processes_below())))


def _held(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def windows(seconds: int) -> dict[str, str]:
    """Return the window set, of windows of some length."""
    size, step = f"INTERVAL '{seconds}' SECOND(4)", f"INTERVAL '{seconds / 5:g}' SECOND(4)"
    return {
        "TUMBLE": f"TUMBLE(TABLE src, DESCRIPTOR(ts), {size})",
        "HOP": f"HOP(TABLE src, DESCRIPTOR(ts), {step}, {size})",
        "CUMULATE": f"CUMULATE(TABLE src, DESCRIPTOR(ts), {step}, {size})",
        "SESSION": "SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND)",
    }


def run(spark: sqlext.session.SparkSession, script: str, work: Path) -> Taken:
    """Run a job to its end."""
    with Peak() as peak:
        results = sqlext.connect(spark.newSession(), catalog=str(work / "catalog")).run(script)
    queries = [r.query for r in results if r.query is not None]
    shutil.rmtree(work)
    return Taken(sum(float(q.progress["busy_ms"]) for q in queries) / 1000, peak.bytes)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[16_000_000])
    parser.add_argument("--keys", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--forms", nargs="*", default=["csv"])
    parser.add_argument("--only", nargs="*", default=["TUMBLE"])
    parser.add_argument("--window", type=int, nargs="*", default=[10, 1000])
    parser.add_argument("--sinks", nargs="*", default=["parquet"])
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        spark = local_spark(cores=2, folder=root / "spark")
        for form, rows, keys in itertools.product(given.forms, given.rows, given.keys):
            source = root / "in"
            write_round(source, 0, rows, keys, form, files=2)
            for name, seconds, sink in itertools.product(given.only, given.window, given.sinks):
                options = _SINKS[sink].format(out=root / "out")
                script = _TABLES.format(source=source, form=form, sink=options, window=windows(seconds)[name])
                taken = [run(spark, script, root / "out") for _ in range(given.runs + 1)][1:]
                busy = median(t.seconds for t in taken)
                print(
                    f"{form:8}{name:9}{seconds:5} s {sink:10}{rows:>12,} rows {keys:>10,} keys {busy:7.2f} s "
                    f"{busy / rows * 1e9:7.0f} ns a row {max(t.bytes for t in taken) / 2**30:5.1f} GB",
                    flush=True,
                )
            shutil.rmtree(source)
        spark.stop()


if __name__ == "__main__":
    main()
