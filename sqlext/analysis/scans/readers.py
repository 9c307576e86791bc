"""Choose a table's reader: Spark's own source, or a reader of ours (``sqlext.source``)."""

from __future__ import annotations

from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.settings import Settings
from sqlext.source import Span
from sqlext_catalog.model import Table


def wanted_source(table: Table, settings: Settings) -> str:
    """Return ``arrow``, ``spark`` or ``auto``: what the table says, else what is SET."""
    return (table.option("sqlext.source") or settings.get("sqlext.source") or "auto").lower()


def can_read(table: Table, span: Span) -> bool:
    """Return whether a reader of ours can give the rows of a stream, and does so better than Spark's source.

    ``auto`` takes it then: it knows the time of each partition, and can hold them back.

    Raises:
        SqlExtError: OPT-033 where the table asks for it and there is none.
    """
    connector = connector_of(table)
    prefers, is_asked = connector.prefers_own_reader(table), (table.option("sqlext.source") or "").lower() == "arrow"
    if not prefers and not is_asked:
        return False  # first: who looks for a reader imports Arrow
    reason = connector.no_own_reader(table)
    if reason and is_asked:
        raise SqlExtError("OPT-033", f"`{table.name.name}` cannot be read by a reader of ours: {reason}", span=span)
    return prefers and not reason
