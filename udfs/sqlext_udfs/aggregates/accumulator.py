"""What an accumulator is. Which there are: accumulators.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sqlext_udfs.kernel.groups import Groups, Ints

Types = tuple[pa.DataType, ...]
Columns = Sequence[pa.Array]


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """A wanted aggregate.

    Attributes:
        function: its name, one of accumulators.py.
        inputs: positions of columns.
        distinct: whether each value counts once.
        parameters: what else the function needs, by name; plain JSON values, and of ``python`` its class.
    """

    function: str
    inputs: tuple[int, ...] = ()
    distinct: bool = False
    parameters: tuple[tuple[str, Any], ...] = ()

    def parameter(self, name: str, default: Any = None) -> Any:
        """Return a parameter, or a default."""
        return dict(self.parameters).get(name, default)


class Accumulator(ABC):
    """One aggregate's partial results.

    Attributes:
        partial_types: of the columns of a partial result.
        output_types: of the columns of the result.
        ordered: whether the order of rows matters: then a partial result begins with a column of positions.
    """

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

    @abstractmethod
    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return a partial result of the partial results of each group."""

    def renumbered(self, partials: Columns, first: int) -> list[pa.Array]:
        """Return partial results whose places in the order of arrival are their own order, from a number on.

        ``start`` may have worked where only the order within some of a batch's rows was known.
        """
        return list(partials)

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return the output columns: the partial results themselves, where they are it."""
        return list(partials)
