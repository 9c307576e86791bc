"""Bind functions OVER windows in the order of a value that is no time: each row may change what stands behind it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.analysis.over.aggregations import BY_VALUE, check_function
from sqlext.analysis.over.calls import OverCall, Prepared, aliased
from sqlext.analysis.over.frames import frame_of
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Call
from sqlext.plan.columns import PlanColumn
from sqlext.plan.over import Framed, RunningOver
from sqlext.plan.panes import readable
from sqlext.plan.scope import Scope, Shape, shape


def goes_by_value(call: OverCall, scope: Scope) -> bool:
    """Whether a call is over all rows up to its own, in the order of one value that is no time attribute.

    As in Flink the order is ascending; other windows over a stream are refused.
    """
    items = call.over.order_by
    if len(items) != 1 or items[0].descending or call.call.function not in BY_VALUE or call.call.distinct:
        return False
    (item,) = items
    found = scope.bare(item.expr)
    timed = found is not None and found.column.time is not None
    frame = frame_of(call.call)
    return not timed and not _is_now(item.expr) and frame.preceding is None and not frame.following


def bind_running(calls: Sequence[OverCall], rows: Prepared, ttl: int | None) -> Prepared:
    """Return rows with the results of calls that go by a value.

    Args:
        ttl: ms of processing time after which keys are forgotten.
    """
    together: dict[tuple[Shape, ...], list[OverCall]] = {}
    for call in calls:
        check_function(call.call, rows.scope)
        by = (*call.over.partition_by, call.over.order_by[0].expr)
        together.setdefault(tuple(shape(e, rows.scope) for e in by), []).append(call)
    for same in together.values():
        below = readable(aliased(rows))
        results = [PlanColumn(c.name, infer(c.call, rows.scope), c.name) for c in same]
        node = RunningOver(
            (*below.columns, *results),
            (below,),
            retracts=True,
            scope=rows.scope,
            functions=tuple(Framed(c.call, frame_of(c.call), c.name) for c in same),
            order=same[0].over.order_by[0],
            partition=same[0].over.partition_by,
            ttl=ttl,
        )
        rows = rows.with_results(node, results)
    return rows


def _is_now(expr: object) -> bool:
    return isinstance(expr, Call) and expr.function == "PROCTIME"
