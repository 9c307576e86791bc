"""Two queries over the same parquet files, of which one does more: FILL beside none, as-of joins beside a temporal one.

python tests/benchmarks/side_by_side.py [--rows 1000000] [--runs 3] [--only NAME ...]

Prints seconds within micro-batches (median), and the second query's time divided by the first's: 2.00 is twice as long.
Both take turns in one warm session.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pyspark.sql import SparkSession

import sqlext
from sqlext.spark.local import local_spark
from tests.benchmarks.operators import write_input

_TABLES = """
CREATE TABLE l (k BIGINT, id BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'parquet');
CREATE TABLE r (k BIGINT, id BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'parquet');
CREATE TABLE keys (k BIGINT) WITH ('connector' = 'filesystem', 'path' = '{source}-keys', 'format' = 'parquet');
CREATE TABLE out (a BIGINT, b BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE ups (a BIGINT, id BIGINT, b BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'blackhole');
"""
_WINDOW = "FROM TABLE({}) GROUP BY k, window_start, window_end"
_TUMBLE = "TUMBLE(TABLE l, DESCRIPTOR(ts), INTERVAL '{}' SECOND)"
_AS_OF = "FROM l LEFT ASOF JOIN r MATCH_CONDITION ({}) ON l.k = r.k"
_TEMPORAL = "INSERT INTO out SELECT l.k, r.v FROM l LEFT JOIN r FOR SYSTEM_TIME AS OF l.ts ON l.k = r.k"


class Pair(NamedTuple):
    """Two INSERTs that are compared."""

    name: str
    first: str
    second: str


def pairs() -> list[Pair]:
    """Return what is compared."""
    found = []
    # Keys have a row each 10 s: in windows of 10 s hardly any is without rows, in those of 4 s more than half are.
    for seconds in (10, 4):
        query = f"INSERT INTO out SELECT k, SUM(v) {_WINDOW.format(_TUMBLE.format(seconds))}"
        found.append(Pair(f"FILL, windows of {seconds} s", query, f"{query} EMIT FILL FOR 1m"))
        found.append(Pair(f"FILL of a table, {seconds} s", query, f"{query} EMIT FILL FOR EACH KEY OF keys"))
    # Windows of 10 s each 4 s give as many rows as those of 4 s that are filled: what giving out rows costs.
    hop = (
        _TUMBLE.format(4)
        .replace("TUMBLE", "HOP")
        .replace("INTERVAL '4' SECOND", "INTERVAL '4' SECOND, INTERVAL '10' SECOND")
    )
    given = f"INSERT INTO out SELECT k, SUM(v) {_WINDOW.format(hop)}"
    filled = f"INSERT INTO out SELECT k, SUM(v) {_WINDOW.format(_TUMBLE.format(4))} EMIT FILL FOR EACH KEY OF keys"
    found.append(Pair("FILL beside HOP of as many rows", given, filled))
    back, near = _AS_OF.format("l.ts >= r.ts"), _AS_OF.format("NEAREST(l.ts, r.ts)")
    near = near.replace(" ON ", " TOLERANCE INTERVAL '10' SECOND ON ")
    found.append(Pair("as-of join", _TEMPORAL, f"INSERT INTO out SELECT l.k, r.v {back}"))
    found.append(Pair("as-of join, NEAREST", _TEMPORAL, f"INSERT INTO out SELECT l.k, r.v {near}"))
    found.append(Pair("as-of join, at once", _TEMPORAL, f"INSERT INTO ups SELECT l.k, l.id, r.v {back} EMIT CHANGES"))
    return found


def seconds_of(spark: SparkSession, source: Path, out: Path, insert: str) -> float:
    """Run a query; return the seconds of its micro-batches."""
    session = sqlext.connect(spark, catalog=str(out / "catalog"))
    session.run(_TABLES.format(source=source))
    result = session.sql(insert)
    assert result.query is not None
    return float(result.query.progress["busy_ms"]) / 1000


def compare(spark: SparkSession, root: Path, source: Path, pair: Pair, runs: int) -> None:
    """Measure both in turns and print."""
    times: list[list[float]] = [[], []]
    for run in range(runs + 1):
        for side in (0, 1) if run % 2 else (1, 0):
            out = root / f"{side}-{run}"
            taken = seconds_of(spark.newSession(), source, out, pair[side + 1])
            if run:  # the first one warms up
                times[side].append(taken)
            shutil.rmtree(out)
    first, second = map(median, times)
    print(f"{pair.name:28} {first:6.2f} s, {second:6.2f} s, ratio {second / first:.2f}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        spark = local_spark(cores=2, folder=root / "spark", settings={"spark.driver.memory": "8g"})
        source = root / "in"
        write_input(spark, source, arguments.rows)
        spark.read.parquet(str(source)).select("k").distinct().coalesce(1).write.parquet(f"{source}-keys")
        for pair in pairs():
            if not arguments.only or any(o in pair.name for o in arguments.only):
                compare(spark, root, source, pair, arguments.runs)
        spark.stop()


if __name__ == "__main__":
    main()
