"""Rows that a query cannot use: the columns that describe one, and the table that keeps them.

A table of bad rows takes those that a source cannot decode. A table of dead letters also takes late rows, rows from
the future, and rows for which an expression fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.plan.columns import PlanColumn
from sqlext.source import Span
from sqlext.types import BIGINT, STRING, TIMESTAMP_LTZ3
from sqlext_catalog.model import Table

#: Hidden column of a query that keeps them: NULL in its own rows, else a struct of the columns below and the table.
BAD = "__bad"
#: Hidden column of rows that replace those of their keys: NULL where the sink takes the row, else a struct of ``text``,
#: ``code``, ``reason`` and ``keyless``: whether the sink does not even take its key.
REFUSED = "__refused"
#: Hidden column between the steps of a query that keeps them: the row of the table as JSON.
READ_ROW = "__read_row"
#: The name of the query, a column of all rows that are kept beside those of a query.
WRITTEN_BY = "__operator"
#: The number of the micro-batch that wrote such a row.
BATCH = "__batch"
#: Field of that struct: the number of the table that takes the row, from 0.
NUMBER = "number"
#: The column that names a dead letter: one that a table with it has can be fed back (REPLAY).
LETTER = "letter"
#: The cause of the row that says that a dead letter was fed back.
REPLAYED = "replayed"

#: What is known of such a row where it is found.
FOUND_COLUMNS = (
    PlanColumn("text", STRING, "text"),
    PlanColumn("source", STRING.not_null(), "source"),
    PlanColumn("place", STRING, "place"),
    PlanColumn("reason", STRING.not_null(), "reason"),
    PlanColumn("read_at", TIMESTAMP_LTZ3.not_null(), "read_at"),
    PlanColumn("cause", STRING.not_null(), "cause"),
    PlanColumn("code", STRING.not_null(), "code"),
    PlanColumn("operator", STRING.not_null(), "operator"),
    # NULL where it is found: the sink gives it a name.
    PlanColumn(LETTER, STRING, LETTER),
)
#: What there is to fill a table of bad rows or of dead letters with.
BAD_COLUMNS = (
    *FOUND_COLUMNS,
    PlanColumn("query_name", STRING.not_null(), WRITTEN_BY),
    PlanColumn("batch", BIGINT.not_null(), BATCH),
)


@dataclass(frozen=True, slots=True)
class BadRows:
    """A table that takes the bad rows of a scan, and the place in the query that reads them.

    Attributes:
        letters: whether they are dead letters there.
    """

    table: Table
    span: Span
    letters: bool = False
