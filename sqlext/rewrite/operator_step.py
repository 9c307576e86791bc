"""A specified operator as a step of a script: its input by places, its output by names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.plan.nodes import KIND
from sqlext.plan.stateful import Stateful
from sqlext.rewrite.script import OperatorView, SqlView

if TYPE_CHECKING:
    from sqlext.rewrite.renderer import Renderer


@dataclass(frozen=True)
class OperatorStep:
    """What an operator is told (``udfs.processors.specified``).

    Attributes:
        node: whose operator it is.
        specification: the fields of its specification, plain values; ``keys`` is one of them.
        columns: names of the columns that come out, without the row kind.
    """

    node: Stateful
    specification: tuple[tuple[str, object], ...]
    columns: tuple[str, ...]

    def add(self, renderer: Renderer, query: str) -> str:
        """Add the steps that run the operator over a query; return the view of its output, ``KIND`` last."""
        prepared = renderer.add_step(lambda name: SqlView(name, query))
        arguments: tuple[tuple[str, object], ...] = (
            ("specification", self.specification),
            ("columns", (*self.columns, KIND)),
            ("event_time", self.node.event_time),
            ("lag", max((i.lag for i in self.node.inputs), default=0)),
            ("name", str(len(renderer.steps))),
        )
        node = self.node
        ticks = "clock" if node.uses_clock else "start" if node.event_time or node.ends else ""
        return renderer.add_step(lambda name: OperatorView(name, prepared, node.function, arguments, ticks, node.ends))
