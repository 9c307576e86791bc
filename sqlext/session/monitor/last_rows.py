"""Read the last rows that a query has written, where they lie in files. No Spark."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from sqlext.connectors.admission import admit
from sqlext.connectors.options import OptionError
from sqlext.connectors.readers import Unread
from sqlext.connectors.registry import known
from sqlext.errors import SqlExtError
from sqlext.jobs.tables import cell
from sqlext.policy import OPEN, Policy
from sqlext.session.monitor.views import LastRows
from sqlext_catalog.model import Table

#: The table's place does not exist: its sink makes it with the first rows.
_MISSING = "OPT-009"
#: Characters of a value that are shown.
_LONGEST = 200


def last_rows(name: str, table: Table | None, most: int, policy: Policy = OPEN) -> LastRows:
    """Return the last rows of a table, the newest last.

    Args:
        name: of the table, for people.
        table: None if the catalog has no such table.
        policy: is asked whether the table may be read.
    """
    connector = known(table) if table is not None else None
    if table is None or connector is None:
        return LastRows(name, (), (), "the catalog has no table of this name")
    newest = connector.newest_rows()
    if newest is None:
        return LastRows(name, (), (), f"{connector.owner} keeps no rows in files")
    try:
        admit(table, policy)
    except OptionError as refused:
        hint = f": {refused.hint}" if refused.hint else ""
        return LastRows(name, (), (), f"{refused.message} ({refused.code}){hint}")
    try:
        found = newest.newest(table, most)
    except (Unread, SqlExtError, OptionError, OSError) as reason:
        text = reason.message if isinstance(reason, SqlExtError) else str(reason)
        missing = isinstance(reason, SqlExtError) and reason.code == _MISSING
        told = "no row has come out yet" if missing else "without Spark these rows cannot be read"
        return LastRows(name, (), (), f"{told}: {text}")
    rows = [tuple(_shown(value) for value in row.values()) for row in found.to_pylist()]
    return LastRows(name, tuple(found.column_names), rows, None if rows else "no row has come out yet")


def _shown(value: Any) -> str | int | float | bool | None:
    """Return a value that JSON has; a number that it has not, and anything else, as text."""
    if value is None or isinstance(value, (bool, str)):
        return value[:_LONGEST] if isinstance(value, str) else value
    if isinstance(value, int) and abs(value) < _EXACT:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value) if isinstance(value, (int, float, Decimal)) else cell(value)[:_LONGEST]


#: Above this JavaScript's numbers are not exact.
_EXACT = 1 << 53
