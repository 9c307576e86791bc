"""What ``foreachBatch`` calls: a sink, one batch after the other, and why one failed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from sqlext.execution.quiet import ToldError, quiet
from sqlext.execution.sinks import Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlext.execution.query import Query

#: How long a batch that was interrupted may go on until the next driver may have the checkpoint.
_SECONDS_TO_END = 60


class BatchFailedError(ToldError):
    """Tells Spark that a batch failed; the reason itself is kept in the writer."""


class BatchWriter:
    """Hands batches to a sink.

    Spark's ``stop`` interrupts a batch without waiting for the Python function, and two queries of a job may write
    to one table: a lock for each table keeps such writes apart. All take them in the same order.

    Attributes:
        error: what the sink raised, with its type and its cause: Spark would make one text of it.
    """

    def __init__(self, sink: Sink, name: str, query: Query, locks: Sequence[threading.Lock]) -> None:
        self.error: Exception | None = None
        self._sink = sink
        self._name = name
        self._query = query
        self._locks = tuple(locks)
        self._repeated = False

    def expect(self, *, repeated: bool) -> None:
        """Say, before the Spark query starts, whether its first batch may have been written before."""
        self._repeated, self.error = repeated, None

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        """Write a batch."""
        self._query.collect_last(self._name)
        with ExitStack() as held, quiet():
            for lock in self._locks:
                held.enter_context(lock)
            try:
                write_batch(self._sink, df, batch_id, repeated=self._repeated)
                self._repeated = False
            except Exception as error:
                self.error = error
                raise BatchFailedError(str(error)) from error

    def __reduce__(self) -> tuple[object, ...]:
        """Over Spark Connect batches are written in a process of the server: the sink alone goes there."""
        return ServerWriter, (self._sink, self._repeated)

    def wait_until_idle(self) -> None:
        """Wait for a batch that is still under way."""
        for lock in self._locks:
            if lock.acquire(timeout=_SECONDS_TO_END):
                lock.release()


class ServerWriter:
    """What a ``BatchWriter`` is in the server's process: one for each query, with a process of its own."""

    def __init__(self, sink: Sink, repeated: bool) -> None:
        self._sink = sink
        self._repeated = repeated

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        """Write a batch."""
        write_batch(self._sink, df, batch_id, repeated=self._repeated)
        self._repeated = False


def write_batch(sink: Sink, df: DataFrame, batch_id: int, *, repeated: bool) -> None:
    """Write a batch.

    A sink that has a repeated batch already skips the rows, and nothing would compute them; but Spark takes the
    watermark from what was computed, and checks that every state was committed.
    """
    if not repeated:
        sink.write(df, batch_id)
        return
    df.persist()
    try:
        df.write.format("noop").mode("overwrite").save()
        sink.write(df, batch_id)
    finally:
        df.unpersist()
