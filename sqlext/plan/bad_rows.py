"""The policy for rows that a source cannot decode, and the columns that describe such a row."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.plan.columns import PlanColumn
from sqlext.source import Span
from sqlext.types import STRING, TIMESTAMP_LTZ3
from sqlext_catalog.model import Table

#: The option of a table, and of SET for all: what is done with them.
OPTION = "sqlext.bad-rows"
#: Its values; any other one is the table that keeps them.
FAIL, DROP = "fail", "drop"

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


def policy_of(table: Table) -> str | None:
    """Return what a table's option says: ``fail``, ``drop`` or the name of a table; None if it says nothing."""
    wanted = (table.option(OPTION) or "").strip()
    return wanted.lower() if wanted.lower() in (FAIL, DROP) else wanted or None
