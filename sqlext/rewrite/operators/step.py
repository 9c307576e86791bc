"""Add an operator with a specification to a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.plan.nodes import KIND
from sqlext.plan.stateful import Stateful
from sqlext.rewrite.arrow.choose_source import chosen_inputs
from sqlext.rewrite.relations.operator_input import OperatorInput
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.script.model import OperatorView, SqlView

if TYPE_CHECKING:
    from sqlext.rewrite.arrow.pushdown import Pushed


@dataclass(frozen=True)
class OperatorStep:
    """What an operator is told (``sqlext_udfs.spark.specified``).

    Attributes:
        node: whose operator it is.
        specification: the fields of its specification, plain values; ``keys`` is one of them.
        columns: names of the columns that come out, without the row kind.
    """

    node: Stateful
    specification: tuple[tuple[str, object], ...]
    columns: tuple[str, ...]

    def add(self, renderer: Rendering, *inputs: OperatorInput) -> str:
        """Add the steps that run the operator over relations; return the view of its output, ``KIND`` last.

        Where Arrow reads all of them, rows are packed, and worked on as far as they can be, where they are read.
        """
        keys = dict(self.specification)["keys"]
        assert isinstance(keys, int)
        pushed = chosen_inputs(inputs, keys, renderer)
        if pushed is not None:
            return self._add_pushed(renderer, pushed)
        query = " UNION ALL ".join(i.query(renderer) for i in inputs)
        prepared = renderer.add_step(lambda name: SqlView(name, query))
        return self._operated(renderer, prepared, self._arguments(len(renderer.steps)))

    def _add_pushed(self, renderer: Rendering, inputs: Sequence[Pushed]) -> str:
        from sqlext.rewrite.arrow.pushdown import add_packed  # it needs Arrow, which few statements do

        arguments = self._arguments(len(renderer.steps) + len(inputs) + 1)
        prepared = add_packed(renderer, inputs, self.node.function, arguments)
        return self._operated(renderer, prepared, (*arguments, ("packed", inputs[0].types)))

    def _operated(self, renderer: Rendering, prepared: str, arguments: tuple[tuple[str, object], ...]) -> str:
        node = self.node
        ticks = "clock" if node.uses_clock else "start" if node.event_time or node.ends else ""
        return renderer.add_step(lambda name: OperatorView(name, prepared, node.function, arguments, ticks, node.ends))

    def _arguments(self, number: int) -> tuple[tuple[str, object], ...]:
        return (
            ("specification", self.specification),
            ("columns", (*self.columns, KIND)),
            ("event_time", self.node.event_time),
            ("lag", max((i.lag for i in self.node.inputs), default=0)),
            ("name", str(number)),
        )
