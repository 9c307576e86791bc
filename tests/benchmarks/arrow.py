"""Windows over files: rows decoded and combined by Arrow where they are read, against Spark's reader and operators.

python tests/benchmarks/arrow.py [--rows 2000000] [--rounds 3] [--keys 1000] [--formats csv json parquet] [--only NAME]

Each side is a query without end over a folder. A small round warms it up (Python processes, code generation); then
rounds of four files come, each later in time than the one before. Prints seconds within the micro-batches of a round
(median), the seconds of processor time that it took (which other work on the machine does not make more), and Spark's
time divided by ours. All sides of a question get the same files in one session.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from deltalake import write_deltalake
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming import StreamingQuery

import sqlext
from sqlext.spark.local import local_spark

_START, _SECONDS = 1_704_067_200_000, 1_000
_SCHEMA = "k BIGINT, v INT, ts TIMESTAMP"
_TABLES = """
CREATE TABLE src (k BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = '{format}', 'source.monitor-interval' = '1 ms');
CREATE TABLE out (k BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'parquet');
SET 'sqlext.source' = '{path}';
"""
_QUERY = """
INSERT INTO out SELECT k, window_start, window_end, COUNT(*), SUM(v)
FROM TABLE({window}) GROUP BY k, window_start, window_end
"""


class Question(NamedTuple):
    """A window as a table function, and Spark's nearest."""

    name: str
    sql: str
    spark: Column


class Started(NamedTuple):
    """A running query, and how to stop it."""

    spark: StreamingQuery
    stop: Callable[[], None]


def questions() -> list[Question]:
    """Return what is measured. CUMULATE, which Spark has not, is set against its HOP of the same lengths."""
    ten, two = "INTERVAL '10' SECOND", "INTERVAL '2' SECOND"
    hopping = F.window("ts", "10 seconds", "2 seconds")
    session = F.session_window("ts", "1 second")
    return [
        Question("TUMBLE", f"TUMBLE(TABLE src, DESCRIPTOR(ts), {ten})", F.window("ts", "10 seconds")),
        Question("HOP", f"HOP(TABLE src, DESCRIPTOR(ts), {two}, {ten})", hopping),
        Question("CUMULATE", f"CUMULATE(TABLE src, DESCRIPTOR(ts), {two}, {ten})", hopping),
        Question("SESSION", "SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND)", session),
    ]


def write_round(folder: Path, number: int, rows: int, keys: int, form: str, files: int = 4) -> None:
    """Write a round of files: rows spread over 1,000 s, behind those of the round before; files have them in turns."""
    folder.mkdir(parents=True)
    first = _START + number * _SECONDS * 1000
    for file in range(files):
        ids = np.arange(file, rows, files)
        times = pa.array(first + ids * (_SECONDS * 1000) // rows, pa.timestamp("ms"))
        columns = {"k": ids * 7919 % keys, "v": pa.array(ids % 97, pa.int32()), "ts": times}
        _WRITERS[form](pa.table(columns), folder / f"{file}.{form}")


def _write_csv(table: pa.Table, place: Path) -> None:
    options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
    pa.csv.write_csv(table, place, options)


def _write_json(table: pa.Table, place: Path) -> None:
    times = table.column("ts").cast(pa.string()).to_pylist()
    rows = zip(table.column("k").to_pylist(), table.column("v").to_pylist(), times, strict=True)
    place.write_text("".join(f'{{"k":{k},"v":{v},"ts":"{t}"}}\n' for k, v, t in rows), encoding="utf-8")


def _write_parquet(table: pa.Table, place: Path) -> None:
    instants = table.column("ts").cast(pa.timestamp("us", "UTC"))
    pa.parquet.write_table(table.set_column(2, "ts", instants), place, compression="snappy")


def _write_delta(table: pa.Table, place: Path) -> None:
    instants = table.column("ts").cast(pa.timestamp("us", "UTC"))
    write_deltalake(str(place.parent), table.set_column(2, "ts", instants), mode="append")


_WRITERS = {"csv": _write_csv, "json": _write_json, "parquet": _write_parquet, "delta": _write_delta}


def by_spark(spark: SparkSession, source: Path, out: Path, question: Question, form: str) -> Started:
    """Start the question in Spark's own reader and operators."""
    reader = spark.readStream.schema(_SCHEMA).format(form).option("recursiveFileLookup", "true")
    frame = (
        reader.load(str(source))
        .withWatermark("ts", "5 seconds")
        .groupBy(question.spark.alias("window"), "k")
        .agg(F.count("*").alias("n"), F.sum("v").alias("total"))
        .select("k", F.col("window.start").alias("s"), F.col("window.end").alias("e"), "n", "total")
    )
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(out / "ck"))
    query = writer.start(str(out / "rows"))
    return Started(query, query.stop)


def by_sqlext(path: str) -> Callable[[SparkSession, Path, Path, Question, str], Started]:
    """Return what starts the question in sqlext, tables read by ``path``."""

    def start(spark: SparkSession, source: Path, out: Path, question: Question, form: str) -> Started:
        session = sqlext.connect(spark, catalog=str(out / "catalog"))
        session.run(_TABLES.format(source=source, out=out / "rows", format=form, path=path))
        query = session.sql(_QUERY.format(window=question.sql).strip()).query
        assert query is not None
        (running,) = query.running.values()
        return Started(running, query.stop)

    return start


SIDES = {"spark": by_spark, "jvm": by_sqlext("spark"), "arrow": by_sqlext("arrow")}


class Taken(NamedTuple):
    """Seconds of a round: within its micro-batches, and of processor time."""

    busy: float
    cpu: float


def rounds(started: Started, source: Path, staged: list[Path], *, verbose: bool) -> Iterator[Taken]:
    """Give a query round after round; yield what each takes."""
    for number, folder in enumerate(staged):
        cpu = _cpu_seconds()
        before = started.spark.lastProgress.batchId if started.spark.lastProgress else -1
        folder.rename(source / str(number))
        reports = _until_idle(started.spark, before)
        if verbose:
            for report in reports:
                print(f"    {report.batchId}: {dict(sorted(report.durationMs.items()))}", flush=True)
        yield Taken(sum(r.durationMs["triggerExecution"] for r in reports) / 1000, _cpu_seconds() - cpu)


def _cpu_seconds() -> float:
    """Return the processor time of this process and all below it, and of those that these have waited for."""
    return sum(processes_below().values()) / os.sysconf("SC_CLK_TCK")


def processes_below() -> dict[int, int]:
    """Return this process and all below it, each with the clock ticks that it and what it has waited for have taken."""
    parents, ticks = {}, {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        number = int(place.parent.name)
        parents[number], ticks[number] = int(fields[1]), sum(map(int, fields[11:15]))
    found, below = {}, [os.getpid()]
    while below:
        number = below.pop()
        found[number] = ticks.get(number, 0)
        below += [child for child, parent in parents.items() if parent == number]
    return found


def _until_idle(query: StreamingQuery, before: int) -> list:  # type: ignore[type-arg]
    """Wait until a query has taken what came and closed its windows; return the reports of its batches."""
    while True:
        if query.exception() is not None:
            raise RuntimeError(str(query.exception()))
        reports = {r.batchId: r for r in query.recentProgress if r.batchId > before and "addBatch" in r.durationMs}
        idle = not query.status["isDataAvailable"] and not query.status["isTriggerActive"]
        if len(reports) > 1 and idle and _is_idle_still(query):
            return list(reports.values())
        time.sleep(0.2)


def _is_idle_still(query: StreamingQuery) -> bool:
    seen = query.lastProgress.batchId
    time.sleep(1)
    return query.lastProgress.batchId == seen


def measure(spark: SparkSession, root: Path, question: Question, form: str, given: argparse.Namespace) -> None:
    """Measure all sides and print."""
    taken: dict[str, Taken] = {}
    for name in given.sides:
        work = root / name
        source, out = work / "in", work / "out"
        source.mkdir(parents=True)
        staged = [work / f"round-{i}" for i in range(given.rounds + 1)]
        for number, folder in enumerate(staged):
            write_round(folder, number, given.rows if number else 1_000, given.keys, form)
        started = SIDES[name](spark.newSession(), source, out, question, form)
        found = list(rounds(started, source, staged, verbose=given.verbose))[1:]
        started.stop()
        taken[name] = Taken(median(t.busy for t in found), median(t.cpu for t in found))
        shutil.rmtree(work)
    shown = [f"{name} {t.busy:6.2f} s (cpu {t.cpu:6.2f} s)" for name, t in taken.items()]
    if "spark" in taken:
        by = taken["spark"]
        others = {name: t for name, t in taken.items() if name != "spark"}
        shown += [f"{n}: {by.busy / t.busy:.2f} times Spark (cpu {by.cpu / t.cpu:.2f})" for n, t in others.items()]
    print(f"{form:8} {question.name:9} {', '.join(shown)}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--formats", nargs="*", default=["csv", "json", "parquet"])
    parser.add_argument("--sides", nargs="*", default=list(SIDES))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        spark = local_spark(cores=2, folder=root / "spark")
        for form in given.formats:
            for question in questions():
                if not given.only or question.name in given.only:
                    measure(spark, root / f"{form}-{question.name}", question, form, given)
        spark.stop()


if __name__ == "__main__":
    main()
