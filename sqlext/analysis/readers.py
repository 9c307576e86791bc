"""Who reads a table: Spark's own source, or a reader of ours (``sqlext.source``)."""

from __future__ import annotations

from sqlext.catalog.model import Table
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.settings import Settings
from sqlext.source import Span


def reads_itself(table: Table, settings: Settings, span: Span) -> bool:
    """Return whether a reader of ours gives the rows of a stream.

    ``auto`` takes it where there is one: it knows the time of each partition, and can hold them back.

    Raises:
        SqlExtError: OPT-033 where it is asked for and there is none.
    """
    choice = (table.option("sqlext.source") or settings.get("sqlext.source") or "auto").lower()
    connector = connector_of(table)
    reason = connector.own_reader(table)
    if choice == "arrow" and reason and table.option("sqlext.source"):
        raise SqlExtError("OPT-033", f"`{table.name.name}` cannot be read by a reader of ours: {reason}", span=span)
    return choice != "spark" and connector.prefers_own_reader(table) and not reason
