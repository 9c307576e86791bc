"""What a function over frames is. Which there are: over/functions.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Columns, Types
from sqlext_udfs.over.blocks import Before
from sqlext_udfs.over.bounds import FrameBounds


@dataclass(frozen=True, slots=True)
class FrameReach:
    """Which rows that have come out the frames of later rows can still have.

    Attributes:
        rows: so many of each key, the last ones.
        time: those at most so many milliseconds old.
    """

    rows: int = 0
    time: int | None = None


@dataclass(frozen=True)
class Evaluated:
    """Results.

    Attributes:
        outputs: of each row that comes out.
        running: what is known now of each key that has such rows, in the order of keys.
    """

    outputs: list[pa.Array]
    running: list[pa.Array]


class FrameFunction(ABC):
    """A function with its frame.

    Attributes:
        inputs: positions of the columns that it looks at.
        output_types: of its results.
        running_types: of what it keeps of each key, because its frame has no beginning.
        reach: which rows it needs again.
    """

    def __init__(self, inputs: tuple[int, ...], output_types: Types, running_types: Types, reach: FrameReach) -> None:
        self.inputs = inputs
        self.output_types = output_types
        self.running_types = running_types
        self.reach = reach

    @abstractmethod
    def evaluate(self, inputs: Columns, bounds: FrameBounds, before: Before) -> Evaluated:
        """Return the results for the rows that come out.

        Args:
            inputs: the function's columns, of all rows of the timeline.
            bounds: where frames lie.
            before: what was kept of each key of such a row.
        """
