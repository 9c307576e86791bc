"""Say how a grouping is computed again so that each of its panes is told: its number, its phase, its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlext.dialect.ast.expressions import Call
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.plan.columns import PlanColumn
from sqlext.plan.grouping import Aggregate
from sqlext.plan.lineage.origins import Group
from sqlext.plan.lineage.tests import Equal
from sqlext.plan.nodes import Output, WindowKind
from sqlext.plan.normal_form import expression_form
from sqlext.plan.scope import own_parts
from sqlext_udfs.windows.policy import LimitedSession, Session

#: What is told of each pane, in this order; the results of the grouping stand behind.
TOLD = ("PANE_INDEX()", "PANE_TIMING()", "COUNT(*)")
_BOUNDS = ("start", "end", "time")


@dataclass(frozen=True)
class PanedGroup:
    """A grouping whose rows are all its panes, and what tells those of one group.

    Attributes:
        plan: the grouping. Its first columns are those of ``TOLD``, then keys and bounds of windows. Behind all others
            stands what a row does to the result (``plan.base.KIND``).
        keys: what the keys must be.
        bounds: ``start``, ``end`` or ``time`` of the window, as far as they are known, by their column.
        windows: the columns of the start and the end of the window; none without a window.
        grows: whether the window was smaller in panes before the last one: a session.
        results: physical column and name of each result; they are the last columns before ``having``.
        having: whether the last visible column says whether HAVING holds.
    """

    plan: Aggregate
    keys: tuple[Equal, ...]
    bounds: Mapping[int, tuple[str, Any]]
    windows: tuple[int, ...]
    grows: bool
    results: tuple[tuple[str, str], ...]
    having: bool


@dataclass
class _Made:
    """The columns of a grouping that is under way."""

    outputs: list[Output] = field(default_factory=list)
    columns: list[PlanColumn] = field(default_factory=list)

    def add(self, output: Output) -> None:
        """Add a column that has no other name than its physical one."""
        self.outputs.append(output)
        self.columns.append(PlanColumn(output.physical, None, output.physical))


def paned(group: Group, *, results: bool) -> PanedGroup:
    """Return how the panes of a group are told.

    Args:
        results: whether its results are told too: its aggregates then must be known without Spark.
    """
    node, made = group.node, _Made()
    assert node.firing is not None
    for n, text in enumerate(TOLD):
        made.add(Output(f"__told_{n}", expr=parse_expression_text(text)))
    keys = tuple(_add_keys(made, group))
    windows, bounds = _add_window(made, group)
    names = tuple(_add_results(made, node)) if results else ()
    having = node.having is not None and results
    if having:
        made.add(Output("__having", expr=node.having))
    plan = replace(
        node,
        columns=tuple(made.columns),
        outputs=tuple(made.outputs),
        having=None,
        retracts=True,
        firing=node.firing.told(),
    )
    return PanedGroup(plan, keys, bounds, windows, _grows(node), names, having)


def _add_keys(made: _Made, group: Group) -> Iterator[Equal]:
    """Add the keys whose values are known; yield what they must be."""
    node = group.node
    forms = {_form(node, e) for e in node.by.expressions}
    for output in node.outputs:
        fact = group.facts.get((output.physical, None))
        if output.expr is not None and _form(node, output.expr) in forms and fact is not None:
            yield Equal(len(made.columns), fact)
            made.add(replace(output, physical=f"__held_{len(made.columns)}"))


def _add_window(made: _Made, group: Group) -> tuple[tuple[int, ...], Mapping[int, tuple[str, Any]]]:
    """Add the bounds of the window; return the columns of start and end, and the bounds that are known."""
    assign, name = group.node.assignment(), group.node.by.window
    if assign is None or name is None:
        return (), {}
    first = len(made.columns)
    known = {bound: value for (_, bound), value in group.facts.items() if bound in _BOUNDS}
    of_window = {c.window_bound: c for c in assign.columns if c.physical == assign.physical}
    made.outputs.append(Output(name, handed_on=replace(of_window["start"], physical=name)))
    made.columns += (replace(of_window[b], name=f"__{b}", physical=name, time=None) for b in _BOUNDS)
    return (first, first + 1), {first + n: (b, known[b]) for n, b in enumerate(_BOUNDS) if b in known}


def _add_results(made: _Made, node: Aggregate) -> Iterator[tuple[str, str]]:
    """Add the results; yield physical column and name of each."""
    for output in node.outputs:
        for column in (c for c in node.columns if c.physical == output.physical and _is_result(output)):
            made.outputs.append(output)
            made.columns.append(replace(column, time=None))
            yield output.physical, column.name


def _grows(node: Aggregate) -> bool:
    """Whether windows are smaller in panes before the last one: sessions."""
    assign = node.assignment()
    of_policy = node.firing is not None and isinstance(node.firing.policy.window, (Session, LimitedSession))
    return of_policy or (assign is not None and assign.spec.kind is WindowKind.SESSION)


def _is_result(output: Output) -> bool:
    """Whether a column is told; what a row does to the result is, in any case."""
    parts = own_parts(output.expr) if output.expr is not None else ()
    return output.expr is not None and not any(isinstance(p, Call) and p.function == "ROW_KIND" for p in parts)


def _form(node: Aggregate, expr: Any) -> str:
    return repr(expression_form(expr, node.scope))
