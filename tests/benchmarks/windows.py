"""A rewritten window query against the same query written by hand in Structured Streaming.

python tests/benchmarks/windows.py [--rows 5000000] [--runs 7] [--formats parquet json csv]

Prints seconds (median) and their ratio, hand-written / ours: 1.00 is equal, more is faster than by hand.
``batches`` is the time within micro-batches: what a job pays as long as it runs. ``whole`` is from the call to the
end: ours also checks the statement and records the query in the catalog, about 0.2 s once.
Both sides take turns in one warm session, because the machine may be shared.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming import StreamingQuery

import sqlext
from sqlext.spark.local import local_spark

_SCHEMA = "k STRING, v INT, ts TIMESTAMP"
_TABLES = """
CREATE TABLE src (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = '{format}');
CREATE TABLE out (k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'parquet');
"""
_QUERY = """
INSERT INTO out SELECT k, window_start, window_end, COUNT(*), SUM(v)
FROM TABLE({window}) GROUP BY k, window_start, window_end;
"""


class Times(NamedTuple):
    """Seconds of a run."""

    batches: float
    whole: float


class Window(NamedTuple):
    """A window as a table function, and as Spark's ``window()`` has it."""

    name: str
    sql: str
    lengths: tuple[str, ...]


WINDOWS = (
    Window("TUMBLE 10 s", "TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)", ("10 seconds",)),
    Window(
        "HOP 2 s / 10 s",
        "HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND)",
        ("10 seconds", "2 seconds"),
    ),
)


def write_input(spark: SparkSession, folder: Path, rows: int, format: str) -> None:
    """Write two files of rows with 1,000 keys over 1,000 s."""
    frame = spark.range(0, rows, 1, 2).selectExpr(
        "concat('key-', id % 1000) AS k",
        "CAST(id % 97 AS INT) AS v",
        f"timestamp_millis(1704067200000 + CAST(id * 1000000 / {rows} AS BIGINT)) AS ts",
    )
    if format != "parquet":
        frame = frame.withColumn("ts", F.date_format("ts", "yyyy-MM-dd HH:mm:ss.SSS"))
    frame.write.format(format).save(str(folder))


def by_hand(spark: SparkSession, source: Path, out: Path, format: str, window: Window) -> Times:
    """Run the query as one would write it; return its seconds."""
    started = time.perf_counter()
    reader = spark.readStream.schema(_SCHEMA).format(format).option("timestampFormat", "yyyy-MM-dd HH:mm:ss.SSS")
    frame = (
        reader.load(str(source))
        .withWatermark("ts", "5 seconds")
        .groupBy(F.window("ts", *window.lengths), "k")
        .agg(F.count("*").alias("n"), F.sum("v").alias("total"))
        .select("k", F.col("window.start").alias("s"), F.col("window.end").alias("e"), "n", "total")
    )
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(out / "ck"))
    query = writer.trigger(availableNow=True).start(str(out / "rows"))
    query.awaitTermination()
    return Times(_in_batches([query]), time.perf_counter() - started)


def _in_batches(queries: Iterable[StreamingQuery]) -> float:
    return sum(p.durationMs["triggerExecution"] for q in queries for p in q.recentProgress) / 1000


def by_sqlext(spark: SparkSession, source: Path, out: Path, format: str, window: Window) -> Times:
    """Run the query over tables that are declared already; return its seconds."""
    session = sqlext.connect(spark, catalog=str(out / "catalog"))
    session.run(_TABLES.format(source=source, format=format, out=out / "rows"))
    started = time.perf_counter()
    result = session.sql(_QUERY.format(window=window.sql).strip())
    whole = time.perf_counter() - started
    assert result.query is not None
    return Times(float(result.query.progress["busy_ms"]) / 1000, whole)


def compare(spark: SparkSession, root: Path, source: Path, format: str, window: Window, runs: int) -> None:
    """Measure both sides in turns and print."""
    times: dict[str, list[Times]] = {"hand": [], "ours": []}
    for run in range(runs + 1):
        order = [("hand", by_hand), ("ours", by_sqlext)][:: 1 if run % 2 else -1]
        for name, side in order:
            out = root / f"{name}-{run}"
            taken = side(spark.newSession(), source, out, format, window)
            if run:  # the first one warms up
                times[name].append(taken)
            shutil.rmtree(out)
    print(f"{format:8} {window.name:15} {_shown(times, 'batches')}   {_shown(times, 'whole')}", flush=True)


def _shown(times: dict[str, list[Times]], what: str) -> str:
    hand, ours = ([getattr(t, what) for t in times[name]] for name in ("hand", "ours"))
    seconds = median(hand), median(ours)
    return f"{what}: by hand {seconds[0]:5.2f} s, sqlext {seconds[1]:5.2f} s, ratio {seconds[0] / seconds[1]:.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--formats", nargs="*", default=["parquet", "json", "csv"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        spark = local_spark(cores=2, folder=root / "spark")
        for format in arguments.formats:
            source = root / f"in-{format}"
            write_input(spark, source, arguments.rows, format)
            for window in WINDOWS:
                compare(spark, root, source, format, window, arguments.runs)
        spark.stop()


if __name__ == "__main__":
    main()
