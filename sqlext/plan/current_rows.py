"""The node of a table of upserts, read as a changelog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sqlext.plan.stateful import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentRows(Operator):
    """The changes that records make to a table of one row for each key: Flink's ChangelogNormalize.

    Its input is a scan that ``upserts``: each record is the row of its key from then on, or says that there is none.
    The operator keeps the rows, so that it can take back what a record replaces.

    Attributes:
        primary: physical columns of the PRIMARY KEY.
        ttl: ms of processing time after which a key to which no record came is forgotten.
    """

    primary: tuple[str, ...]
    ttl: int | None = None

    function: ClassVar[str] = "current"

    @property
    def what(self) -> str:
        """What it keeps."""
        return f"current rows by {', '.join(self.primary)}"

    @property
    def bound(self) -> str:
        """As many rows as the table has."""
        return ", ".join(["the row of each key", *self._lives()])

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield the key."""
        # Places, not names: a column that is only renamed leaves the state as it is.
        places = [c.physical for c in self.columns]
        yield "PRIMARY KEY", ", ".join(self.primary), [places.index(p) for p in self.primary]
