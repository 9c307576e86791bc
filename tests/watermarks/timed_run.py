"""A query without end over several inputs, with a clock of its own that both its operators and its time keeper see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlext
from sqlext.jobs.query import Query
from sqlext.jobs.timekeeping import Timekeeping

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.jobs.result import Result


class TimedRun:
    """Runs a script of one SELECT or INSERT; its tables read ``${IN}/<name>``, its clock is ``${CLOCK}``."""

    def __init__(self, spark: SparkSession, folder: Path, script: str) -> None:
        self._spark, self._folder, self._script = spark, folder, script
        self._files = 0
        self._result: Result | None = None
        for name in ("in", "clock"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def start(self, settings: Mapping[str, str] | None = None) -> None:
        """Start the query; it goes on where it was, if it was."""
        session = sqlext.connect(self._spark, catalog=self._folder / "catalog")
        for name, value in {"spark.sql.shuffle.partitions": "1", **(settings or {})}.items():
            session.spark.conf.set(name, value)
        variables = {n: str(self._folder / n.lower()) for n in ("IN", "OUT", "CLOCK")}
        self.session = session
        self._result = session.run(self._script, variables)[-1]

    def begin(self, script: str) -> None:
        """Start a script, with the clock at 0."""
        self._script = script
        self.clock(0)
        self.start()

    @property
    def query(self) -> Query:
        """The running query."""
        assert self._result is not None
        assert self._result.query is not None
        return self._result.query

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """What came out so far."""
        assert self._result is not None
        return sorted(self._result.rows, key=repr)

    def silent(self, table: str) -> list[str]:
        """Return the splits of an input that are idle."""
        keeper = self.keeping.keeper
        (declared,) = (i for i in keeper.inputs if i.name == table)
        assert declared.idle is not None
        return [n for n, s in keeper.known[table].splits.items() if keeper.now - s.since >= declared.idle]

    @property
    def keeping(self) -> Timekeeping:
        """The query's time keeper."""
        (found,) = self.query.timekeeping.values()
        return found

    def put(self, table: str, lines: Iterable[str]) -> None:
        """Give a table lines of CSV, in one file."""
        folder = self._folder / "in" / table
        folder.mkdir(parents=True, exist_ok=True)
        self._place(folder / f"{self._files:04}.csv", "".join(f"{line}\n" for line in lines))

    def clock(self, seconds: float) -> None:
        """Set the clock."""
        self._place(self._folder / "clock" / f"{self._files:04}.txt", f"{int(seconds * 1000)}\n")

    def settle(self) -> None:
        """Wait until the query has worked off what it was given, the keeper has seen that, and what follows is done."""
        self.query.process_available()

    def stop(self) -> None:
        """Stop it, if it runs; its place is kept."""
        if self._result is not None:
            self.query.stop()

    def _place(self, path: Path, text: str) -> None:
        self._files += 1
        temporary = self._folder / "new"
        temporary.write_text(text)
        temporary.replace(path)
