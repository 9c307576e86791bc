"""Bind functions OVER windows of a stream: what Flink plans as an OVER aggregation, and frames that go on behind a row.

Windows with the same PARTITION BY and ORDER BY are computed together, each function over its own frame. Flink refuses a
second window or frame ("All aggregates must be computed on the same window").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.names.time_attributes import no_time_attribute
from sqlext.analysis.over.calls import OverCall, Prepared, aliased
from sqlext.analysis.over.frames import UNFRAMED, frame_of
from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.coercion import can_implicitly_cast
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import Call, Expr, Literal, Star
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn, Time
from sqlext.plan.nodes import Aliased
from sqlext.plan.over import Framed, Over
from sqlext.plan.scope import Scope, Shape, own_parts, shape
from sqlext.source import Span
from sqlext_udfs.over.specification import OverFrame

#: What is computed in the order of a value (``running``).
BY_VALUE = ("COUNT", "SUM", "MIN", "MAX", "AVG", "LAG")
_NEED_ALL_ROWS = ("NTILE", "PERCENT_RANK", "CUME_DIST", "NTH_VALUE")
#: How many arguments LAG and LEAD have with a default.
_WITH_DEFAULT = 3


class Waits(IntEnum):
    """For what a row waits when the watermark has passed it; those that wait for the same are computed together."""

    NOTHING = 0
    TIME = 1
    ROWS = 2

    @classmethod
    def of(cls, frame: OverFrame) -> Waits:
        """Return for what the rows of a frame wait."""
        if not frame.ahead:
            return cls.NOTHING
        return cls.ROWS if frame.unit == "ROWS" else cls.TIME


class _Window(NamedTuple):
    """What windows have in common that are computed together."""

    partition: tuple[Shape, ...]
    time: PlanColumn | None
    ttl: int | None
    waits: Waits


def bind_over(calls: Sequence[OverCall], rows: Prepared, env: Environment, *, ttl: int | None = None) -> Prepared:
    """Return rows with the results of functions OVER windows.

    Args:
        calls: the functions.
        rows: that they are computed of.
        env: where time attributes and windows are looked up.
        ttl: ms of processing time after which keys are forgotten; frames that end in time need none.

    Raises:
        SqlExtError: OVER-101 to OVER-107, OVER-110 to OVER-113, TIME-001 for what cannot be computed over a stream.
    """
    if not calls:
        return rows
    if rows.node.updating or rows.node.changelog:
        raise changing(calls[0].call)
    together: dict[_Window, list[OverCall]] = {}
    for call in calls:
        check_function(call.call, rows.scope)
        partition = tuple(shape(e, rows.scope) for e in call.over.partition_by)
        frame, time = frame_of(call.call), _time(call, rows.scope)
        if frame.ahead and time is None:
            raise _unseen(call.call)
        # A node has one ttl for all of its functions, so functions that need none are computed apart.
        lives = None if frame.ends_in_time else ttl
        together.setdefault(_Window(partition, time, lives, Waits.of(frame)), []).append(call)
    # Those that wait for rows are the last: no time is told by when their rows come out.
    for window in sorted(together, key=lambda w: w.waits):
        rows = _with_results(together[window], window, rows)
    waiting = [c for c in calls if Waits.of(frame_of(c.call)) is Waits.ROWS]
    if rows.node.streaming and waiting:
        reason = "a row that waits for later rows of its key comes out at no certain time"
        rows = rows.without_times(env, reason, waiting[0].call.span)
    return rows


def merged(node: Over) -> Over:
    """Return functions OVER windows together with those of the same rows that stand right below."""
    (below,) = node.sources
    inner = below.input if isinstance(below, Aliased) else below
    if not isinstance(inner, Over) or _window(inner) != _window(node):
        return node
    return replace(inner, columns=node.columns, functions=(*inner.functions, *node.functions))


def _window(node: Over) -> _Window:
    waits = max(Waits.of(f.frame) for f in node.functions)
    return _Window(tuple(shape(e, node.scope) for e in node.partition), node.time, node.ttl, waits)


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


def check_function(call: Call, scope: Scope) -> None:
    """Refuse what is no function of rows around this one."""
    check_shape(call, scope)
    if call.function in _NEED_ALL_ROWS:
        message = f"{call.function} needs all rows of its partition, which a stream never has"
        hint = "PARTITION BY window_start, window_end: a window has an end; or batch mode"
        raise SqlExtError("OVER-102", message, span=call.span, hint=hint)
    # is_aggregate denies calls with OVER, so it is asked about the bare function.
    if call.function not in UNFRAMED and not is_aggregate(replace(call, over=None), scope.mode):
        raise SqlExtError("OVER-103", f"OVER needs an aggregate function; {call.name} is none", span=call.span)


def check_shape(call: Call, scope: Scope) -> None:
    """Refuse OVER inside of OVER, and what LAG and LEAD do not take."""
    inside = next((p for child in call.children() for p in own_parts(child) if isinstance(p, Call) and p.over), None)
    if inside is not None:
        message = f"{inside.name} OVER stands inside another"
        raise SqlExtError("OVER-101", message, span=inside.span, hint="compute it in a sub-query")
    star = next((a for a in call.args if isinstance(a, Star) and (a.qualifier or a.excluded)), None)
    if star is not None:  # Spark counts the rows that have no NULL, which no accumulator does
        message = f"{call.name} OVER takes values, or * for rows; {star.span.one_line} is several columns"
        hint = "COUNT(*) counts rows, COUNT(a, b) those without NULL in these columns"
        raise SqlExtError("OVER-115", message, span=star.span, hint=hint)
    if call.function in ("LAG", "LEAD"):
        _check_offset(call, scope)


def _check_offset(call: Call, scope: Scope) -> None:
    name, offset = call.function, call.args[1] if len(call.args) > 1 else None
    whole = isinstance(offset, Literal) and offset.kind == "NUMBER" and offset.value.isdigit()
    if offset is not None and not whole:
        goes = "goes back" if name == "LAG" else "goes on"
        raise SqlExtError("OVER-104", f"{name} {goes} by a number of rows, 0 or more", span=offset.span)
    if "IGNORE NULLS" in call.clauses:
        raise SqlExtError("OVER-104", f"{name} takes NULLs for values, it cannot leave them out", span=call.span)
    value, default = call.args[0], call.args[2] if len(call.args) >= _WITH_DEFAULT else None
    if not isinstance(default, Expr) or not isinstance(value, Expr):
        return
    from_, to = infer(default, scope), infer(value, scope)
    # Of integers the width does not matter.
    if from_ is None or to is None or can_implicitly_cast(from_, to) or (from_.is_integer and to.is_integer):
        return
    text = default.span.one_line
    message = f"the default of {name}, `{text}`, is {from_}, its values are {to}"
    raise SqlExtError("OVER-104", message, span=default.span, hint=f"CAST({text} AS {to.flink()})")


def _time(call: OverCall, scope: Scope) -> PlanColumn | None:
    """Return the rowtime by which a window is ordered, None for processing time."""
    items = call.over.order_by
    if len(items) != 1:  # Flink: "The window can only be ordered by a single time column"
        raise _not_one_time(call.call, items[1].span if items else call.call.span, missing=not items)
    (item,) = items
    time = _attribute(call, item.expr, scope)
    if item.descending:
        message = "a window over a stream goes forward in time: ORDER BY ... ASC"
        hint = "ROW_NUMBER() with WHERE rn <= n around it can be ordered by anything"
        raise SqlExtError("OVER-106", message, span=item.span, hint=hint)
    return time if time is not None and time.is_rowtime else None


def _attribute(call: OverCall, expr: Expr, scope: Scope) -> PlanColumn | None:
    if isinstance(expr, Call) and expr.function == "PROCTIME":
        return None
    found = scope.bare(expr)
    column = found.column if found is not None else PlanColumn(expr.span.one_line, infer(expr, scope), "")
    if column.time is None:
        if column.loss is None and column.type is not None and not column.type.is_timestamp:
            raise _by_value(call)
        raise no_time_attribute(column, expr.span, "ORDER BY of OVER")
    return None if column.time is Time.PROCTIME else column


def _by_value(call: OverCall) -> SqlExtError:
    """Return why a call is not computed in the order of a value; ``running.goes_by_value`` says which are."""
    name, (item,), frame = call.call.name, call.over.order_by, call.over.frame
    message, span = f"{name} OVER is computed in the order of time, and not of a value", call.call.span
    hint = f"ORDER BY the rowtime; in the order of a value there are {', '.join(BY_VALUE)} and ranks"
    if call.call.function in BY_VALUE:
        hint = "ORDER BY the rowtime; or all rows up to this one, in ascending order, without DISTINCT"
        if call.call.distinct:
            message = f"{name}(DISTINCT ...) OVER is computed in the order of time, and not of a value"
        elif item.descending:
            message, span = "OVER in the order of a value goes up from the least one: ORDER BY ... ASC", item.span
        elif frame is not None:
            message, span = "OVER in the order of a value has the frame of all rows up to this one", frame.span
    return SqlExtError("OVER-114", message, span=span, hint=hint)


def _not_one_time(call: Call, span: Span, *, missing: bool) -> SqlExtError:
    message = f"{call.name} OVER is ordered by one time attribute and nothing else"
    hint = "add ORDER BY and the rowtime" if missing else "rows of one time are in the order in which they came"
    return SqlExtError("OVER-105", message, span=span, hint=hint)


def _unseen(call: Call) -> SqlExtError:
    message = f"{call.name} over rows that follow waits for the watermark, and processing time has none"
    return SqlExtError("OVER-111", message, span=call.span, hint="ORDER BY the rowtime")


def changing(call: Call) -> SqlExtError:
    """Return the refusal of rows that change."""
    # Flink: "... doesn't support consuming update and delete changes which is produced by node OverAggregate".
    message = f"{call.name} OVER takes rows that do not change after they have come"
    hint = "group by a window below, or use ROW_NUMBER() with WHERE rn <= n"
    return SqlExtError("OVER-107", message, span=call.span, hint=hint)
