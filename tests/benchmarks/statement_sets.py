"""Five INSERTs over one table: a statement set, beside each of them alone.

python -m tests.benchmarks.statement_sets [--rows 16000000] [--keys 1000] [--forms csv] [--runs 3] [--here] [--streams]

Prints the seconds of each INSERT alone and of the set; then the set divided by the dearest one. All run
in turns in one session, and the first round warms it up. The set must write what the INSERTs write alone.
``--here`` runs all in this process, without Spark; ``--streams`` so that the queries have no end, over a Delta table
of as many commits as rounds, or as many files, until all that is there is read.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake

import sqlext
from sqlext.spark.local import local_spark
from tests.benchmarks.arrow import write_round

_SOURCE = """
CREATE TABLE src (k BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ({source});
"""
_FILES = "'connector' = 'filesystem', 'path' = '{source}', 'format' = '{form}'"
_DELTA = "'connector' = 'delta', 'path' = '{source}'"
_ENDLESS = ", 'source.monitor-interval' = '1 s'"
_ROUNDS = 16
_SINK = """
CREATE TABLE {name} (k BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{out}/{name}', 'format' = 'parquet');
"""
_TUMBLE = "TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
_HOP = "HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND)"
_KEYS = "k, window_start, window_end"
#: Name of the sink -> its rows: the same window with other aggregates, another window, a filter, another key.
QUESTIONS = {
    "counted": f"SELECT {_KEYS}, COUNT(*), SUM(v) FROM TABLE({_TUMBLE}) GROUP BY {_KEYS}",
    "extremes": f"SELECT {_KEYS}, MIN(v), MAX(v) FROM TABLE({_TUMBLE}) GROUP BY {_KEYS}",
    "hopping": f"SELECT {_KEYS}, COUNT(*), SUM(v) FROM TABLE({_HOP}) GROUP BY {_KEYS}",
    "large": f"SELECT {_KEYS}, COUNT(*), SUM(v) FROM TABLE({_TUMBLE}) WHERE v > 50 GROUP BY {_KEYS}",
    "all_keys": f"SELECT 0, window_start, window_end, COUNT(*), SUM(v) FROM TABLE({_TUMBLE}) "
    "GROUP BY window_start, window_end",
}


def script(names: list[str], source: Path, form: str, out: Path, *, endless: bool = False) -> str:
    """Return INSERTs as one statement set."""
    tables = "".join(_SINK.format(name=name, out=out) for name in names)
    inserts = "\n".join(f"INSERT INTO {name} {QUESTIONS[name]};" for name in names)
    options = (_DELTA if form == "delta" else _FILES).format(source=source, form=form) + (_ENDLESS if endless else "")
    return f"{_SOURCE.format(source=options)}{tables}EXECUTE STATEMENT SET BEGIN\n{inserts}\nEND;"


def write_input(source: Path, rows: int, keys: int, form: str, *, endless: bool) -> None:
    """Write two files; for queries without an end files one after the other, or a Delta table commit by commit."""
    if not endless:
        write_round(source, 0, rows, keys, form, files=2)
        return
    source.mkdir()
    for number in range(_ROUNDS):
        made = source.parent / "round"
        write_round(made, number, rows // _ROUNDS, keys, "parquet" if form == "delta" else form, files=1)
        if form == "delta":
            table = pq.read_table(made / "0.parquet")
            write_deltalake(str(source), table.set_column(2, "ts", table["ts"].cast(pa.timestamp("us"))), mode="append")
        else:
            (made / f"0.{form}").rename(source / f"{number:02}.{form}")
        shutil.rmtree(made)


def taken(spark: sqlext.session.SparkSession | None, text: str, work: Path, *, endless: bool = False) -> float:
    """Run a job to its end, without Spark in this process; return its seconds."""
    own = spark.newSession() if spark is not None else None
    settings = {"sqlext.engine": "local" if own is None else "spark"}
    session = sqlext.connect(own, catalog=str(work / "catalog"), settings=settings)
    start = time.perf_counter()
    query = session.run(text)[-1].query
    if endless:
        assert query is not None
        query.process_available()
        query.stop()
    return time.perf_counter() - start


def written(out: Path, names: list[str]) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of each sink, sorted."""
    return {n: sorted(tuple(r.values()) for r in pq.read_table(out / n).to_pylist()) for n in names}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=16_000_000)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--forms", nargs="*")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--streams", action="store_true")
    given = parser.parse_args()
    given.here |= given.streams
    given.forms = given.forms or ["delta" if given.streams else "csv"]
    names = list(QUESTIONS)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        spark = None if given.here else local_spark(cores=2, folder=root / "spark")
        for form in given.forms:
            source, out = root / "in", root / "out"
            write_input(source, given.rows, given.keys, form, endless=given.streams)
            asked = {**{name: [name] for name in names}, "the set": names}
            seconds: dict[str, list[float]] = {what: [] for what in asked}
            alone: dict[str, list[tuple[object, ...]]] = {}
            for _ in range(given.runs + 1):
                for what, sinks in asked.items():
                    text = script(sinks, source, form, out, endless=given.streams)
                    seconds[what].append(taken(spark, text, out, endless=given.streams))
                    found = written(out, sinks)
                    assert what != "the set" or found == alone, "the set writes other rows"
                    alone |= found
                    shutil.rmtree(out)
            mid = {what: median(times[1:]) for what, times in seconds.items()}
            for what, busy in mid.items():
                print(f"{form:8}{what:10}{given.rows:>12,} rows {busy:7.2f} s", flush=True)
            dearest = max(mid[n] for n in names)
            print(f"{form:8}the set is {mid['the set'] / dearest:.2f} times the dearest one, ", end="")
            print(f"{mid['the set'] / sum(mid[n] for n in names):.2f} of all one after the other", flush=True)
            shutil.rmtree(source)
        if spark is not None:
            spark.stop()


if __name__ == "__main__":
    main()
