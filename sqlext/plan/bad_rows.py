"""Rows that a source cannot decode: the columns that describe one, and the table that keeps them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.plan.columns import PlanColumn
from sqlext.source import Span
from sqlext.types import STRING, TIMESTAMP_LTZ3
from sqlext_catalog.model import Table

#: Hidden column of a query that keeps them: NULL in its own rows, else a struct of the columns below and the table.
BAD = "__bad"
#: Field of that struct: the number of the table that takes the row, from 0.
NUMBER = "number"

#: What there is to fill a table of bad rows with.
BAD_COLUMNS = (
    PlanColumn("text", STRING, "text"),
    PlanColumn("source", STRING.not_null(), "source"),
    PlanColumn("place", STRING.not_null(), "place"),
    PlanColumn("reason", STRING.not_null(), "reason"),
    PlanColumn("read_at", TIMESTAMP_LTZ3.not_null(), "read_at"),
)


@dataclass(frozen=True, slots=True)
class BadRows:
    """A table that takes the bad rows of a scan, and the place in the query that reads them."""

    table: Table
    span: Span
