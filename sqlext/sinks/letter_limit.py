"""End a query that has more dead letters than the user bears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError, counted
from sqlext.settings import DEAD_LETTER_LIMIT, DEAD_LETTER_PERCENT, Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass
class LetterLimit:
    """Counts the dead letters of a query, and the rows beside them, from when it was started.

    It is asked before a batch is written. So of the batch that breaks the limit no table has anything.

    Attributes:
        most: how many dead letters there may be, None for any number.
        percent: how large a part of all rows that come out they may be, None for any.
        refused: how many of the dead letters a sink refused.
    """

    most: int | None = None
    percent: int | None = None
    letters: int = 0
    rows: int = 0
    refused: int = 0

    @classmethod
    def of(cls, settings: Settings) -> LetterLimit:
        """Return the limit that SET says."""
        return cls(settings.whole(DEAD_LETTER_LIMIT), settings.whole(DEAD_LETTER_PERCENT))

    def check(self, batch: DataFrame, conditions: Sequence[str], query: str) -> None:
        """Count the rows of a batch.

        Args:
            conditions: what holds for dead letters.

        Raises:
            SqlExtError: RUN-081 if the limit is broken.
        """
        if self.most is None and self.percent is None:
            return
        is_letter = " OR ".join(f"({c})" for c in conditions)
        found = batch.selectExpr(f"count_if({is_letter}) AS letters", "count(1) AS every").first()
        assert found is not None  # an aggregate without keys has a row
        self.take(found["letters"], found["every"] - found["letters"], query)

    def take(self, letters: int, rows: int, query: str) -> None:
        """Count dead letters and other rows; raises as ``check``."""
        self.letters += letters
        self.rows += rows
        self._require(query)

    def refuse(self, letters: int, query: str) -> None:
        """Count rows of a batch as dead letters that a sink refuses, which ``check`` took for others; raises too."""
        self.refused += letters
        self.take(letters, -letters, query)

    def _require(self, query: str) -> None:
        if self.most is not None and self.letters > self.most:
            raise self._broken(query, f"'{DEAD_LETTER_LIMIT}' = {self.most}")
        if self.percent is not None and self.letters * 100 > self.percent * (self.letters + self.rows):
            raise self._broken(query, f"'{DEAD_LETTER_PERCENT}' = {self.percent}")

    def _broken(self, query: str, limit: str) -> SqlExtError:
        said = f"{counted(self.letters, 'dead letter')} beside {counted(self.rows, 'row')}"
        return SqlExtError(
            "RUN-081",
            f"query `{query}` has {said}, and {limit}",
            hint="mend what makes them, or SET a higher limit: the query goes on with the batch that broke it",
        )
