"""Bind functions OVER windows of a stream: what Flink plans as an OVER aggregation.

Windows with the same PARTITION BY and ORDER BY are computed together, each function over its own frame. Flink refuses a
second window or frame ("All aggregates must be computed on the same window").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from sqlext.analysis.names.time_attributes import no_time_attribute
from sqlext.analysis.over.calls import OverCall, Prepared, aliased
from sqlext.analysis.over.frames import UNFRAMED, frame_of
from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Call, Expr, Literal
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn, Time
from sqlext.plan.nodes import Aliased
from sqlext.plan.over import Framed, Over
from sqlext.plan.scope import Scope, Shape, own_parts, shape
from sqlext.source import Span

_NEED_LATER_ROWS = ("LEAD", "NTILE", "PERCENT_RANK", "CUME_DIST", "NTH_VALUE")


class _Window(NamedTuple):
    """What windows have in common that are computed together."""

    partition: tuple[Shape, ...]
    time: PlanColumn | None
    ttl: int | None


def bind_over(calls: Sequence[OverCall], rows: Prepared, *, ttl: int | None = None) -> Prepared:
    """Return rows with the results of functions OVER windows.

    Args:
        calls: the functions.
        rows: that they are computed of.
        ttl: ms of processing time after which keys are forgotten; frames that end in time need none.

    Raises:
        SqlExtError: OVER-101 to OVER-107, OVER-110 to OVER-113, TIME-001 for what cannot be computed over a stream.
    """
    if not calls:
        return rows
    if rows.node.updating or rows.node.changelog:
        raise _changing(calls[0].call)
    together: dict[_Window, list[OverCall]] = {}
    for call in calls:
        check_function(call.call, rows.scope.mode)
        partition = tuple(shape(e, rows.scope) for e in call.over.partition_by)
        # A node has one ttl for all of its functions, so functions that need none are computed apart.
        lives = None if frame_of(call.call).ends_in_time else ttl
        together.setdefault(_Window(partition, _time(call, rows.scope), lives), []).append(call)
    for window, same in together.items():
        rows = _with_results(same, window, rows)
    return rows


def merged(node: Over) -> Over:
    """Return functions OVER windows together with those of the same rows that stand right below."""
    (below,) = node.sources
    inner = below.input if isinstance(below, Aliased) else below
    if not isinstance(inner, Over) or _window(inner) != _window(node):
        return node
    return replace(inner, columns=node.columns, functions=(*inner.functions, *node.functions))


def _window(node: Over) -> _Window:
    return _Window(tuple(shape(e, node.scope) for e in node.partition), node.time, node.ttl)


def misplaced(call: Call) -> SqlExtError:
    """Return the refusal of a call that would be needed before it can be computed."""
    message = f"{call.name} OVER cannot stand here: it is computed after WHERE, GROUP BY and HAVING"
    hint = "filter by it in QUALIFY, or in the WHERE around a sub-query"
    return SqlExtError("OVER-108", message, span=call.span, hint=hint)


def _with_results(calls: Sequence[OverCall], window: _Window, rows: Prepared) -> Prepared:
    below = aliased(rows)
    results = [PlanColumn(c.name, infer(c.call, rows.scope), c.name) for c in calls]
    node = Over(
        (*below.columns, *results),
        (below,),
        scope=rows.scope,
        functions=tuple(Framed(c.call, frame_of(c.call), c.name) for c in calls),
        partition=calls[0].over.partition_by,
        time=window.time,
        ttl=window.ttl,
    )
    return rows.with_results(node, results)


def check_function(call: Call, mode: str) -> None:
    """Refuse what is no function of rows up to this one."""
    inside = next((p for child in call.children() for p in own_parts(child) if isinstance(p, Call) and p.over), None)
    if inside is not None:
        message = f"{inside.name} OVER stands inside another"
        raise SqlExtError("OVER-101", message, span=inside.span, hint="compute it in a sub-query")
    if call.function in _NEED_LATER_ROWS:  # Flink: "LEAD Function is not supported in stream mode"
        message = f"{call.function} needs rows that come later, which a stream does not have yet"
        raise SqlExtError("OVER-102", message, span=call.span, hint="LAG looks back; batch mode has all rows")
    # is_aggregate denies calls with OVER, so it is asked about the bare function.
    if call.function not in UNFRAMED and not is_aggregate(replace(call, over=None), mode):
        raise SqlExtError("OVER-103", f"OVER needs an aggregate function; {call.name} is none", span=call.span)
    if call.function == "LAG":
        _check_lag(call)


def _check_lag(call: Call) -> None:
    offset = call.args[1] if len(call.args) > 1 else None
    whole = isinstance(offset, Literal) and offset.kind == "NUMBER" and offset.value.isdigit()
    if offset is not None and not whole:
        raise SqlExtError("OVER-104", "LAG goes back by a number of rows, 0 or more", span=offset.span)
    if "IGNORE NULLS" in call.clauses:
        raise SqlExtError("OVER-104", "LAG takes NULLs for values, it cannot leave them out", span=call.span)


def _time(call: OverCall, scope: Scope) -> PlanColumn | None:
    """Return the rowtime by which a window is ordered, None for processing time."""
    items = call.over.order_by
    if len(items) != 1:  # Flink: "The window can only be ordered by a single time column"
        raise _not_one_time(call.call, items[1].span if items else call.call.span, missing=not items)
    (item,) = items
    time = _attribute(item.expr, scope)
    if item.descending:
        message = "a window over a stream goes forward in time: ORDER BY ... ASC"
        hint = "ROW_NUMBER() with WHERE rn <= n around it can be ordered by anything"
        raise SqlExtError("OVER-106", message, span=item.span, hint=hint)
    return time if time is not None and time.is_rowtime else None


def _attribute(expr: Expr, scope: Scope) -> PlanColumn | None:
    if isinstance(expr, Call) and expr.function == "PROCTIME":
        return None
    found = scope.bare(expr)
    column = found.column if found is not None else PlanColumn(expr.span.one_line, infer(expr, scope), "")
    if column.time is None:
        raise no_time_attribute(column, expr.span, "ORDER BY of OVER")
    return None if column.time is Time.PROCTIME else column


def _not_one_time(call: Call, span: Span, *, missing: bool) -> SqlExtError:
    message = f"{call.name} OVER is ordered by one time attribute and nothing else"
    hint = "add ORDER BY and the rowtime" if missing else "rows of one time are in the order in which they came"
    return SqlExtError("OVER-105", message, span=span, hint=hint)


def _changing(call: Call) -> SqlExtError:
    """Flink: "... doesn't support consuming update and delete changes which is produced by node OverAggregate"."""
    message = f"{call.name} OVER takes rows that do not change after they have come"
    hint = "group by a window below, or use ROW_NUMBER() with WHERE rn <= n"
    return SqlExtError("OVER-107", message, span=call.span, hint=hint)
