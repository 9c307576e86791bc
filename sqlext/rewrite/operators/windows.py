"""Add the window operator to a script."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.rewrite.operators.step import Arguments, OperatorStep
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.policy_json import policy_to_json

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
#: What an accumulator is to the operator: its function, the places of its inputs, DISTINCT, parameters, and the name
#: by which its state is found.
Aggregate = tuple[str, tuple[int, ...], bool, tuple[tuple[str, object], ...], str]


@dataclass(frozen=True)
class WindowStep(OperatorStep):
    """What the window operator is told (``sqlext_udfs.spark.windows``).

    Attributes:
        policy: which windows, and when they give panes.
        keys: names of the key columns, which come first in the input and in the output.
        places: what else of a row stands where.
        results: names of the columns that the aggregates give.
        asked: names of the columns that are to come out.
        latest: whether of the panes of a micro-batch only the last is looked at.
        fill: the fields of ``Filling``; None where windows without rows do not come out.
        nexts: names of the columns of a filled window behind all others.
    """

    policy: Policy
    keys: tuple[str, ...]
    places: Arguments
    aggregates: tuple[Aggregate, ...]
    results: tuple[str, ...]
    asked: frozenset[str] = frozenset()
    latest: bool = False
    fill: Arguments | None = None
    nexts: tuple[str, ...] = ()

    def arguments(self, name: str) -> Arguments:
        """Return the policy, the places of columns, and which columns come out."""
        columns = (*self.keys, "__start", "__end", *self.results, *PANE_COLUMNS, *self.nexts)
        arguments: Arguments = (
            ("policy", policy_to_json(self.policy)),
            ("places", (("keys", len(self.keys)), *self.places)),
            ("aggregates", self.aggregates),
            ("columns", columns),
            ("asked", tuple(c for c in columns if c in self.asked)),
            ("name", name),
        )
        if self.latest:
            arguments += (("latest", True),)
        if self.fill is not None:
            arguments += (("fill", self.fill),)
        return (*arguments, ("lag", self.lag)) if self.lag else arguments
