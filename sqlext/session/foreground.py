"""Interrupt the statement that runs in a session's foreground. Queries in the background go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.jobs.query import Query


class Foreground:
    """The running statement: Spark jobs of the session, or a bounded query that is waited for.

    Streaming queries run in sessions that Spark clones for them, so what is interrupted here is none of theirs. (A tag
    would say more exactly what to interrupt, but only the thread that has set it finds it again.)
    """

    def __init__(self) -> None:
        self._spark: Callable[[], SparkSession | None] | None = None
        self._query: Query | None = None

    @contextmanager
    def statement(self, spark: Callable[[], SparkSession | None]) -> Iterator[None]:
        """Say that the block runs a statement, in a Spark that may start meanwhile; without it nothing can end."""
        self._spark = spark
        try:
            yield
        finally:
            self._spark = None

    @contextmanager
    def waiting(self, query: Query) -> Iterator[None]:
        """Say that the block waits for a query's end."""
        self._query = query
        try:
            yield
        finally:
            self._query = None

    def end(self) -> None:
        """Stop the query that is waited for, or interrupt the session's Spark jobs; do nothing if there are none."""
        query, running = self._query, self._spark  # read once: the other thread may end its statement meanwhile
        spark = running() if running is not None else None
        if query is not None:
            query.stop()
        elif spark is not None:
            spark.interruptAll()
