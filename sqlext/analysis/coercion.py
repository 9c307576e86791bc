"""Which types go together: Flink's implicit casts."""

from __future__ import annotations

from sqlext.types import LogicalType


def can_implicitly_cast(from_: LogicalType | None, to: LogicalType) -> bool:
    """Whether INSERT takes a value of one type for a column of another (Flink's sink rules)."""
    raise NotImplementedError
