"""Show the first rows of a table or view, also of one that has no end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sqlext.jobs.query import Query
from sqlext.jobs.result import Result

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    class TableFrame(DataFrame):
        """A DataFrame of a table: it has a preview too."""

        preview: Callable[..., Result]


#: Seconds between two looks at what has come.
_LOOK = 0.2
#: Seconds without another row after which what has come is enough.
_SETTLED = 2.0


def with_preview(frame: DataFrame, preview: Callable[..., Result]) -> TableFrame:
    """Return a DataFrame of a table that has its preview as a method."""
    frame.__dict__["preview"] = preview
    return frame  # type: ignore[return-value]  # it has what the type says from here on


def await_first_rows(result: Result, rows: int, timeout: float, clock: Callable[[], float] = time.monotonic) -> Result:
    """Wait for the first rows of a SELECT, and stop it.

    It is stopped when it has ``rows`` rows, when no further one has come for two seconds, or after ``timeout`` seconds.

    Args:
        result: of a SELECT; one that has ended is returned as it is.
        timeout: seconds to wait for the first row.
        clock: tells seconds.

    Raises:
        SqlExtError: why the query failed.
    """
    query = result.query
    if query is None or not query.is_active:
        return result
    try:
        latest, since = 0, clock()
        for now in _looks(query, clock):
            found = len(result.rows)
            if found > latest:
                latest, since = found, now
            if found >= rows or now - since >= (_SETTLED if found else timeout):
                break
    finally:
        query.stop()
    return result


def _looks(query: Query, clock: Callable[[], float]) -> Iterator[float]:
    while not query.await_termination(_LOOK):
        yield clock()
