"""Add an operator of ours to a script."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.plan.base import KIND
from sqlext.plan.stateful import Stateful
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.arrow.choose_source import chosen_input, chosen_inputs
from sqlext.rewrite.relations.operator_input import OperatorInput
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.script.model import ArrowView, OperatorView, SqlView, Step

if TYPE_CHECKING:
    from sqlext.rewrite.arrow.pushdown import Pushed

#: What a stateful function is told, by names.
Arguments = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class OperatorStep(ABC):
    """An operator's place in a script.

    Attributes:
        node: whose operator it is; says its function and what it waits for.
    """

    node: Stateful

    @abstractmethod
    def arguments(self, name: str) -> Arguments:
        """Return what the function is told; ``name`` is the operator's in its query."""

    @property
    def lag(self) -> int:
        """By how many ms the rows that go in can be older than the watermark says."""
        return max((i.lag for i in self.node.inputs), default=0)

    def add(self, renderer: Rendering, query: str) -> str:
        """Add the steps that run the operator over a query; return the view of its output."""
        prepared = renderer.add_step(lambda name: SqlView(name, query))
        return self._operated(renderer, prepared, self.arguments(str(len(renderer.steps))), "")

    def add_pushed(self, renderer: Rendering, inputs: Sequence[Pushed]) -> str:
        """Add the steps that run the operator's first part where the rows are read; return the view of its output."""
        from sqlext.rewrite.arrow.pushdown import add_packed  # it needs Arrow, which few statements do

        # The number that the packed step will have: ``add_packed`` adds one for each input, and one more.
        arguments = self.arguments(str(len(renderer.steps) + len(inputs) + 1))
        first = len(renderer.steps)
        prepared = add_packed(renderer, inputs, self.node.function, arguments)
        told_by = self._told_by(renderer, renderer.steps[first:])
        return self._operated(renderer, prepared, (*arguments, ("packed", inputs[0].types)), told_by)

    def _told_by(self, renderer: Rendering, packed: Sequence[Step]) -> str:
        """Return the view of the input that tells what time it is with its rows; empty if none does."""
        asks = self.node.ticks and renderer.end is InputEnd.NONE
        return next((s.view for s in packed if isinstance(s, ArrowView) and s.tells_time), "") if asks else ""

    def _operated(self, renderer: Rendering, prepared: str, arguments: Arguments, told_by: str) -> str:
        node = self.node
        return renderer.add_step(
            lambda name: OperatorView(name, prepared, node.function, arguments, node.ticks, node.ends, told_by=told_by)
        )


def rows_of_input(of: OperatorInput, renderer: Rendering) -> str:
    """Return the query of an operator's input that is not worked on where it is read.

    In a query that is one batch Arrow reads it nevertheless, where it can: then nothing of it is a stream.
    """
    pushed = chosen_input(of, 0, renderer) if renderer.at_once and not renderer.local else None
    if pushed is None:
        return of.query(renderer)
    renderer.read_by_spark.pop(pushed.scan.table.name.name, None)
    typed, columns = pushed.with_types()
    view = renderer.add_step(lambda name: typed.view(name, "", ()))
    return f"SELECT {', '.join(columns)} FROM {view}"


@dataclass(frozen=True)
class SpecifiedStep(OperatorStep):
    """What an operator with a specification is told (``sqlext_udfs.spark.specified``).

    Attributes:
        specification: its fields, plain values; ``keys`` is one of them.
        columns: names of the columns that come out, without the row kind.
    """

    specification: Arguments
    columns: tuple[str, ...]

    def over(self, renderer: Rendering, *inputs: OperatorInput) -> str:
        """Add the steps that run the operator over relations; return the view of its output, ``KIND`` last.

        Where Arrow reads all of them, rows are packed, and worked on as far as they can be, where they are read.
        """
        keys = dict(self.specification)["keys"]
        assert isinstance(keys, int)
        pushed = chosen_inputs(inputs, keys, renderer)
        if pushed is not None:
            return self.add_pushed(renderer, pushed)
        return self.add(renderer, " UNION ALL ".join(rows_of_input(i, renderer) for i in inputs))

    def arguments(self, name: str) -> Arguments:
        """Return the specification, and what there is to know of time."""
        return (
            ("specification", self.specification),
            ("columns", (*self.columns, KIND)),
            ("event_time", self.node.event_time),
            ("lag", self.lag),
            ("name", name),
        )
