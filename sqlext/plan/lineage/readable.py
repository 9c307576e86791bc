"""Take columns out of what rows are traced by: those that a reader does not give."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlext.dialect.ast.expressions import ColumnRef, Expr
from sqlext.plan.base import PlanNode
from sqlext.plan.columns import PlanColumn
from sqlext.plan.lineage.origins import Origin
from sqlext.plan.nodes import Output, Scan, Selecting, UnaryNode
from sqlext.plan.scope import Scope

_Columns = frozenset[str]


def without_columns(origin: Origin, unread: Collection[str]) -> Origin:
    """Return the rows of a table without some of its columns.

    What would be tested by them is not tested, and then more rows may pass: ``exact`` is False.

    Args:
        unread: the columns, by their names in the table.
    """
    if not unread:
        return origin
    below, gone, same = _without(origin.plan.input, frozenset(unread))
    kept = [n for n, output in enumerate(origin.plan.outputs) if not _is_gone(output, origin.plan.scope, gone)]
    places = {old: new for new, old in enumerate(kept)}
    tests = tuple(replace(t, column=places[t.column]) for t in origin.tests if t.column in places)
    outputs = tuple(origin.plan.outputs[n] for n in kept)
    columns = tuple(origin.plan.columns[n] for n in kept)
    if not outputs:  # of what tells nothing all rows count
        first = next(c for c in below.columns if c.physical)
        outputs, columns = (Output("c0", handed_on=first),), (replace(first, name="c0", physical="c0", time=None),)
    plan = replace(origin.plan, input=below, outputs=outputs, columns=columns)
    return replace(origin, plan=plan, tests=tests, exact=origin.exact and same and len(tests) == len(origin.tests))


def _without(node: PlanNode, unread: _Columns) -> tuple[PlanNode, _Columns, bool]:
    """Return a chain without columns, which of its own are gone, and whether it gives the same rows."""
    if isinstance(node, Scan):
        gone = unread | {o.physical for o in node.computed if _is_gone(o, node.scope, unread)}
        computed = tuple(o for o in node.computed if o.physical not in gone)
        return replace(node, columns=_kept(node, gone), computed=computed), gone, True
    below, gone, same = _without(node.inputs[0], unread)
    if isinstance(node, Selecting):
        outputs = tuple(o for o in node.outputs if not _is_gone(o, node.scope, gone))
        untold = node.where is not None and _uses(node.where, node.scope, gone)
        left = {o.physical for o in outputs}
        gone = frozenset(o.physical for o in node.outputs if o.physical not in left)
        made = replace(node, input=below, outputs=outputs, columns=_kept(node, gone))
        return (replace(made, where=None) if untold else made), gone, same and not untold
    assert isinstance(node, UnaryNode)
    return replace(node.with_inputs((below,)), columns=_kept(node, gone)), gone, same


def _kept(node: PlanNode, gone: _Columns) -> tuple[PlanColumn, ...]:
    return tuple(c for c in node.columns if c.physical not in gone)


def _is_gone(output: Output, scope: Scope, gone: _Columns) -> bool:
    if output.handed_on is not None:
        return output.handed_on.physical in gone
    return output.expr is not None and _uses(output.expr, scope, gone)


def _uses(expr: Expr, scope: Scope, gone: _Columns) -> bool:
    """Whether an expression names one of some columns, or may: a field may have the name of a column."""
    names = {c.name.lower() for relation in scope.relations for c in relation.columns if c.physical in gone}
    return any(part.lower() in names for ref in expr.walk() if isinstance(ref, ColumnRef) for part in ref.parts)
