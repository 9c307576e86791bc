"""Define the result of a statement: columns, rows, and the query that it started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from sqlext.jobs.query import Query
    from sqlext.sinks.live_rows import LiveRows, Row

#: Rows that ``repr`` shows.
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class DelayCurve:
    """A share of rows over a delay, of which a result's rows are some points.

    Attributes:
        title: what the share is of.
        series: points of each curve by its name: milliseconds, and a share from 0 to 1.
        marked: a delay that is marked, in milliseconds; None: none is.
    """

    title: str
    series: Mapping[str, Sequence[tuple[int, float]]]
    marked: int | None = None


class Result:
    """The result of a statement: columns and rows, and the query if the statement started one.

    Attributes:
        columns: names of the columns, a tuple; empty for statements without rows.
        query: the query that an INSERT or a SELECT of a stream started, else None.
        statement: the text of the statement.
        notices: what a user should know of a query before its first row, a tuple of texts.
        writes: full names of the tables that the statement writes to, ``catalog.database.table``, a tuple.
        curve: what a picture of it shows in place of its rows; None: it shows its rows.
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
        curve: DelayCurve | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self.query = query
        self.statement = statement
        self.notices = tuple(notices)
        self.writes = tuple(writes)
        self.curve = curve
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
        """The rows as a Spark DataFrame, None for a statement that Spark gives no rows for: SHOW, DESCRIBE, EXPLAIN."""
        return self._frame() if self._frame else None

    def show(self, n: int = 20) -> None:
        """Print the first ``n`` rows that are there now, and how many there are; a plan or a definition as it is."""
        from sqlext.jobs.tables import as_text, console, counted_table, one_text

        rows = self.rows
        if self.columns and one_text(rows) is None:
            console().print(counted_table(self.columns, rows, n))
        else:
            text = as_text(self.columns, rows) if self.columns else repr(self)
            console().print(text, markup=False, highlight=False, soft_wrap=True)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows that are there now as a DataFrame of pandas.

        Types are those of ``DataFrame.toPandas`` of Spark: a TIMESTAMP_LTZ is a wall clock of Spark's session zone.
        """
        import pandas as pd

        frame = self.df
        return pd.DataFrame(self.rows, columns=list(self.columns)) if frame is None else frame.toPandas()

    def to_arrow(self) -> pa.Table:
        """Return the rows that are there now as a table of Arrow, with the types of ``DataFrame.toArrow`` of Spark."""
        import pyarrow as pa

        frame = self.df
        if frame is not None:
            return frame.toArrow()
        rows = self.rows
        return pa.Table.from_arrays(
            [pa.array([row[i] for row in rows]) for i, _ in enumerate(self.columns)], self.columns
        )

    def live(self) -> LiveRows | None:
        """Return the rows of a streaming SELECT from its first change on, None for any other statement."""
        return self._live() if self._live else None

    def __repr__(self) -> str:
        """Return the first rows as text, and the query that gives them."""
        from sqlext.jobs.tables import as_text

        query = f"query {self.query.name!r}" if self.query else ""
        if not self.columns:
            return f"<Result: {query or 'no rows'}>"
        text = as_text(self.columns, self.rows, _SHOWN)
        return f"{text}, {query}" if query else text
