"""Define what a function over frames does; ``functions`` lists all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Columns, Types
from sqlext_udfs.over.blocks import Before
from sqlext_udfs.over.bounds import FrameBounds


@dataclass(frozen=True, slots=True)
class FrameReach:
    """How far frames of later rows reach back to rows that have come out.

    Attributes:
        rows: how many rows of each key, counted from the last.
        time: how many milliseconds; None: no frame goes by time.
    """

    rows: int = 0
    time: int | None = None


@dataclass(frozen=True)
class Evaluated:
    """The results of a function in one step.

    Attributes:
        outputs: columns with a row for each row that comes out.
        running: columns with a row for each key that has such rows, in the order of keys: what the function keeps.
    """

    outputs: list[pa.Array]
    running: list[pa.Array]


class FrameFunction(ABC):
    """A function with its frame.

    Attributes:
        inputs: positions of the columns that it looks at.
        output_types: of its results.
        running_types: of what it keeps of each key, where its frame has no beginning.
        reach: which rows that have come out it needs again.
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
