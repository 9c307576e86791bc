"""End a query that has more dead letters than the user bears."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.errors import SqlExtError, counted
from sqlext.settings import DEAD_LETTER_LIMIT, DEAD_LETTER_PERCENT, Settings


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

    def take(self, letters: int, rows: int, query: str) -> None:
        """Count dead letters and other rows.

        Raises:
            SqlExtError: RUN-081 if the limit is broken.
        """
        self.letters += letters
        self.rows += rows
        self._require(query)

    def refuse(self, letters: int, query: str) -> None:
        """Count rows of a batch as dead letters that a sink refuses, which were taken for others; raises too."""
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
