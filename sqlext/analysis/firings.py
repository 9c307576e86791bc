"""When a grouping needs an operator of ours, and what that operator is to do.

Spark's own operators are used wherever they give the same rows; everything else is named here, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlext.analysis.calls import is_aggregate
from sqlext.analysis.grouping import Grouping
from sqlext.analysis.parts import own_parts
from sqlext.analysis.scope import Scope
from sqlext.dialect.expression_nodes import Call, ColumnRef, Expr
from sqlext.dialect.query_nodes import Select
from sqlext.plan import nodes
from sqlext.plan.firing import Firing
from sqlext.plan.windows import WindowKind, WindowSpec
from sqlext.udfs.core.policy import Cumulate, Global, Hop, Policy, Session, Tumble
from sqlext.udfs.core.policy import WindowKind as CoreWindow
from sqlext.udfs.core.trigger_tree import AfterWatermark, EveryRow

#: An aggregate of these is the same with DISTINCT and without.
_SAME_DISTINCT = ("MIN", "MAX")


@dataclass(frozen=True)
class Grouped:
    """A SELECT that groups a stream."""

    select: Select
    node: nodes.PlanNode
    scope: Scope
    grouping: Grouping
    expressions: Sequence[Expr]
    assign: nodes.AssignWindows | None

    def aggregates(self) -> Iterator[Call]:
        """Yield its aggregates."""
        having = [self.select.having] if self.select.having is not None else []
        for expr in (*self.expressions, *having):
            for part in own_parts(expr):
                if isinstance(part, Call) and is_aggregate(part, self.scope.mode):
                    yield part


def find_firing(grouped: Grouped) -> Firing | None:
    """Return what an operator of ours does for a grouping, None where Spark's own operators do."""
    why = [*_of_aggregates(grouped), *_of_windows(grouped)]
    if not why:
        return None
    spec = grouped.assign.spec if grouped.assign is not None else None
    if spec is None:
        return Firing(Policy(Global(), EveryRow()), False, tuple(why), once=False)
    policy = Policy(windows_of(spec), AfterWatermark(), processing_time=spec.processing)
    return Firing(policy, _is_given(grouped), tuple(dict.fromkeys(why)))


def _of_aggregates(grouped: Grouped) -> Iterator[str]:
    for call in grouped.aggregates():
        if call.distinct and call.function not in _SAME_DISTINCT:
            yield f"{call.function}(DISTINCT ...)"


def _of_windows(grouped: Grouped) -> Iterator[str]:
    spec = grouped.assign.spec if grouped.assign is not None else None
    if spec is None:
        return
    if spec.kind is WindowKind.CUMULATE and not _is_given(grouped):
        yield "CUMULATE"
    if spec.processing:
        yield "windows of processing time"


def windows_of(spec: WindowSpec) -> CoreWindow:
    """Return the windows that an operator gives rows by their time."""
    if spec.kind is WindowKind.SESSION:
        return Session(spec.size)
    if spec.kind is WindowKind.HOP:
        return Hop(spec.size, spec.slide, spec.offset)
    if spec.kind is WindowKind.CUMULATE:
        return Cumulate(spec.size, spec.slide, spec.offset)
    return Tumble(spec.size, spec.offset)


def _is_given(grouped: Grouped) -> bool:
    """Whether rows must have their windows before the operator: someone looks at them, or they are a zone's."""
    assign = grouped.assign
    assert assign is not None
    below = grouped.node.input if isinstance(grouped.node, nodes.Aliased) else grouped.node
    wall = assign.spec.wall_clock is not None and assign.spec.kind is not WindowKind.SESSION
    return below is not assign or wall or any(_looks_at(e, assign, grouped.scope) for e in _inputs(grouped))


def _inputs(grouped: Grouped) -> Iterator[Expr]:
    """Yield the expressions that are computed from the rows, before the operator."""
    if grouped.select.where is not None:
        yield grouped.select.where
    yield from grouped.grouping.expressions
    for call in grouped.aggregates():
        yield from (a for a in call.args if isinstance(a, Expr))
        if call.filter is not None:
            yield call.filter


def _looks_at(expr: Expr, assign: nodes.AssignWindows, scope: Scope) -> bool:
    refs: Iterable[ColumnRef] = (p for p in own_parts(expr) if isinstance(p, ColumnRef))
    return any(scope.has(r) and scope.find(r).column.physical == assign.physical for r in refs)
