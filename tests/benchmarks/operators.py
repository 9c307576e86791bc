"""Operators over streams against Spark's nearest, on the same parquet files.

python tests/benchmarks/operators.py [--rows 1000000] [--runs 3] [--only NAME ...]

Prints seconds within micro-batches (median), rows a second, and Spark's time divided by ours where Spark has such an
operator: 1.00 is equal, more is faster than Spark. Both sides take turns in one warm session.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import sqlext
from sqlext.spark.local import local_spark

_SCHEMA = "k BIGINT, id BIGINT, v INT, ts TIMESTAMP"
_KEYS = 10_000
_TABLES = """
CREATE TABLE l (k BIGINT, id BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'parquet');
CREATE TABLE r (k BIGINT, id BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'parquet');
CREATE TABLE out (a BIGINT, b BIGINT) WITH ('connector' = 'blackhole');
"""
_INTERVAL = "b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts + INTERVAL '1' SECOND"


class Question(NamedTuple):
    """A query that gives two numbers, and Spark's nearest over two copies of the input."""

    name: str
    sql: str
    spark: Callable[[DataFrame, DataFrame], DataFrame] | None


def _joined(how: str) -> Callable[[DataFrame, DataFrame], DataFrame]:
    def join(a: DataFrame, b: DataFrame) -> DataFrame:
        second = "INTERVAL '1' SECOND"
        near = F.expr(f"a.ts >= b.ts - {second} AND a.ts <= b.ts + {second}")
        return a.alias("a").join(b.alias("b"), F.expr("a.id = b.id") & near, how).select("a.k", "b.v")

    return join


def questions() -> list[Question]:
    """Return what is measured."""
    rank = "ROW_NUMBER() OVER (PARTITION BY k ORDER BY {})"
    top = f"SELECT k, id FROM (SELECT *, {rank.format('v DESC, id')} AS n FROM l) WHERE n <= 3"
    first = f"SELECT k, id FROM (SELECT *, {rank.format('ts')} AS n FROM l) WHERE n = 1"
    window = "TABLE(TUMBLE(TABLE l, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    return [
        Question(
            "inner join",
            "SELECT a.k, b.v FROM l AS a JOIN r AS b ON a.id = b.id",
            lambda a, b: a.alias("a").join(b.alias("b"), "id").select("a.k", "b.v"),
        ),
        Question(
            "interval join", f"SELECT a.k, b.v FROM l AS a JOIN r AS b ON a.id = b.id AND {_INTERVAL}", _joined("inner")
        ),
        Question(
            "interval left join",
            f"SELECT a.k, b.v FROM l AS a LEFT JOIN r AS b ON a.id = b.id AND {_INTERVAL}",
            _joined("left"),
        ),
        Question("first row by time", first, lambda a, _: a.dropDuplicatesWithinWatermark(["k"]).select("k", "id")),
        Question("top 3", top, None),
        Question(
            "window top 3",
            "SELECT k, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) "
            f"AS n FROM {window}) WHERE n <= 3",
            None,
        ),
        Question(
            "aggregate of an aggregate",
            "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM l GROUP BY k) GROUP BY n",
            None,
        ),
        Question(
            "OVER 10 rows",
            "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) FROM l",
            None,
        ),
        Question(
            "MATCH_RECOGNIZE",
            "SELECT k, x FROM l MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(B.id) AS x "
            "AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE A AS A.v > 90, B AS B.v < 5) AS m",
            None,
        ),
    ]


def write_input(spark: SparkSession, folder: Path, rows: int) -> None:
    """Write four files of rows over 1,000 s, the keys in turns; ids are all different."""
    frame = spark.range(0, rows, 1, 4).selectExpr(
        f"id * 7919 % {_KEYS} AS k",
        "id",
        "CAST(id * 31 % 97 AS INT) AS v",
        f"timestamp_millis(1704067200000 + CAST(id * 1000000 / {rows} AS BIGINT)) AS ts",
    )
    frame.write.parquet(str(folder))


def by_spark(spark: SparkSession, source: Path, out: Path, question: Question) -> float:
    """Run the question in Spark's own operators; return the seconds of its micro-batches."""
    assert question.spark is not None
    sides = [spark.readStream.schema(_SCHEMA).parquet(str(source)).withWatermark("ts", "5 seconds") for _ in range(2)]
    writer = question.spark(*sides).writeStream.format("noop").option("checkpointLocation", str(out / "ck"))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return sum(p.durationMs["triggerExecution"] for p in query.recentProgress) / 1000


def by_operator(spark: SparkSession, source: Path, out: Path, question: Question) -> float:
    """Run the question in our operator; return the seconds of its micro-batches."""
    session = sqlext.connect(spark, catalog=str(out / "catalog"))
    session.run(_TABLES.format(source=source))
    result = session.sql(f"INSERT INTO out {question.sql}")
    assert result.query is not None
    return float(result.query.progress["busy_ms"]) / 1000


def compare(spark: SparkSession, root: Path, source: Path, rows: int, question: Question, runs: int) -> None:
    """Measure both sides in turns and print."""
    sides = [("ours", by_operator), *([("spark", by_spark)] if question.spark is not None else [])]
    times: dict[str, list[float]] = {name: [] for name, _ in sides}
    for run in range(runs + 1):
        for name, side in sides[:: 1 if run % 2 else -1]:
            out = root / f"{name}-{run}"
            taken = side(spark.newSession(), source, out, question)
            if run:  # the first one warms up
                times[name].append(taken)
            shutil.rmtree(out)
    ours = median(times["ours"])
    text = f"{question.name:28} {ours:6.2f} s, {rows / ours:>10,.0f} rows/s"
    if "spark" in times:
        theirs = median(times["spark"])
        text += f"; Spark {theirs:6.2f} s, ratio {theirs / ours:.2f}"
    print(text, flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        # Joins that nothing bounds keep both sides in memory: Spark's own dies of it with the 2 GiB of the default.
        spark = local_spark(cores=2, folder=root / "spark", settings={"spark.driver.memory": "8g"})
        source = root / "in"
        write_input(spark, source, arguments.rows)
        for question in questions():
            if not arguments.only or any(o in question.name for o in arguments.only):
                compare(spark, root, source, arguments.rows, question, arguments.runs)
        spark.stop()


if __name__ == "__main__":
    main()
