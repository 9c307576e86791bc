"""Describe which windows without rows come out."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.errors import SqlExtError
from sqlext.settings import DEFAULT_FILL_LIMIT, FILL_LIMIT

#: What PANE_TIMING() is of a window without rows.
FILLED = "FILLED"


@dataclass(frozen=True, slots=True)
class Filling:
    """Which windows follow each other, and how long a key is filled.

    Attributes:
        length: ms after the end of a key's last window with rows up to which its windows come out.
        size, step, offset: ms; the step is from the end of a window to that of the next.
        cumulates: whether windows of one size grow by the step (CUMULATE); else each has the size.
        zone: whose wall clock cuts them; None for UTC.
        walls: whether the last two keys are the bounds as the wall clock shows them.
        carries: whether a window without rows has the results of the last one with rows; else they are NULL.
        joins: whether it waits for the next window with rows too, and has its results behind the other columns.
        table: the input's column that says which rows are a table's, whose keys are filled; None where those seen are.
        limit: how many windows without rows a bucket may give at once.
    """

    length: int
    size: int
    step: int
    offset: int = 0
    cumulates: bool = False
    zone: str | None = None
    walls: bool = False
    carries: bool = False
    joins: bool = False
    table: int | None = None
    limit: int = DEFAULT_FILL_LIMIT

    @property
    def most(self) -> int:
        """How many windows of a key come out after one with rows."""
        return self.length // self.step

    @property
    def keys_of_window(self) -> int:
        """How many of the last keys are no keys, but the window's."""
        return 2 if self.walls else 0

    def check(self, windows: int) -> None:
        """Refuse to give so many windows at once (RUN-088), before memory is taken for them."""
        if windows > self.limit:
            raise SqlExtError(
                "RUN-088",
                f"FILL would give {windows:,} windows without rows at once, and '{FILL_LIMIT}' = {self.limit:,}",
                hint="longer windows or fewer keys; is a time far ahead of the others? Or SET a higher limit: each "
                "window takes about 250 bytes of a worker",
            )
