"""Run one case through the front door and say what came of it."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import sqlext
from sqlext import SqlExtError

from .compare import data_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener

    from .cases import Case

_SECONDS = 240


@dataclass
class Outcome:
    """What a run left behind."""

    out: Path
    results: Sequence[Any] = ()
    error: SqlExtError | None = None
    started: list[str] = field(default_factory=list)

    @property
    def written(self) -> list[Path]:
        """Return the files of rows that the sinks hold."""
        return data_files(self.out)

    @property
    def printed(self) -> list[Any]:
        """Return the results that show rows, as DESCRIBE and SHOW do."""
        return [result for result in self.results if result.columns]


def run(case: Case, spark: SparkSession, folder: Path, source: str = "auto") -> Outcome:
    """Run a case with a catalog of its own and return what happened.

    Only our own error is caught: anything else is a bug and fails the test.

    Args:
        source: who reads its tables, as ``sqlext.source`` says it.
    """
    outcome = Outcome(folder / "out")
    outcome.out.mkdir()
    session = sqlext.connect(spark, catalog=str(folder / "catalog"))
    session.sql(f"SET 'sqlext.source' = '{source}'")
    variables = {"IN": str(case.folder.resolve() / "in"), "OUT": str(outcome.out)}
    with _started_queries(session.spark, outcome.started), _deadline(_SECONDS):
        try:
            outcome.results = session.run(case.script, variables=variables)
        except SqlExtError as error:
            outcome.error = error
    return outcome


@contextmanager
def _started_queries(spark: SparkSession, started: list[str]) -> Iterator[None]:
    """Note each streaming query that starts in a session, and stop those that are left running."""
    listener = _listener(started)
    spark.streams.addListener(listener)
    try:
        yield
    finally:
        spark.streams.removeListener(listener)
        for query in spark.streams.active:
            query.stop()


def _listener(started: list[str]) -> StreamingQueryListener:
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Started(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - Spark's name
            started.append(event.name or str(event.id))

        def onQueryProgress(self, event: Any) -> None:  # noqa: N802 - Spark's name
            pass

        def onQueryIdle(self, event: Any) -> None:  # noqa: N802 - Spark's name
            pass

        def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 - Spark's name
            pass

    return Started()


@contextmanager
def _deadline(seconds: int) -> Iterator[None]:
    """Fail instead of hanging: a bounded case that has not ended by now never will."""

    def late(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"the case has not ended after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
