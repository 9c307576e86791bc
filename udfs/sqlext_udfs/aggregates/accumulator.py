"""Define what an accumulator does; ``known`` lists all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Groups, Ints
from sqlext_udfs.kernel.ranges import Ranges

Types = tuple[pa.DataType, ...]
Columns = Sequence[pa.Array]


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """One call of an aggregate function.

    Attributes:
        function: its name, one of ``aggregates.known``.
        inputs: positions of columns.
        distinct: whether each value counts once.
        parameters: what else the function needs, by name: plain JSON values, and of ``python`` the user's class.
        name: by which state knows it, whatever stands beside it; empty where only its place is known.
    """

    function: str
    inputs: tuple[int, ...] = ()
    distinct: bool = False
    parameters: tuple[tuple[str, Any], ...] = ()
    name: str = ""

    def parameter(self, name: str, default: Any = None) -> Any:
        """Return a parameter, or a default."""
        return dict(self.parameters).get(name, default)


class Accumulator(ABC):
    """Compute one aggregate of many groups at once, by partial results.

    A partial result is one row of Arrow columns for each group.

    Attributes:
        partial_types: of the columns of a partial result.
        output_types: of the columns of the result.
        ordered: whether the order of arrival matters.
        takes_gaps: whether ``start`` takes groups without rows; what it gives of them is nothing to look at.
        counts: whether ``start_counting`` finds the sizes of groups by the way.
    """

    takes_gaps = False
    counts = False

    def __init__(self, partial_types: Types, output_types: Types, *, ordered: bool = False) -> None:
        self.partial_types = partial_types
        self.output_types = output_types
        self.ordered = ordered

    @abstractmethod
    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return a partial result of the rows of each group.

        Args:
            inputs: the aggregate's input columns.
            groups: the rows' groups.
            positions: the rows' places in the order of arrival, each once in a group.
        """

    def start_counting(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return what ``start`` does; after that the groups have their sizes."""
        groups.sizes()
        return self.start(inputs, groups, positions)

    @abstractmethod
    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return one partial result for each group of partial results."""

    def merge_ranges(self, partials: Columns, ranges: Ranges) -> list[pa.Array]:
        """Return what ``merge`` does for groups that are ranges; an accumulator need not look at each of their rows."""
        made = [self.merge([taken(p, places) for p in partials], groups) for places, groups in ranges.pieces()]
        return made[0] if len(made) == 1 else [pa.concat_arrays(column) for column in zip(*made, strict=True)]

    def renumbered(self, partials: Columns, first: int) -> list[pa.Array]:
        """Return partial results with new places in the order of arrival: their own order, counted from ``first``.

        ``start`` may have run before the shuffle, where only the order inside a piece of the batch was known.
        """
        return list(partials)

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return the output columns; by default these are the partial results."""
        return list(partials)
