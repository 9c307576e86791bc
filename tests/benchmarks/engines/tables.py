"""Runs questions by DuckDB and Polars, in a Python of its own that has them (see the Makefile's ``bench``)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import duckdb
import polars as pl

from tests.benchmarks.engines.tasks import Taken, Task, cpu_seconds, serve

THREADS = 2
_COLUMNS = "{'k': 'BIGINT', 'v': 'INT', 'ts': 'TIMESTAMP'}"
_NAMES = "{'k': 'BIGINT', 'name': 'VARCHAR'}"
#: How DuckDB reads the files of a form; the columns are put in.
_READERS = {
    "csv": "read_csv('{files}', header = false, columns = {columns})",
    "json": "read_json('{files}', format = 'newline_delimited', columns = {columns})",
    "parquet": "read_parquet('{files}')",
}
#: What DuckDB is asked of ``src``, and of ``names`` beside it.
DUCKDB = {
    "TUMBLE": "SELECT k, time_bucket(INTERVAL 10 SECOND, ts) AS window_start, COUNT(*) AS n, SUM(v)::BIGINT AS total"
    " FROM src GROUP BY ALL",
    "HOP": "SELECT k, time_bucket(INTERVAL 2 SECOND, ts) - to_seconds(2 * i) AS window_start, COUNT(*) AS n,"
    " SUM(v)::BIGINT AS total FROM src, range(5) AS t(i) GROUP BY ALL",
    "GROUP BY": "SELECT k, COUNT(*) AS n, SUM(v)::BIGINT AS total FROM src GROUP BY k",
    "TOP 3": "SELECT k, v, ts FROM src QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, ts) <= 3",
    "JOIN": "SELECT name, COUNT(*) AS n, SUM(v)::BIGINT AS total FROM src JOIN names ON src.k = names.k GROUP BY name",
}


def by_duckdb(task: Task) -> Taken:
    """Run a question into one parquet file."""
    began, used = time.perf_counter(), cpu_seconds()
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {THREADS}")
        for view, folder, columns in (("src", task["source"], _COLUMNS), ("names", f"{task['source']}-names", _NAMES)):
            reader = _READERS[task["form"]].format(files=f"{folder}/*.{task['form']}", columns=columns)
            connection.execute(f"CREATE VIEW {view} AS SELECT * FROM {reader}")
        connection.execute(f"COPY ({DUCKDB[task['name']]}) TO '{task['out']}' (FORMAT parquet)")
    wall = time.perf_counter() - began
    return Taken(wall, wall, cpu_seconds() - used)


def _read(task: Task, folder: str, schema: dict[str, Any]) -> pl.LazyFrame:
    files = f"{folder}/*.{task['form']}"
    if task["form"] == "parquet":
        return pl.scan_parquet(files)
    text = {name: pl.String if of == pl.Datetime("us") else of for name, of in schema.items()}
    if task["form"] == "csv":
        frame = pl.scan_csv(files, has_header=False, schema=text)
    else:
        frame = pl.scan_ndjson(files, schema=text)
    times = [c for c, of in schema.items() if of == pl.Datetime("us")]
    return frame.with_columns(pl.col(c).str.to_datetime("%Y-%m-%d %H:%M:%S%.3f", time_unit="us") for c in times)


def _summed(frame: pl.LazyFrame, *keys: Any) -> pl.LazyFrame:
    return frame.group_by(*keys).agg(n=pl.len(), total=pl.col("v").cast(pl.Int64).sum())


def _hop(frame: pl.LazyFrame, _: pl.LazyFrame) -> pl.LazyFrame:
    # Slices first, then each window of its slices: less work than a copy of each row for each window.
    slices = _summed(frame, "k", pl.col("ts").dt.truncate("2s").alias("window_start"))
    windows = [slices.with_columns(pl.col("window_start").dt.offset_by(f"-{2 * i}s")) for i in range(5)]
    return pl.concat(windows).group_by("k", "window_start").agg(pl.col("n").sum(), pl.col("total").sum())


#: The same by Polars, over the rows and the names.
POLARS: dict[str, Callable[[pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]] = {
    "TUMBLE": lambda rows, _: _summed(rows, "k", pl.col("ts").dt.truncate("10s").alias("window_start")),
    "HOP": _hop,
    "GROUP BY": lambda rows, _: _summed(rows, "k"),
    "TOP 3": lambda rows, _: rows.sort("v", "ts", descending=[True, False]).group_by("k", maintain_order=True).head(3),
    "JOIN": lambda rows, names: _summed(rows.join(names, on="k"), "name"),
}


def by_polars(task: Task) -> Taken:
    """Run a question into one parquet file."""
    began, used = time.perf_counter(), cpu_seconds()
    rows = _read(task, task["source"], {"k": pl.Int64, "v": pl.Int32, "ts": pl.Datetime("us")})
    names = _read(task, f"{task['source']}-names", {"k": pl.Int64, "name": pl.String})
    POLARS[task["name"]](rows, names).collect(engine="streaming").write_parquet(task["out"])
    wall = time.perf_counter() - began
    return Taken(wall, wall, cpu_seconds() - used)


if __name__ == "__main__":
    serve(lambda task: (by_duckdb if task["side"] == "duckdb" else by_polars)(task))
