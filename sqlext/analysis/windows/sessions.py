"""Bind sessions that Spark's ``session_window`` cannot express: a gap of each row, and rows seen one by one.

A gap that is an expression is computed below the window function, in the scope of the function's table. Its column
holds milliseconds: an INTERVAL is converted, a whole number counts milliseconds.
"""

from __future__ import annotations

from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.inference import infer
from sqlext.analysis.types.literals import interval_millis
from sqlext.dialect.ast.expressions import Call, ColumnRef, Exists, Expr, InQuery, Interval, Node, ScalarQuery
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import AssignWindows, ComputeGap, PlanNode, WindowKind
from sqlext.plan.scope import Scope
from sqlext.plan.windows.session_rows import SessionRows
from sqlext.types import BIGINT

#: The column of the gaps; no user can write it without backticks.
GAP = "__gap"
_OTHERS = (InQuery, Exists, ScalarQuery)


def is_row_gap(gap: Node | None) -> bool:
    """Whether a gap must be computed for each row: it is made of columns, calls or intervals, and no literal."""
    if not isinstance(gap, Expr) or interval_millis(gap) is not None:
        return False
    return any(isinstance(part, (ColumnRef, Call, Interval)) for part in gap.walk())


def with_gap(node: PlanNode, gap: Node, scope: Scope) -> PlanNode:
    """Return a relation with the column ``GAP``.

    Raises:
        SqlExtError: WINDOW-002 for intervals of months, WINDOW-003 for what is no length of one row.
    """
    assert isinstance(gap, Expr)
    _check_row(gap, scope.mode)
    column = PlanColumn(GAP, BIGINT, GAP)
    return ComputeGap((*node.columns, column), node, scope, gap, _is_interval(gap, scope))


def _check_row(gap: Expr, mode: str) -> None:
    for part in gap.walk():
        several = isinstance(part, Call) and (part.over is not None or is_aggregate(part, mode))
        if several or isinstance(part, _OTHERS):
            message = "the gap of SESSION is an expression of one row"
            raise SqlExtError("WINDOW-003", message, span=part.span, hint="compute it in a sub-query")


def _is_interval(gap: Expr, scope: Scope) -> bool:
    """Whether a gap is an INTERVAL and no number; Spark refuses what neither it nor we know the type of."""
    type_ = infer(gap, scope)
    if type_ is None or type_.root == "INTERVAL_DAY_TIME":
        return True
    if type_.root == "INTERVAL_YEAR_MONTH":
        hint = "use DAY, HOUR, MINUTE or SECOND"
        raise SqlExtError("WINDOW-002", "intervals of months have no fixed length", span=gap.span, hint=hint)
    if not type_.is_integer:
        message = f"the gap of SESSION is an INTERVAL or a whole number of milliseconds, this is {type_.flink()}"
        raise SqlExtError("WINDOW-003", message, span=gap.span, hint="seconds * INTERVAL '1' SECOND")
    return False


def session_rows(node: PlanNode) -> PlanNode:
    """Return rows that are looked at one by one: where they are in sessions, an operator tells them in which."""
    if isinstance(node, Aggregate):  # its sessions are its own
        return node
    if isinstance(node, AssignWindows):
        if node.spec.kind is not WindowKind.SESSION or isinstance(node, SessionRows):
            return node
        # Spark's session_window only aggregates: it tells no row which session it is in.
        return SessionRows(node.columns, node.input, node.spec, node.time, node.physical, node.custom)
    inputs = tuple(session_rows(i) for i in node.inputs)
    return node if all(a is b for a, b in zip(inputs, node.inputs, strict=True)) else node.with_inputs(inputs)
