"""What comes out of the windows of a grouping that got no row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlext.dialect.ast.expressions import Expr
from sqlext.settings import DEFAULT_FILL_LIMIT
from sqlext.types import LogicalType


@dataclass(frozen=True, slots=True)
class FilledColumn:
    """A column that FILL names.

    Attributes:
        physical: the column.
        type: its type, None where unknown.
        kind: what it has.
        value: the constant.
    """

    physical: str
    type: LogicalType | None
    kind: Literal["LAST", "LINEAR", "CONSTANT"]
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class WindowFill:
    """Which windows without rows come out, and what is in them.

    Attributes:
        ms: how long a key is filled behind its last window with rows; 0 where the keys of a table are.
        columns: those that are named; others have what aggregates give of no rows.
        table: the name of the table whose keys are filled, None for keys with rows.
        keys: physical columns of that table, one for each key of the grouping.
        limit: how many windows may come out at once, in one bucket of keys.
    """

    ms: int
    columns: tuple[FilledColumn, ...] = ()
    table: str | None = None
    keys: tuple[str, ...] = ()
    limit: int = DEFAULT_FILL_LIMIT

    @property
    def carries(self) -> bool:
        """Whether the results of the last window with rows are needed."""
        return any(c.kind != "CONSTANT" for c in self.columns)

    @property
    def joins(self) -> bool:
        """Whether the next window with rows is waited for."""
        return any(c.kind == "LINEAR" for c in self.columns)

    def column(self, physical: str) -> FilledColumn | None:
        """Return what is said of a column, None if nothing is."""
        return next((c for c in self.columns if c.physical == physical), None)

    @property
    def bound(self) -> str:
        """How its state ends, and how much may come out at once, as EXPLAIN says it."""
        return f"{self._state}; at most {self.limit:,} windows without rows at once in a task"

    @property
    def _state(self) -> str:
        if self.table is not None:
            more = ", and the results of its last window with rows" if self.carries else ""
            return f"each key of {self.table}{more}, for ever"
        what = "its last window with rows" + (" and its results" if self.carries else "")
        return f"of each key {what}, until the watermark is {self.ms} ms behind the end of that window"
