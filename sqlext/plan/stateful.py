"""The base of nodes that an operator of ours keeps, other than groupings (``nodes.Aggregate``).

Each operator has a node in a file of its own; ``sqlext.rewrite.compiler.renderer`` renders it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlext.plan.nodes import KIND, PlanNode
from sqlext.source import Span


@dataclass(frozen=True, slots=True)
class Stateful(PlanNode):
    """A relation that a registered stateful function makes of others (``udfs.registry``).

    Attributes:
        sources: the relations it reads.
        retracts: whether it takes back rows that it has given out: then each says in ``nodes.KIND`` what it does.
        function: the name of the stateful function.
    """

    sources: tuple[PlanNode, ...]
    retracts: bool = False

    function: ClassVar[str] = ""

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """The relations it reads, left to right."""
        return self.sources

    def with_inputs(self, inputs: tuple[PlanNode, ...]) -> PlanNode:
        """Return it over other inputs of the same columns."""
        return replace(self, sources=inputs)

    @property
    def updating(self) -> bool:
        """Never: what changes comes as a changelog."""
        return False

    @property
    def hidden(self) -> tuple[str, ...]:
        """What it adds of its own."""
        return (KIND,) if self.retracts else ()

    @property
    def event_time(self) -> bool:
        """Whether the watermark means anything to it."""
        return False

    @property
    def uses_clock(self) -> bool:
        """Whether it asks for processing time."""
        return False

    @property
    def waits(self) -> bool:
        """Whether its rows come when the watermark says so, each once: all at the end of time are the same rows."""
        return self.event_time and not self.retracts and not self.uses_clock

    @property
    def ends(self) -> bool:
        """Whether it must be told that a bounded input has ended, because no watermark tells it."""
        return False

    @property
    def lag(self) -> int:
        """By how many ms its rows can be older than the watermark of its inputs says."""
        return max((i.lag for i in self.inputs), default=0)

    @property
    def what(self) -> str:
        """What it is, as EXPLAIN names it: ``Top-N by k``."""
        raise NotImplementedError

    @property
    def bound(self) -> str:
        """How its state ends, as EXPLAIN says it; empty if nothing bounds it."""
        raise NotImplementedError

    @property
    def clause(self) -> Span | None:
        """The clause that asks for it."""
        return None

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield name, text and normal form of what its state depends on (``sqlext.analysis.inserts.fingerprint``)."""
        raise NotImplementedError
