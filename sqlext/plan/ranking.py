"""The node of Top-N and deduplication."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlext.dialect.ast.expressions import Call, Expr
from sqlext.dialect.ast.queries import OrderItem
from sqlext.plan.base import PlanNode
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import Aliased, Project
from sqlext.plan.normal_form import column_form, expression_form, value_form
from sqlext.plan.scope import Scope
from sqlext.plan.stateful import Operator
from sqlext.source import Span
from sqlext_udfs.ranking.specification import ALL, Emission, Ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank(Operator):
    """The rows of its input whose number inside their key is in range.

    Its columns are those of its input, and last the number; what tells rows apart is an expression over the input.

    Attributes:
        scope: the names that the expressions use.
        call: numbers the rows; with its window, which has no name.
        partition: PARTITION BY, without the bounds of a window.
        order: ORDER BY, without a time attribute that stands for the order of arrival; empty: that order.
        time: the rowtime whose first value decides (FIRST).
        window: the window whose rows are ranked (WINDOW).
        ranking: how rows are numbered.
        first, last: the numbers in range; ``last`` is None until a filter says it.
        numbered: whether somebody looks at the number.
        emission: when rows come out.
        latest_first: of rows that are equal in ORDER BY the last one that came comes first.
        ttl: ms of processing time after which a key to which no row came is forgotten.
    """

    scope: Scope
    call: Call
    partition: tuple[Expr, ...]
    order: tuple[OrderItem, ...]
    time: PlanColumn | None = None
    window: PlanColumn | None = None
    ranking: Ranking = Ranking.ROW_NUMBER
    first: int = 1
    last: int | None = None
    numbered: bool = True
    emission: Emission = Emission.CHANGES
    latest_first: bool = False
    ttl: int | None = None

    function: ClassVar[str] = "rank"

    @property
    def number(self) -> str:
        """The physical column of the number."""
        return self.columns[-1].physical

    def settled(self) -> Rank:
        """Return it with ``retracts`` as the rest of it says."""
        return replace(self, retracts=self._pushes_out())

    def _pushes_out(self) -> bool:
        """Whether rows that are out can be pushed out of range: not by later ones, where the first ones stay first."""
        if self.emission is not Emission.CHANGES:
            return False
        return bool(self.order) or self.latest_first or self.sources[0].changelog

    @property
    def event_time(self) -> bool:
        """Whether the watermark says when rows come out."""
        return self.emission is not Emission.CHANGES

    @property
    def what(self) -> str:
        """Deduplication keeps one row of a key, Top-N some."""
        texts = (e.span.one_line for e in self.partition)
        keys = ", ".join([*(["the window"] if self.window else []), *texts])
        of = f" by {keys}" if keys else ""
        if self.last == ALL:
            return f"{self.ranking.value} of all rows{of}"
        if self.last == self.first == 1:
            return f"deduplication{of}" if self.emission is Emission.FIRST else f"Top-1{of}"
        return f"Top-{self.last}{of}"

    @property
    def bound(self) -> str:
        """A window ends; of rows that only come the first ones are enough."""
        if self.emission is Emission.WINDOW:
            return "until the window ends"
        # Of a changelog all rows are kept: one behind the range moves up when one inside is taken back.
        rows = (
            ""
            if self.sources[0].changelog or self.last == ALL
            else f"{self.last} row{'s' if self.last != 1 else ''} of each key"
        )
        return ", ".join([*([rows] if rows else []), *self._lives()])

    @property
    def grows(self) -> bool:
        """New keys come as long as the query runs, but those of a window end with it."""
        if self.emission is Emission.WINDOW or self.ttl is not None:
            return False
        return bool(self.partition) or not self.bound

    @property
    def clause(self) -> Span | None:
        """The call that numbers the rows."""
        return self.call.span

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield what its state depends on."""
        below = self.sources[0].columns
        yield "rank keys", ", ".join(e.span.text for e in self.partition), value_form(self.partition, self.scope)
        order = [(expression_form(o.expr, self.scope), o.descending, o.nulls) for o in self.order]
        yield "rank order", ", ".join(o.span.text for o in self.order), order
        times = [column_form(c, below) if c is not None else None for c in (self.time, self.window)]
        shown = f"{self.ranking.value} {self.first} to {self.last}, {self.emission.value.lower()}"
        # The state of a window's rank holds rows of either order, so its checkpoints go on under both.
        yield "rank", shown, (shown, times, self.numbered, self.latest_first and self.window is None)


def most_rows(plan: PlanNode) -> int | None:
    """Return how many rows a plan can give, where LIMIT takes those that come first; None where it is not known."""
    while isinstance(plan, (Project, Aliased)):
        plan = plan.input
    if not isinstance(plan, Rank) or plan.last is None:
        return None
    # Rows that are taken back, or that a better one replaces, leave room for others. So do other windows and ties.
    of_all = not plan.partition and plan.window is None and plan.ranking is Ranking.ROW_NUMBER
    stands = of_all and not (plan.order or plan.latest_first or plan.inputs[0].updating or plan.changelog)
    return plan.last - plan.first + 1 if stands else None
