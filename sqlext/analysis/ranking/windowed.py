"""Bind functions OVER the rows of a window of time: computed when it is over, as all of its rows are there then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.over.aggregations import changing, check_shape
from sqlext.analysis.over.calls import OverCall, Prepared, aliased
from sqlext.analysis.over.frames import whole_frame_of
from sqlext.analysis.over.running import goes_by_value
from sqlext.analysis.ranking.top_n import RANKINGS, window_of
from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Call, Literal
from sqlext.errors import SqlExtError
from sqlext.plan.base import walk
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import AssignWindows
from sqlext.plan.over import Framed, WindowedOver
from sqlext.plan.scope import Scope, Shape, shape

#: What only rows of which all are there have.
_OF_WHOLE = ("NTILE", "PERCENT_RANK", "CUME_DIST", "NTH_VALUE", "LEAD")
#: Where the number of NTILE and of NTH_VALUE stands.
_NUMBER = {"NTILE": (0, "a number of groups"), "NTH_VALUE": (1, "the number of a row")}


def of_windows(calls: Sequence[OverCall], rows: Prepared) -> list[OverCall]:
    """Return the calls that are computed of windows that are over: those by a window, if one of them asks for that."""
    ours = [c for c in calls if _by_window(c, rows)]
    return ours if any(not _is_known_before(c, rows.scope) for c in ours) else []


def bind_windowed(calls: Sequence[OverCall], rows: Prepared) -> Prepared:
    """Return rows with the results of calls of ``of_windows``.

    Raises:
        SqlExtError: OVER-... for what is wrong with a call.
    """
    together: dict[tuple[Shape, ...], list[OverCall]] = {}
    for call in calls:
        if rows.node.updating or rows.node.changelog:
            raise changing(call.call)
        check_shape(call.call, rows.scope)
        _check(call.call, rows.scope)
        together.setdefault(tuple(shape(e, rows.scope) for e in call.over.partition_by), []).append(call)
    for same in together.values():
        below = aliased(rows)
        window, partition = window_of(same[0], rows.scope)
        assert window is not None
        results = [PlanColumn(c.name, infer(c.call, rows.scope), c.name) for c in same]
        node = WindowedOver(
            (*below.columns, *results),
            (below,),
            scope=rows.scope,
            functions=tuple(Framed(c.call, whole_frame_of(c.call), c.name) for c in same),
            window=window,
            partition=partition,
        )
        rows = rows.with_results(node, results)
    return rows


def _by_window(call: OverCall, rows: Prepared) -> bool:
    """Whether PARTITION BY has both bounds of a window of event time."""
    window, _ = window_of(call, rows.scope)
    if window is None:
        return False
    made = (n for n in walk(rows.node) if isinstance(n, AssignWindows) and n.physical == window.physical)
    return not any(n.spec.processing for n in made)


def _is_known_before(call: OverCall, scope: Scope) -> bool:
    """Whether something else computes a call: by time as rows come, as a rank, or as an updating result."""
    if call.call.function in RANKINGS:
        return True
    if call.call.function in _OF_WHOLE or _looks_ahead(call):
        return False
    return _by_time(call, scope) or goes_by_value(call, scope)


def _looks_ahead(call: OverCall) -> bool:
    frame = call.over.frame
    return frame is not None and frame.end is not None and frame.end.side.endswith("FOLLOWING")


def _by_time(call: OverCall, scope: Scope) -> bool:
    items = call.over.order_by
    if len(items) != 1 or items[0].descending:
        return False
    found = scope.bare(items[0].expr)
    return isinstance(items[0].expr, Call) or (found is not None and found.column.time is not None)


def _check(call: Call, scope: Scope) -> None:
    """Refuse what is no function of a partition."""
    known = call.function in (*RANKINGS, *_OF_WHOLE, "LAG")
    if not known and not is_aggregate(replace(call, over=None), scope.mode):
        raise SqlExtError("OVER-103", f"OVER needs an aggregate function; {call.name} is none", span=call.span)
    if call.function in _NUMBER:
        place, what = _NUMBER[call.function]
        number = call.args[place]
        whole = isinstance(number, Literal) and number.kind == "NUMBER" and number.value.isdigit()
        if not whole or int(getattr(number, "value", 0)) < 1:
            message = f"{call.function} takes {what}, 1 or more"
            raise SqlExtError("OVER-104", message, span=number.span, hint=f"{call.function} by a literal")
    needs_order = (*RANKINGS, "NTILE", "PERCENT_RANK", "CUME_DIST", "LAG", "LEAD")
    assert call.over is not None
    if call.function in needs_order and not call.over.order_by:
        message = f"{call.name} needs ORDER BY in its OVER clause"
        raise SqlExtError("OVER-002", message, span=call.over.span, hint="OVER (PARTITION BY ... ORDER BY ...)")
