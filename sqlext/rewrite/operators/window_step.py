"""Add the window operator to a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.script.model import OperatorView, SqlView
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.policy_json import policy_to_json

if TYPE_CHECKING:
    from sqlext.rewrite.arrow.pushdown import Pushed

#: What the operator adds to keys, bounds and results, in order (``sqlext_udfs.windows.specification``).
PANE_COLUMNS = (
    "__pane_index",
    "__pane_non_speculative_index",
    "__pane_timing",
    "__pane_is_first",
    "__pane_is_last",
    "__pane_ms",
    "__row_kind",
    "__late_row",
    "__late_watermark",
)
#: What an accumulator is to the operator: its function, the places of its inputs, DISTINCT, parameters.
Aggregate = tuple[str, tuple[int, ...], bool, tuple[tuple[str, object], ...]]


@dataclass(frozen=True)
class WindowStep:
    """What the operator is told (``sqlext_udfs.spark.windows``).

    Attributes:
        keys: names of the key columns, which come first in the input and in the output.
        places: what else of a row stands where.
        results: names of the columns that the aggregates give.
        asked: names of the columns that are to come out.
        latest: whether of the panes of a micro-batch only the last is looked at.
        ticks: as in ``OperatorView``.
        ends: as in ``OperatorView``.
        lag: by how many ms its rows can be older than the watermark says.
    """

    policy: Policy
    keys: tuple[str, ...]
    places: tuple[tuple[str, object], ...]
    aggregates: tuple[Aggregate, ...]
    results: tuple[str, ...]
    asked: frozenset[str] = frozenset()
    latest: bool = False
    ticks: str = "start"
    ends: bool = False
    lag: int = 0

    def add(self, renderer: Rendering, query: str) -> str:
        """Add the steps that run the operator over a query; return the view of its output."""
        prepared = renderer.add_step(lambda name: SqlView(name, query))
        return self._operated(renderer, prepared, self._arguments(str(len(renderer.steps))))

    def add_pushed(self, renderer: Rendering, pushed: Pushed) -> str:
        """Add the steps that run the operator's first part where the rows are read; return the view of its output."""
        from sqlext.rewrite.arrow.pushdown import add_packed  # it needs Arrow, which few statements do

        arguments = self._arguments(str(len(renderer.steps) + 2))
        prepared = add_packed(renderer, [pushed], "window", arguments)
        return self._operated(renderer, prepared, (*arguments, ("packed", pushed.types)))

    def _operated(self, renderer: Rendering, prepared: str, arguments: tuple[tuple[str, object], ...]) -> str:
        return renderer.add_step(lambda name: OperatorView(name, prepared, "window", arguments, self.ticks, self.ends))

    def _arguments(self, name: str) -> tuple[tuple[str, object], ...]:
        columns = (*self.keys, "__start", "__end", *self.results, *PANE_COLUMNS)
        arguments: tuple[tuple[str, object], ...] = (
            ("policy", policy_to_json(self.policy)),
            ("places", (("keys", len(self.keys)), *self.places)),
            ("aggregates", self.aggregates),
            ("columns", columns),
            ("asked", tuple(c for c in columns if c in self.asked)),
            ("name", name),
        )
        if self.latest:
            arguments += (("latest", True),)
        return (*arguments, ("lag", self.lag)) if self.lag else arguments
