"""A folder with input files, a catalog and outputs, and Sessions over it: for tests of running jobs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
"""
COUNTS = """
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT, s BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
"""
WINDOWED = """
INSERT INTO counts
SELECT k, window_start, COUNT(*), SUM(CAST(v AS BIGINT))
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
"""
Row = tuple[Any, ...]
_FIRST_FILE = 1_700_000_000


class Workspace:
    """Everything below one folder.

    Attributes:
        folder: has ``in`` (CSV files), ``out`` and ``catalog``.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self._files = 0
        self.input.mkdir()

    @property
    def input(self) -> Path:
        """The folder of input files."""
        return self.folder / "in"

    @property
    def variables(self) -> dict[str, str]:
        """IN and OUT."""
        return {"IN": str(self.input), "OUT": str(self.folder / "out")}

    def put(self, name: str, *rows: str) -> None:
        """Write an input file, in place in one step; a row is ``key,value,second`` or a whole CSV line."""
        lines = [csv_line(row) for row in rows]
        temporary = self.folder / "new.csv"
        temporary.write_text("".join(f"{line}\n" for line in lines))
        # Spark reads files in the order of their times: a minute apart, in the past.
        self._files += 1
        os.utime(temporary, (_FIRST_FILE + 60 * self._files,) * 2)
        temporary.replace(self.input / name)

    def session(self, catalog: str = "catalog") -> sqlext.Session:
        """Return a new Session over the catalog."""
        return sqlext.connect(self.spark, catalog=self.folder / catalog)

    def run(self, *parts: str, session: sqlext.Session | None = None, **options: Any) -> list[Any]:
        """Run a script made of parts, by default in a Session of its own."""
        found = session or self.session()
        return found.run("\n".join(parts), variables={**self.variables, **options.pop("variables", {})}, **options)

    def delta(self, name: str = "counts") -> list[Row]:
        """Return the rows of an output table, sorted; none if it is not there."""
        path = self.folder / "out" / name
        if not path.exists():
            return []
        rows = self.spark.newSession().read.format("delta").load(str(path)).collect()
        return sorted((tuple(map(str, row)) for row in rows), key=repr)

    def files(self, name: str) -> list[str]:
        """Return the lines of an output folder's CSV files, sorted."""
        found = (f for f in (self.folder / "out" / name).rglob("part-*") if "_sqlext" not in f.parts)
        return sorted(line for f in found for line in f.read_text().splitlines())

    def queries(self) -> dict[str, Mapping[str, Any]]:
        """Return information_schema.queries by name."""
        result = self.session().sql("SELECT * FROM information_schema.queries")
        return {row[0]: dict(zip(result.columns, row, strict=True)) for row in result.rows}

    def until(self, condition: Callable[[], object], seconds: float = 120) -> None:
        """Wait for another thread's work to show."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it has not come in time"
            time.sleep(0.05)

    def killed(self, script: str, plan: str, *, seconds: int = 180, variables: Mapping[str, str] | None = None) -> None:
        """Run a script in a driver of its own, which kills itself (kill -9) where ``plan`` says.

        Args:
            plan: see ``tests/faults/driver.py``.
            variables: of the driver's environment, beside those that it has.
        """
        file = self.folder / "job.sql"
        file.write_text(script)
        command = [sys.executable, str(DRIVER), str(self.folder), str(file), plan]
        environment = {**short_lived(), **(variables or {})}
        ended = subprocess.run(command, capture_output=True, timeout=seconds, check=False, text=True, env=environment)
        assert ended.returncode == -signal.SIGKILL, f"{ended.returncode}\n{ended.stdout}\n{ended.stderr}"


DRIVER = Path(__file__).parent / "faults" / "driver.py"


def short_lived() -> dict[str, str]:
    """Return the environment of a process whose JVM lives for a minute or two.

    Java's second compiler takes more there than it gives: without it such a job needs half of the processor's time.
    """
    return {**os.environ, "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1"}


def csv_line(row: str) -> str:
    """Return the line of a row that is ``key,value,second``; any other row as it is."""
    match = re.fullmatch(r"(\w+),(-?\d+),(\d+)", row)
    if match is None:
        return row
    key, value, second = match.groups()
    minutes, seconds = divmod(int(second), 60)
    return f"{key},{value},2024-01-01 00:{minutes:02d}:{seconds:02d}.000"
