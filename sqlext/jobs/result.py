"""Define the result of a statement: columns, rows, and the query that it started."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlext.jobs.query import Query
    from sqlext.sinks.live_rows import LiveRows, Row


class Result:
    """The result of a statement: columns and rows, and the query if the statement started one.

    Attributes:
        columns: names of the columns, a tuple; empty for statements without rows.
        query: the query that an INSERT or a SELECT of a stream started, else None.
        statement: the text of the statement.
        notices: what a user should know of a query before its first row, a tuple of texts.
        writes: full names of the tables that the statement writes to, ``catalog.database.table``, a tuple.
    """

    def __init__(
        self,
        columns: Sequence[str] = (),
        rows: Sequence[Row] | Callable[[], Sequence[Row]] = (),
        *,
        query: Query | None = None,
        frame: Callable[[], DataFrame] | None = None,
        live: Callable[[], LiveRows] | None = None,
        statement: str = "",
        notices: Sequence[str] = (),
        writes: Sequence[str] = (),
    ) -> None:
        self.columns = tuple(columns)
        self.query = query
        self.statement = statement
        self.notices = tuple(notices)
        self.writes = tuple(writes)
        self._rows = rows
        self._frame = frame
        self._live = live

    @property
    def rows(self) -> list[Row]:
        """The rows so far, a list of tuples as wide as ``columns``; all of them once a bounded query has ended.

        Each access reads them anew, so a running SELECT gives more rows the next time. Rows that an updating result has
        taken back are not among them.
        """
        rows = self._rows() if callable(self._rows) else self._rows
        return [tuple(r) for r in rows]

    @property
    def df(self) -> DataFrame | None:
        """The rows as a Spark DataFrame, None for a statement without rows."""
        return self._frame() if self._frame else None

    def live(self) -> LiveRows | None:
        """Return the rows of a streaming SELECT from its first change on, None for any other statement."""
        return self._live() if self._live else None

    def __repr__(self) -> str:
        shown = f", query={self.query.name!r}" if self.query else ""
        return f"Result(columns={list(self.columns)}{shown})"
