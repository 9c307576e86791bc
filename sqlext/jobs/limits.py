"""Stop queries that take more than they may, time or memory of their state, or that have given what they were to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlext.errors import SqlExtError
from sqlext.jobs.query import Query
from sqlext.policy import Restrictions
from sqlext.source import Span

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Seconds between two looks.
_PAUSE = 0.5


def limited(query: Query, limits: Restrictions | None, span: Span) -> Query:
    """Return a query that fails once it takes more than its limits (RESTRICT-008, RESTRICT-010)."""
    if limits is not None:
        threading.Thread(target=_watch, args=(query, limits, span), name="sqlext limits", daemon=True).start()
    return query


def ended_by_limit(query: Query, count: Callable[[], int], most: int | None) -> Query:
    """Return a query that ends once it has given all rows that it can.

    Args:
        query: of a SELECT.
        count: how many rows it has given.
        most: how many there can be; None: any number.
    """
    if most is not None:
        threading.Thread(target=_until, args=(query, count, most), name="sqlext LIMIT", daemon=True).start()
    return query


def _until(query: Query, count: Callable[[], int], most: int) -> None:
    while not query.await_end(_PAUSE):
        if count() >= most:
            query.request_stop()
            return


def _watch(query: Query, limits: Restrictions, span: Span) -> None:
    begun = time.monotonic()
    while not query.await_end(_PAUSE):
        error = _passed(query, limits, time.monotonic() - begun)
        if error is not None:
            query.refuse(error.at(span))
            return


def _passed(query: Query, limits: Restrictions, seconds: float) -> SqlExtError | None:
    if limits.seconds is not None and seconds > limits.seconds:
        return _too_long(limits.seconds)
    held = query.progress["state_bytes"] or 0
    if limits.state_bytes is not None and held > limits.state_bytes:
        message = f"the state of query `{query.name}` takes {held:,} bytes, and may take {limits.state_bytes:,}"
        return SqlExtError("RESTRICT-010", message, hint="a shorter window, fewer keys, or 'table.exec.state.ttl'")
    return None


def _too_long(seconds: float) -> SqlExtError:
    return SqlExtError(
        "RESTRICT-008", f"the query ran for {seconds:g} s, as long as it may", hint="ask for less of its input"
    )


@contextmanager
def limited_time(spark: SparkSession, limits: Restrictions | None, span: Span) -> Iterator[None]:
    """Stop what the block runs in Spark once it takes too long.

    Raises:
        SqlExtError: RESTRICT-008.
    """
    if limits is None or limits.seconds is None:
        yield
        return
    tag, late = f"sqlext-{uuid4().hex}", threading.Event()

    def stop() -> None:
        late.set()
        spark.interruptTag(tag)

    timer = threading.Timer(limits.seconds, stop)
    timer.daemon = True
    spark.addTag(tag)
    timer.start()
    try:
        yield
    except Exception as error:
        if late.is_set():
            raise _too_long(limits.seconds).at(span) from error
        raise
    finally:
        timer.cancel()
        spark.removeTag(tag)
