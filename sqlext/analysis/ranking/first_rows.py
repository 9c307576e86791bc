"""Bind LIMIT and OFFSET of a stream: a Top-N, of all rows or of each key."""

from __future__ import annotations

from sqlext.dialect.ast.expressions import Call, Expr, Literal
from sqlext.dialect.ast.queries import Query
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.columns import PlanColumn, Time
from sqlext.plan.ranking import Rank
from sqlext.plan.scope import Scope
from sqlext.types import BIGINT

_NUMBER = "__number"


def first_rows(query: Query, below: nodes.PlanNode, scope: Scope, partition: tuple[Expr, ...] = ()) -> Rank:
    """Return the rows that ORDER BY, LIMIT and OFFSET of a query leave; the last column is their number.

    Args:
        query: with LIMIT.
        below: its rows, which say when they are taken back.
        scope: of their columns.
        partition: the key of which each has its own first rows; empty: all rows.

    Raises:
        SqlExtError: ORDER-002 for a limit that is no number.
    """
    assert query.limit is not None
    first = _count(query.offset) + 1 if query.offset is not None else 1
    items = query.order_by
    found = scope.bare(items[0].expr) if items else None
    arrival = not items or (found is not None and found.column.time is Time.PROCTIME)
    return Rank(
        (*below.columns, PlanColumn(_NUMBER, BIGINT.not_null(), _NUMBER)),
        (below,),
        scope=scope,
        call=Call(query.limit.span, "ROW_NUMBER"),
        partition=partition,
        order=() if arrival else items,
        first=first,
        last=first + _count(query.limit) - 1,
        numbered=False,
        latest_first=arrival and bool(items) and items[0].descending,
    ).settled()


def _count(expr: Expr) -> int:
    if isinstance(expr, Literal) and expr.kind == "NUMBER" and expr.value.isdigit():
        return int(expr.value)
    raise SqlExtError("ORDER-002", "LIMIT and OFFSET of a stream are whole numbers", span=expr.span)
