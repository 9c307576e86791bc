"""Queries without an end that run in this process: folders are their input, files of a clock are their time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
from deltalake import DeltaTable

import sqlext
from sqlext.jobs.query import Query
from sqlext.session.api import Session

TABLE = """
CREATE TABLE {name} (k STRING, v BIGINT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json', 'source.monitor-interval' = '1 s'{more});
"""
COUNTS = """
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT, s BIGINT) WITH ('connector' = 'delta', 'path' = '{out}');
INSERT INTO counts SELECT k, window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
"""


class Desk:
    """A folder with inputs, a catalog, a clock and outputs; each session in it is a new process, as far as it knows."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ms = 1_704_067_200_000  # 2024-01-01
        (root / "clock").mkdir()
        self.tick(0)

    def tick(self, ms: int) -> None:
        """Let the clock of files go on."""
        self.ms += ms
        (self.root / "clock" / f"{self.ms}.txt").write_text(f"{self.ms}\n")

    def put(self, table: str, name: str, rows: Iterable[tuple[str, int, float]]) -> None:
        """Put rows into a file: key, value, and seconds of 2024-01-01."""
        folder = self.root / table
        folder.mkdir(exist_ok=True)
        lines = [
            json.dumps({"k": k, "v": v, "ts": f"2024-01-01 00:{int(s) // 60:02}:{s % 60:06.3f}Z"}) for k, v, s in rows
        ]
        # Moved into place: a reader sees all of it, or nothing.
        part = self.root / f"{table}-{name}"
        part.write_text("".join(f"{line}\n" for line in lines))
        part.rename(folder / name)

    def script(self, *queries: str, tables: Iterable[str] = ("events",), engine: str = "local", more: str = "") -> str:
        """Return a script over tables."""
        for table in tables:
            (self.root / table).mkdir(exist_ok=True)
        made = [TABLE.format(name=t, folder=self.root / t, more=more) for t in tables]
        sets = f"SET 'sqlext.engine' = '{engine}';\nSET 'sqlext.clock' = '{self.root / 'clock'}';\n"
        return sets + "".join(made) + "".join(q.replace("{out}", str(self.root / "out")) for q in queries)

    def session(self) -> Session:
        """Return a session of the catalog."""
        return sqlext.connect(catalog=str(self.root / "catalog"))

    def start(self, script: str) -> Query:
        """Run a script; return its query."""
        query = self.session().run(script, trigger_interval=1)[-1].query
        assert query is not None
        return query

    def rows(self, name: str = "out") -> list[tuple[Any, ...]]:
        """Return the rows of a Delta table, sorted."""
        found = DeltaTable(str(self.root / name)).to_pyarrow_table().to_pylist()
        return sorted(tuple(row.values()) for row in found)

    def files(self, name: str = "out") -> list[Mapping[str, Any]]:
        """Return the rows of files of json."""
        return ds.dataset(str(self.root / name), format="json", exclude_invalid_files=True).to_table().to_pylist()
