"""Count the rows that a query without state reads and gives in its one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

_GIVEN = "n"


@dataclass(frozen=True)
class Whole:
    """The rows, not computed yet; when they are, they are counted.

    Attributes:
        rows: a static DataFrame.
        inputs: each has one value, how many rows were read of an input.
        given: how many rows it gives.
    """

    rows: DataFrame
    inputs: tuple[Observation, ...]
    given: Observation

    @classmethod
    def of(cls, rows: DataFrame, inputs: Sequence[Observation]) -> Whole:
        """Return rows that will be counted."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        given = Observation()
        return cls(rows.observe(given, f.count(f.lit(1)).alias(_GIVEN)), tuple(inputs), given)

    def written(self) -> int:
        """Return how many rows it gave, once they have been computed."""
        return int(self.given.get[_GIVEN])

    def read(self) -> int:
        """Return how many rows were read, once they have been."""
        return rows_read(self.inputs)


def rows_read(inputs: Sequence[Observation]) -> int:
    """Return how many rows were read of inputs, once they have been; see ``Whole.inputs``."""
    return sum(int(value or 0) for counted in inputs for value in counted.get.values())
