"""The window operator against Spark's own window aggregate, on the same parquet files.

python tests/benchmarks/stateful.py [--rows 4000000] [--runs 5] [--keys 1000 1000000] [--only NAME ...] [--sides ...]

Prints seconds within micro-batches (median) and Spark's divided by ours: 1.00 is equal, more is faster than Spark. The
sides take turns in one warm session: Spark, the operator over Spark's reader (``jvm``), and over ours, which combines
rows where it reads them (``arrow``). CUMULATE, which Spark has not, is set against Spark's HOP of the same lengths.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming import StreamingQuery

import sqlext
from sqlext.spark.local import local_spark

_SCHEMA = "k BIGINT, v INT, ts TIMESTAMP"
_TABLES = """
CREATE TABLE src (k BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'parquet');
CREATE TABLE out (k BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT, pane INT)
WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'parquet');
SET 'sqlext.source' = '{path}';
"""
_QUERY = """
INSERT INTO out SELECT k, window_start, window_end, COUNT(*), SUM(v), PANE_INDEX()
FROM TABLE({window}) GROUP BY k, window_start, window_end{emit}
"""


class Question(NamedTuple):
    """A window as a table function, what stands in EMIT, and Spark's nearest."""

    name: str
    sql: str
    emit: str
    spark: Column


class Given(NamedTuple):
    """Which sides are measured, and how often."""

    sides: list[str]
    runs: int


Side = Callable[[SparkSession, Path, Path, Question], float]


def questions() -> list[Question]:
    """Return what is measured."""
    hop = "HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND)"
    tumble = "TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
    cumulate = "CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND)"
    session = "SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND)"
    hopping, tumbling = F.window("ts", "10 seconds", "2 seconds"), F.window("ts", "10 seconds")
    return [
        Question("TUMBLE 10 s", tumble, "", tumbling),
        Question("HOP 2 s / 10 s", hop, "", hopping),
        Question("CUMULATE 2 s / 10 s", cumulate, "", hopping),
        Question("SESSION 1 s", session, "", F.session_window("ts", "1 second")),
        Question("TUMBLE, early 1 s", tumble, " EMIT AFTER WATERMARK EARLY EVERY 1s", tumbling),
    ]


def write_input(spark: SparkSession, folder: Path, rows: int, keys: int) -> None:
    """Write four files of rows over 1,000 s, the keys in turns."""
    frame = spark.range(0, rows, 1, 4).selectExpr(
        f"id * 7919 % {keys} AS k",
        "CAST(id % 97 AS INT) AS v",
        f"timestamp_millis(1704067200000 + CAST(id * 1000000 / {rows} AS BIGINT)) AS ts",
    )
    frame.write.parquet(str(folder))


def by_spark(spark: SparkSession, source: Path, out: Path, question: Question) -> float:
    """Run the question in Spark's own operators; return the seconds of its micro-batches."""
    frame = (
        spark.readStream.schema(_SCHEMA)
        .parquet(str(source))
        .withWatermark("ts", "5 seconds")
        .groupBy(question.spark.alias("window"), "k")
        .agg(F.count("*").alias("n"), F.sum("v").alias("total"))
        .select("k", F.col("window.start").alias("s"), F.col("window.end").alias("e"), "n", "total")
    )
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(out / "ck"))
    query = writer.trigger(availableNow=True).start(str(out / "rows"))
    query.awaitTermination()
    return _in_batches([query])


def by_operator(path: str) -> Side:
    """Return what runs the question in the window operator, the table read by ``path``."""

    def run(spark: SparkSession, source: Path, out: Path, question: Question) -> float:
        session = sqlext.connect(spark, catalog=str(out / "catalog"))
        session.run(_TABLES.format(source=source, out=out / "rows", path=path))
        result = session.sql(_QUERY.format(window=question.sql, emit=question.emit).strip())
        assert result.query is not None
        return float(result.query.progress["busy_ms"]) / 1000

    return run


def _in_batches(queries: Iterable[StreamingQuery]) -> float:
    return sum(p.durationMs["triggerExecution"] for q in queries for p in q.recentProgress) / 1000


SIDES: dict[str, Side] = {"spark": by_spark, "jvm": by_operator("spark"), "arrow": by_operator("arrow")}


def compare(spark: SparkSession, root: Path, source: Path, keys: int, question: Question, given: Given) -> None:
    """Measure the sides in turns and print."""
    times: dict[str, list[float]] = {name: [] for name in given.sides}
    for run in range(given.runs + 1):
        for name in given.sides[:: 1 if run % 2 else -1]:
            out = root / f"{name}-{run}"
            taken = SIDES[name](spark.newSession(), source, out, question)
            if run:  # the first one warms up
                times[name].append(taken)
            shutil.rmtree(out)
    theirs = median(times["spark"]) if "spark" in times else None
    shown = [f"{name} {median(t):5.2f} s{_ratio(theirs, name, median(t))}" for name, t in times.items()]
    print(f"{keys:>9,} keys  {question.name:20} {', '.join(shown)}", flush=True)


def _ratio(theirs: float | None, name: str, ours: float) -> str:
    return "" if theirs is None or name == "spark" else f" (ratio {theirs / ours:.2f})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keys", type=int, nargs="*", default=[1_000, 1_000_000])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--sides", nargs="*", default=list(SIDES))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        spark = local_spark(cores=2, folder=root / "spark")
        for keys in arguments.keys:
            source = root / f"in-{keys}"
            write_input(spark, source, arguments.rows, keys)
            for question in questions():
                if not arguments.only or any(o in question.name for o in arguments.only):
                    compare(spark, root, source, keys, question, Given(arguments.sides, arguments.runs))
        spark.stop()


if __name__ == "__main__":
    main()
