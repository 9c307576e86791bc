"""The base of all nodes that keep state, and what may be asked of their state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from sqlext.plan.base import KIND, PlanNode
from sqlext.source import Span

#: What to do about a state that nothing bounds.
BOUND_IT = "bound it by a window, an interval of time or table.exec.state.ttl"


@dataclass(frozen=True)
class Stateful(PlanNode):
    """A relation that a registered stateful function makes of others (``sqlext_udfs.spark.registry``).

    Attributes:
        function: the name of that function.
    """

    # It stands beside another base. ``slots=True`` of Python 3.10 would repeat the inherited ones, and refuse that.
    __slots__ = ()

    function: ClassVar[str] = ""

    @property
    def keeps_state(self) -> bool:
        """Whether it keeps state at all, be it Spark's or ours."""
        return True

    @property
    def ttl(self) -> int | None:
        """Ms of processing time after which what got no row is forgotten."""
        return None

    @property
    def uses_clock(self) -> bool:
        """Whether it asks for processing time."""
        return self.ttl is not None

    @property
    def waits(self) -> bool:
        """Whether its rows come when the watermark says so, each once: all at the end of time are the same rows."""
        # A changelog gives a row several times, and the clock stands still at the end of input (rule M14 of EMIT).
        return self.event_time and not self.changelog and not self.uses_clock

    @property
    def appends(self) -> bool:
        """Whether it gives each of its rows once, and the same ones, however its input is cut into micro-batches."""
        return self.waits or (self.settles and not self.changelog)

    @property
    def settles(self) -> bool:
        """Whether what stands of its rows at the end of its input is the same, however that is cut."""
        return not self.uses_clock

    @property
    def ends(self) -> bool:
        """Whether it must be told that a bounded input has ended, because no watermark tells it."""
        return False

    @property
    def ticks(self) -> Literal["", "start", "clock"]:
        """What tells its operator that it is time (``spark.reading.ticks``)."""
        if self.uses_clock:
            return "clock"
        # Spark calls no bucket without rows or a timer: one tick lets each register its timer of the watermark.
        return "start" if self.event_time or self.ends else ""

    @property
    def what(self) -> str:
        """What it is, as messages and EXPLAIN name it: ``Top-N by k``."""
        raise NotImplementedError

    @property
    def bound(self) -> str:
        """How its state ends, as EXPLAIN says it; empty if nothing bounds it."""
        return ", ".join(self._lives())

    @property
    def grows(self) -> bool:
        """Whether its state grows as long as the query runs."""
        return not self.bound

    @property
    def unbounded(self) -> str:
        """What messages say of it where nothing bounds its state."""
        return f"nothing bounds the state of {self.what}"

    @property
    def remedy(self) -> str:
        """What messages say would bound its state."""
        return BOUND_IT

    @property
    def clause(self) -> Span | None:
        """The clause that asks for it."""
        return None

    @property
    def why(self) -> tuple[str, ...]:
        """What of it Spark has no operator for, as EXPLAIN says it."""
        return (self.what,)

    @property
    def detail(self) -> str:
        """What EXPLAIN says of it in the tree."""
        return f"{self.what}; state: {self.bound or 'kept for ever'}"

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield name, text and normal form of what its state depends on, but the time to live.

        ``sqlext.analysis.inserts.fingerprint`` puts them together.
        """
        raise NotImplementedError

    def _lives(self) -> list[str]:
        return [kept_for(self.ttl)] if self.ttl is not None else []


@dataclass(frozen=True, slots=True)
class Operator(Stateful):
    """A relation that an operator of ours with a specification of its own makes; ``sqlext.rewrite.operators`` has each.

    Attributes:
        sources: the relations it reads.
        retracts: whether it takes back rows that it has given out: then each says in ``KIND`` what it does.
    """

    sources: tuple[PlanNode, ...]
    retracts: bool = False

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


def unbounded_states(plan: PlanNode) -> Iterator[Stateful]:
    """Yield the steps over streams whose state nothing bounds, the top first."""
    if isinstance(plan, Stateful) and plan.streaming and plan.grows:
        yield plan
    for node in plan.inputs:
        yield from unbounded_states(node)


def kept_for(ttl: int) -> str:
    """Return how long state with a time to live (ms) is kept."""
    return f"for {ttl} ms of processing time after the last row"
