"""Say how a grouping is computed again so that each of its panes is told: its number, its phase, its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
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


def paned(group: Group, *, results: bool) -> PanedGroup:
    """Return how the panes of a group are told.

    Args:
        results: whether its results are told too: its aggregates then must be known without Spark.
    """
    node = group.node
    assert node.firing is not None
    outputs = [Output(f"__told_{n}", expr=parse_expression_text(text)) for n, text in enumerate(TOLD)]
    columns = [PlanColumn(o.physical, None, o.physical) for o in outputs]
    keys: list[Equal] = []
    forms = {_form(node, e) for e in node.by.expressions}
    for output in node.outputs:
        fact = group.facts.get((output.physical, None))
        if output.expr is not None and _form(node, output.expr) in forms and fact is not None:
            keys.append(Equal(len(columns), fact))
            outputs.append(replace(output, physical=f"__held_{len(columns)}"))
            columns.append(PlanColumn(outputs[-1].physical, None, outputs[-1].physical))
    bounds: dict[int, tuple[str, Any]] = {}
    windows: tuple[int, ...] = ()
    assign = node.assignment()
    if assign is not None and node.by.window is not None:
        known = {bound: value for (_, bound), value in group.facts.items() if bound in _BOUNDS}
        of_window = {c.window_bound: c for c in assign.columns if c.physical == assign.physical}
        outputs.append(Output(node.by.window, handed_on=replace(of_window["start"], physical=node.by.window)))
        windows = (len(columns), len(columns) + 1)
        for bound in _BOUNDS:
            if bound in known:
                bounds[len(columns)] = (bound, known[bound])
            columns.append(replace(of_window[bound], name=f"__{bound}", physical=node.by.window, time=None))
    shown = [(o, c) for o in node.outputs if _is_result(o) for c in node.columns if c.physical == o.physical]
    if results:
        outputs += [o for o, _ in shown]
        columns += [replace(c, time=None) for _, c in shown]
    having = node.having is not None and results
    if having:
        outputs.append(Output("__having", expr=node.having))
        columns.append(PlanColumn("__having", None, "__having"))
    plan = replace(
        node, columns=tuple(columns), outputs=tuple(outputs), having=None, retracts=True, firing=node.firing.told()
    )
    grows = isinstance(node.firing.policy.window, (Session, LimitedSession)) or (
        assign is not None and assign.spec.kind is WindowKind.SESSION
    )
    names = tuple((o.physical, c.name) for o, c in shown) if results else ()
    return PanedGroup(plan, tuple(keys), bounds, windows, grows, names, having)


def _is_result(output: Output) -> bool:
    """Whether a column is told; what a row does to the result is, in any case."""
    parts = own_parts(output.expr) if output.expr is not None else ()
    return output.expr is not None and not any(isinstance(p, Call) and p.function == "ROW_KIND" for p in parts)


def _form(node: Aggregate, expr: Any) -> str:
    return repr(expression_form(expr, node.scope))
