"""Unbounded queries that go on a micro-batch at a time, many side by side in one Spark, by a clock of their own.

The scripts read JSON files of ``${IN}`` and take ``${CLOCK}`` for the clock. With ``TIMED`` rows their watermark is
the largest ``wm``: it moves when, and only when, a row without key says so, which WHERE is to keep out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.jobs.query import Query
    from sqlext.jobs.result import Result

EPOCH = datetime(1970, 1, 1)
END_OF_TIME = datetime(9999, 12, 31, 23, 59, 59)
TIMED = """CREATE TABLE input (
  key STRING, `value` BIGINT, ts TIMESTAMP(3), gap BIGINT, wm TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS wm
) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json', 'source.monitor-interval' = '1 s');
SET 'sqlext.clock' = '${CLOCK}';
"""
#: Spark's default is 10 ms: many waiting queries would leave nothing to those that work.
_SETTINGS = {"spark.sql.streaming.pollingDelay": "200ms", "spark.sql.shuffle.partitions": "1"}
_AT_A_TIME = 12
#: A query's first micro-batch starts Python workers, which have seconds to connect, however much there is to do.
_BEGIN_AT_A_TIME = 2
_NO_WORKER, _TRIES = "Python worker failed to connect back", 3
JsonRow = dict[str, Any]


@dataclass(frozen=True)
class Move:
    """What a query is given for one micro-batch: rows, a watermark, a time of the clock; times in ms since 1970."""

    rows: Sequence[JsonRow] = ()
    watermark: int | datetime | None = None
    clock: int | datetime | None = None


@dataclass
class Outcome:
    """What came of a move: rows of the query, rows dropped, and groups that are open now."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    dropped: int = 0
    state_rows: int = 0


class SteppedQuery:
    """The last statement of a script, a SELECT or an INSERT.

    Attributes:
        folder: has ``in``, ``clock``, ``out`` and the catalog.
        outcomes: one for each move that was made.
        failure: what went wrong, if anything did; nothing is done then.
    """

    def __init__(self, spark: SparkSession, folder: Path, script: str, moves: Sequence[Move]) -> None:
        self.folder = folder
        self.script = script
        self.moves = moves
        self.outcomes: list[Outcome] = []
        self.failure: BaseException | None = None
        self._spark = spark
        self._result: Result | None = None
        self._seen = self._dropped = self._files = 0
        for name in ("in", "clock"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def start(self, settings: Mapping[str, str] | None = None) -> None:
        """Start the query; it goes on where it was, if it was."""
        session = sqlext.connect(self._spark, catalog=self.folder / "catalog")
        for name, value in {**_SETTINGS, **(settings or {})}.items():
            session.spark.conf.set(name, value)
        variables = {n: str(self.folder / n.lower()) for n in ("IN", "OUT", "CLOCK")}
        self._result = session.run(self.script, variables)[-1]
        self._seen = self._dropped = 0

    @property
    def query(self) -> Query:
        """The running query."""
        assert self._result is not None
        assert self._result.query is not None
        return self._result.query

    def put(self, move: Move) -> None:
        """Give the query what it will find in one micro-batch."""
        if move.clock is not None:
            self._place("clock", f"{_millis(move.clock)}\n")
        lines = [{"wm": str(EPOCH), **row} for row in move.rows]
        if move.watermark is not None:
            lines.append({"ts": text_of(move.watermark), "wm": text_of(move.watermark)})
        if lines:
            self._place("in", "".join(f"{json.dumps(line)}\n" for line in lines))

    def settle(self) -> None:
        """Wait until the query has worked off what it was given, and note what came out."""
        assert self._result is not None
        for query in self.query.running.values():
            query.processAllAvailable()
        rows, progress = self._result.rows, self.query.progress
        self.outcomes.append(
            Outcome(rows[self._seen :], progress["rows_dropped"] - self._dropped, progress["state_rows"])
        )
        self._seen, self._dropped = len(rows), progress["rows_dropped"]

    def go_on(self) -> None:
        """Start where a driver was killed, work off what it was given, make all moves, and stop."""
        self.start()
        self.settle()
        for move in self.moves:
            self.put(move)
            self.settle()
        self.stop()

    def stop(self) -> None:
        """Stop the query, if it runs."""
        if self._result is not None:
            self.query.stop()

    def _place(self, folder: str, text: str) -> None:
        """Write a file in one step."""
        number = len(list((self.folder / folder).iterdir()))
        temporary = self.folder / "new"
        temporary.write_text(text)
        temporary.replace(self.folder / folder / f"{number:04}.json")


def run_together(queries: Sequence[SteppedQuery]) -> None:
    """Run queries side by side, some at a time: a move of each, and wait for all."""
    for some in _pieces(queries, _AT_A_TIME):
        for few in _pieces(some, _BEGIN_AT_A_TIME):
            _begin(few)
        for number in range(1, max(len(q.moves) for q in some)):
            _move(some, number)
        for query in some:
            query.stop()


def _begin(queries: Sequence[SteppedQuery]) -> None:
    """Start queries and make their first move, again where the machine was too busy to start Python in time."""
    for query in queries:
        _guarded(query, query.start)
    _move(queries, 0)
    for query in queries:
        for _ in range(_TRIES):
            if _NO_WORKER in str(query.failure):
                query.failure = None
                _guarded(query, query.start)
                _guarded(query, query.settle)


def _move(queries: Sequence[SteppedQuery], number: int) -> None:
    active = [q for q in queries if number < len(q.moves) and q.failure is None]
    for query in active:
        _guarded(query, partial(query.put, query.moves[number]))
    for query in active:
        _guarded(query, query.settle)


def _pieces(queries: Sequence[SteppedQuery], size: int) -> Iterator[Sequence[SteppedQuery]]:
    for first in range(0, len(queries), size):
        yield queries[first : first + size]


def rows_of(query: SteppedQuery) -> list[list[tuple[Any, ...]]]:
    """Return the rows of each move, sorted; raise what went wrong."""
    if query.failure is not None:
        raise query.failure
    return [sorted(outcome.rows, key=repr) for outcome in query.outcomes]


def text_of(moment: int | datetime) -> str:
    """Return a time as it stands in the files."""
    return (EPOCH + timedelta(milliseconds=_millis(moment))).isoformat(" ", "milliseconds")


def _millis(moment: int | datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1) if isinstance(moment, datetime) else moment


def _guarded(query: SteppedQuery, action: Callable[[], None]) -> None:
    try:
        action()
    except Exception as error:  # noqa: BLE001 - told by the test that asked for the query
        query.failure = error
