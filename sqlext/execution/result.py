"""What a statement gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlext.execution.query import Query

Row = tuple[Any, ...]


class Result:
    """Columns and rows, and the query if the statement started one.

    Attributes:
        columns: names of the columns, empty for statements without rows.
        query: the query that an INSERT or a SELECT of a stream started, else None.
        statement: the text that gave this result.
    """

    def __init__(
        self,
        columns: Sequence[str] = (),
        rows: Sequence[Row] | Callable[[], Sequence[Row]] = (),
        *,
        query: Query | None = None,
        frame: Callable[[], DataFrame] | None = None,
        statement: str = "",
    ) -> None:
        self.columns = tuple(columns)
        self.query = query
        self.statement = statement
        self._rows = rows
        self._frame = frame

    @property
    def rows(self) -> list[Row]:
        """The rows so far (all of them once a bounded query has ended), as tuples."""
        rows = self._rows() if callable(self._rows) else self._rows
        return [tuple(r) for r in rows]

    @property
    def df(self) -> DataFrame | None:
        """The rows as a DataFrame, None for a statement without rows."""
        return self._frame() if self._frame else None

    def __repr__(self) -> str:
        shown = f", query={self.query.name!r}" if self.query else ""
        return f"Result(columns={list(self.columns)}{shown})"
