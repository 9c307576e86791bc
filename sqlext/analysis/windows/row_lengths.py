"""Bind lengths that each row has of its own: the gap of SESSION, the offset of TUMBLE, HOP and CUMULATE.

Such a length is computed below the window function, in the scope of the function's table. Its column holds
milliseconds: an INTERVAL is converted, a whole number counts milliseconds.
"""

from __future__ import annotations

from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.inference import infer
from sqlext.analysis.types.literals import interval_millis, interval_months
from sqlext.dialect.ast.expressions import Call, ColumnRef, Exists, Expr, InQuery, Interval, Node, ScalarQuery
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import ComputeGap, ComputeMillis, ComputeOffset, PlanNode
from sqlext.plan.scope import Scope
from sqlext.types import BIGINT

#: The columns of gaps and offsets; no user can write them without backticks.
GAP, OFFSET = "__gap", "__offset"
_OTHERS = (InQuery, Exists, ScalarQuery)
#: Two calls for one row need not give the same.
_CHANGING = frozenset(
    {
        "RAND",
        "RAND_INTEGER",
        "UUID",
        "NOW",
        "PROCTIME",
        "UNIX_TIMESTAMP",
        "CURRENT_DATE",
        "CURRENT_TIME",
        "CURRENT_TIMESTAMP",
        "CURRENT_ROW_TIMESTAMP",
        "CURRENT_WATERMARK",
        "LOCALTIME",
        "LOCALTIMESTAMP",
    }
)


def is_row_gap(gap: Node | None) -> bool:
    """Whether a gap must be computed for each row: it is made of columns, calls or intervals, and no literal."""
    if not isinstance(gap, Expr) or interval_millis(gap) is not None:
        return False
    return any(isinstance(part, (ColumnRef, Call, Interval)) for part in gap.walk())


def is_row_offset(offset: Node | None) -> bool:
    """Whether an offset must be computed for each row, as ``is_row_gap`` says; months are a literal too."""
    months = isinstance(offset, Expr) and interval_months(offset) is not None
    return not months and is_row_gap(offset)


def with_gap(node: PlanNode, gap: Node, scope: Scope) -> PlanNode:
    """Return a relation with the column ``GAP``.

    Raises:
        SqlExtError: WINDOW-002 for intervals of months, WINDOW-003 for what is no length of one row.
    """
    return _with(ComputeGap, GAP, node, gap, scope, "the gap of SESSION")


def with_offset(node: PlanNode, offset: Node, scope: Scope, function: str) -> PlanNode:
    """Return a relation with the column ``OFFSET``.

    Raises:
        SqlExtError: WINDOW-002 for intervals of months, WINDOW-003 for what is no length of one row.
    """
    what = f"the offset of {function}"
    for part in offset.walk():
        if isinstance(part, Call) and part.function in _CHANGING:
            message = f"{what} must be the same whenever it is computed, and {part.name} changes"
            raise SqlExtError("WINDOW-003", message, span=part.span, hint="an expression of the columns of a key")
    return _with(ComputeOffset, OFFSET, node, offset, scope, what)


def _with(
    kind: type[ComputeMillis], physical: str, node: PlanNode, length: Node, scope: Scope, what: str
) -> ComputeMillis:
    assert isinstance(length, Expr)
    _check_row(length, scope.mode, what)
    column = PlanColumn(physical, BIGINT, physical)
    return kind((*node.columns, column), node, scope, length, _is_interval(length, scope, what))


def _check_row(length: Expr, mode: str, what: str) -> None:
    for part in length.walk():
        several = isinstance(part, Call) and (part.over is not None or is_aggregate(part, mode))
        if several or isinstance(part, _OTHERS):
            message = f"{what} is an expression of one row"
            raise SqlExtError("WINDOW-003", message, span=part.span, hint="compute it in a sub-query")


def _is_interval(length: Expr, scope: Scope, what: str) -> bool:
    """Whether a length is an INTERVAL and no number; Spark refuses what neither it nor we know the type of."""
    type_ = infer(length, scope)
    if type_ is None or type_.root == "INTERVAL_DAY_TIME":
        return True
    if type_.root == "INTERVAL_YEAR_MONTH":
        hint = "use DAY, HOUR, MINUTE or SECOND"
        raise SqlExtError("WINDOW-002", "intervals of months have no fixed length", span=length.span, hint=hint)
    if not type_.is_integer:
        message = f"{what} is an INTERVAL or a whole number of milliseconds, this is {type_.flink()}"
        raise SqlExtError("WINDOW-003", message, span=length.span, hint="seconds * INTERVAL '1' SECOND")
    return False
