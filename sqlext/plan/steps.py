"""List the steps of a plan as a graph: plain values that a query keeps beside its checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlext.plan import nodes
from sqlext.plan.explain import changelog_of, detail_of
from sqlext.plan.stateful import Stateful
from sqlext.secrets import redact_forms

#: What the step is called that takes the rows of the plan.
SINK = "Sink"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A step of a plan.

    Attributes:
        number: of the step, from 0, the sink first; a step comes before those that it reads.
        step: what EXPLAIN calls it: ``Scan``, ``Aggregate``, ``Join``, ...
        detail: what EXPLAIN says of it, without secrets.
        changelog: how its rows change.
        stateful: whether it keeps state.
        input: the name under which a time keeper knows a scan; None of any other step.
        reads: numbers of the steps whose rows it takes.
        row_by_row: whether it gives one row for each that it takes.
    """

    number: int
    step: str
    detail: str
    changelog: str
    stateful: bool
    input: str | None
    reads: tuple[int, ...]
    row_by_row: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> PlanStep:
        """Return what ``to_json`` gave."""
        return PlanStep(**{**value, "reads": tuple(value["reads"])})


def steps_of(plan: nodes.PlanNode, sink: str) -> tuple[PlanStep, ...]:
    """Return the steps of a plan, those that read others first.

    Args:
        sink: who takes its rows, for people.
    """
    return tuple(_Numbering().steps(plan, sink))


class _Numbering:
    def __init__(self) -> None:
        self._number = 0
        self._read: Counter[str] = Counter()

    def steps(self, plan: nodes.PlanNode, sink: str) -> Iterator[PlanStep]:
        yield PlanStep(0, SINK, sink, changelog_of(plan), stateful=False, input=None, reads=(1,))
        yield from self._below(plan)

    def _below(self, node: nodes.PlanNode) -> Iterator[PlanStep]:
        if isinstance(node, nodes.Aliased):  # it only renames: in EXPLAIN it is no step
            yield from self._below(node.input)
            return
        self._number = number = self._number + 1
        below: list[PlanStep] = []
        reads = []
        for read in node.inputs:
            reads.append(self._number + 1)
            below += self._below(read)
        stateful = isinstance(node, Stateful) and node.keeps_state and node.streaming
        yield PlanStep(
            number,
            node.step,
            redact_forms(detail_of(node)),
            changelog_of(node),
            stateful,
            self._input(node),
            tuple(reads),
            node.row_by_row,
        )
        yield from below

    def _input(self, node: nodes.PlanNode) -> str | None:
        """Return the name of a stream as its time keeper has it: a table that is read twice has numbers."""
        if not isinstance(node, nodes.Scan) or not node.is_stream:
            return None
        name = node.table.name.name
        self._read[name] += 1
        return name if self._read[name] == 1 else f"{name}#{self._read[name]}"
