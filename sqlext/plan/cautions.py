"""Say what of a plan may not be meant, although it runs."""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.dialect.ast.expressions import Expr
from sqlext.errors import SqlExtError
from sqlext.plan.base import PlanNode, walk
from sqlext.plan.grouping import Aggregate
from sqlext.plan.joins import StreamJoin
from sqlext.plan.nodes import AssignWindows
from sqlext.plan.stateful import unbounded_states
from sqlext.source import Span

#: What to write in place of a half.
WHOLE_WINDOW = "GROUP BY window_start, window_end"
_BOUNDS = frozenset({"start", "end"})


def cautions(plan: PlanNode, span: Span) -> Iterator[SqlExtError]:
    """Yield the warnings of a query: WARN-001 to WARN-005; ``span`` is where it stands."""
    halves = {id(node): half for node in walk(plan) if (half := half_window(node)) is not None}
    for state in unbounded_states(plan):
        if id(state) not in halves:
            code, hint = ("WARN-002", _JOIN) if isinstance(state, StreamJoin) else ("WARN-001", state.remedy)
            yield SqlExtError(code, state.unbounded, span=state.clause or span, hint=hint)
    for key, missing in halves.values():
        message = f"GROUP BY {key.span.one_line} without {missing} is no window: its results change as rows come"
        yield SqlExtError("WARN-003", message, span=key.span, hint=WHOLE_WINDOW)
    for node in walk(plan):
        if isinstance(node, AssignWindows) and node.spec.has_gaps:
            size, slide = node.spec.lengths
            message = f"rows between windows are lost: SLIDE is {slide} and SIZE {size}"
            hint = "the slide comes before the size, and is not longer"
            yield SqlExtError("WARN-004", message, span=node.written or span, hint=hint)
        if isinstance(node, Aggregate):
            yield from (SqlExtError("WARN-005", silent.why, span=silent.span) for silent in node.silent)


_JOIN = "bound the time of both sides, as in l.ts BETWEEN r.ts AND r.ts + INTERVAL '1' HOUR, or table.exec.state.ttl"


def half_window(node: PlanNode) -> tuple[Expr, str] | None:
    """Return the key of a grouping that is part of a window, and what of the window is missing among the keys."""
    if not isinstance(node, Aggregate) or node.by.window is not None or not node.streaming:
        return None
    parts = [
        (item, found.column.window_bound)
        for item in node.by.items
        if isinstance(item, Expr) and (found := node.scope.bare(item)) is not None and found.column.window_bound
    ]
    missing = sorted(_BOUNDS - {bound for _, bound in parts}, reverse=True)
    return (parts[0][0], " and ".join(f"its {bound}" for bound in missing)) if parts else None
