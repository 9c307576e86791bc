"""What a session does just now, and how another thread ends it; queries in the background go on."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.execution.query import Query


class Foreground:
    """The running statement: Spark jobs under a tag of their own, or a bounded query that is waited for."""

    def __init__(self) -> None:
        self._tagged: tuple[SparkSession, str] | None = None
        self._query: Query | None = None

    @contextmanager
    def statement(self, spark: SparkSession | None) -> Iterator[None]:
        """Mark what Spark does in this thread, for the block; without a Spark there is nothing to end.

        The tag is new each time: a query that is started in the block keeps it for life, and must not end with a later
        statement.
        """
        if spark is None:
            yield
            return
        tag = f"sqlext-{uuid.uuid4().hex}"
        spark.addTag(tag)
        self._tagged = spark, tag
        try:
            yield
        finally:
            self._tagged = None
            spark.removeTag(tag)

    @contextmanager
    def waiting(self, query: Query) -> Iterator[None]:
        """Say that the block waits for a query's end."""
        self._query = query
        try:
            yield
        finally:
            self._query = None

    def end(self) -> None:
        """Stop the query that is waited for, or cancel the statement's Spark jobs; do nothing if there are none."""
        query, tagged = self._query, self._tagged
        if query is not None:
            query.stop()
        elif tagged is not None:
            spark, tag = tagged
            spark.interruptTag(tag)
