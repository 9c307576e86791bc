"""Table definitions for tests, without a parser."""

from __future__ import annotations

from sqlext.types import LogicalType
from sqlext_catalog.model import Column, ObjectName, PrimaryKey, Table, Watermark


def table(
    columns: dict[str, LogicalType],
    options: dict[str, str],
    *,
    rowtime: str | None = None,
    partitioned_by: tuple[str, ...] = (),
    primary_key: tuple[str, ...] = (),
    metadata: dict[str, tuple[LogicalType, str]] | None = None,
    name: str = "t",
) -> Table:
    """Return a table; ``metadata`` maps a column to its type and key."""
    physical = [Column(n, t) for n, t in columns.items()]
    extra = [Column(n, t, "metadata", metadata_key=k) for n, (t, k) in (metadata or {}).items()]
    return Table(
        name=ObjectName("default_catalog", "default_database", name),
        columns=(*physical, *extra),
        watermark=Watermark(rowtime, f"{rowtime} - INTERVAL '5' SECOND") if rowtime else None,
        primary_key=PrimaryKey("PK", primary_key) if primary_key else None,
        partitioned_by=partitioned_by,
        options=tuple(options.items()),
    )
