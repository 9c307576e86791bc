"""Describe the rows that go into an operator: a relation, and the operator's columns over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlext.plan.nodes import PlanNode
from sqlext.rewrite.relations.rendering import Rendering

_PARTITION = "spark_partition_id()"


@dataclass
class InputColumns:
    """The columns ``c0``, ``c1``, ... of an operator's input; equal texts share one."""

    texts: list[str] = field(default_factory=list)

    def place(self, text: str) -> int:
        """Return the place of a column."""
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def query(self, source: str) -> str:
        """Return the query that gives the input."""
        columns = ", ".join(f"{t} AS c{i}" for i, t in enumerate(self.texts))
        return f"SELECT {columns or '1 AS c0'} FROM {source}"


@dataclass(frozen=True)
class OperatorInput:
    """A relation whose rows go into an operator.

    Attributes:
        below: the relation.
        texts: Spark SQL of the operator's columns ``c0``, ``c1``, ... over it, the keys first.
        where: of the condition that its rows meet.
        in_order: rows of a partition keep their order: the first column is the partition's number where Spark makes it.
    """

    below: PlanNode
    texts: Sequence[str]
    where: str | None = None
    in_order: bool = False

    def query(self, renderer: Rendering) -> str:
        """Return the query that gives the input."""
        where = f" WHERE {self.where}" if self.where is not None else ""
        texts = list(self.texts)
        if self.in_order and not renderer.local:  # without Spark there is one partition
            texts[0] = _PARTITION
        return InputColumns(texts).query(f"{renderer.relation(self.below)}{where}")
