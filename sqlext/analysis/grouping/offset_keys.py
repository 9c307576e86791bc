"""Check that the offset of windows depends on grouping keys alone: else the windows of one key overlap."""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.analysis.grouping.group_by import Grouped
from sqlext.dialect.ast.expressions import ColumnRef, Expr
from sqlext.errors import SqlExtError
from sqlext.plan.joins import StreamJoin
from sqlext.plan.key_sets import key_sets
from sqlext.plan.nodes import AssignWindows, ComputeOffset, Join, PlanNode, Selecting
from sqlext.plan.scope import Scope, own_parts


def check_offset_keys(grouped: Grouped) -> None:
    """Check the windows that a SELECT groups by, if each row has its own offset.

    Raises:
        SqlExtError: WINDOW-016 naming a column of the offset that is not grouped by.
    """
    window = grouped.grouping.window
    if window is None:
        return
    sets = [_columns(keys, grouped.scope) for keys in key_sets(grouped.grouping.items)]
    for assign, keys in _windows(grouped.node, window, frozenset.intersection(*sets)):
        if isinstance(assign.input, ComputeOffset):
            _check(assign, assign.input, keys, grouped)


def _check(assign: AssignWindows, computed: ComputeOffset, keys: frozenset[str], grouped: Grouped) -> None:
    for part in own_parts(computed.length):
        if not isinstance(part, ColumnRef) or not computed.scope.has(part):
            continue
        if computed.scope.find(part).column.physical in keys:
            continue
        name, kind, span = part.span.one_line, assign.spec.kind.value, part.span
        # In the text of a view the place would be that of another statement.
        at = span if span.source is grouped.select.span.source else grouped.select.span
        sets = " in each grouping set" if grouped.grouping.has_sets else ""
        message = f"the offset of {kind} depends on `{name}`, which is not grouped by{sets}: its windows would overlap"
        raise SqlExtError("WINDOW-016", message, span=at, hint=f"add {name} to GROUP BY, beside the window")


def _columns(keys: tuple[Expr, ...], scope: Scope) -> frozenset[str]:
    """Return the physical columns that are keys; a key that is computed is none."""
    found = (scope.bare(key) for key in keys)
    return frozenset(f.column.physical for f in found if f is not None)


def _windows(node: PlanNode, window: str, keys: frozenset[str]) -> Iterator[tuple[AssignWindows, frozenset[str]]]:
    """Yield where rows get the windows that ``window`` holds, each with those of its columns that are keys."""
    if isinstance(node, AssignWindows) and node.physical == window:
        yield node, keys
        return
    for number, below in enumerate(node.inputs):
        held = _below(node, number, window)
        if held is not None:
            found = (_below(node, number, key) for key in keys)
            yield from _windows(below, held, frozenset(k for k in found if k is not None))


def _below(node: PlanNode, number: int, physical: str) -> str | None:
    """Return which column of an input a column hands on, None for another one's or a computed one."""
    if isinstance(node, Selecting):
        output = next((o for o in node.outputs if o.physical == physical), None)
        if output is None or number:
            return None
        if output.handed_on is not None:
            return output.handed_on.physical
        found = node.scope.bare(output.expr) if output.expr is not None else None
        return found.column.physical if found is not None else None
    if isinstance(node, StreamJoin):
        carried = (node.left, node.right)[number].carried
        return next((c.column.physical for c in carried if c.physical == physical), None)
    held = [any(c.physical == physical for c in i.columns) for i in node.inputs]
    # Where both sides of a join have it, nothing says whose it is.
    return physical if held[number] and not (isinstance(node, Join) and all(held)) else None
