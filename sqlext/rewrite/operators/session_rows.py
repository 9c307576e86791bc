"""Render sessions whose rows are read one by one.

Of a stream, an operator keeps the rows until their session is over. It also cuts those that have a maximum length.
"""

from __future__ import annotations

from sqlext.analysis.emit.firing import windows_of
from sqlext.plan.windows.session_rows import SessionRows
from sqlext.quoting import identifier
from sqlext.rewrite.expressions.columns import CLOCK, instant
from sqlext.rewrite.operators.windows import WindowStep
from sqlext.rewrite.relations.operator_input import InputColumns
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.script.model import SqlView, TagView
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.triggers.tree import AfterWatermark


def session_rows(node: SessionRows, renderer: Rendering) -> str:
    """Return the query of a session window function's rows, with their sessions: of a stream, when these are over."""
    # Where a maximum ends a session depends on where the one before it ended: no window of SQL says that.
    kept = node.streaming or node.spec.limit is not None
    return f"SELECT * FROM {_kept(node, renderer)}" if kept else _sorted(node, renderer)


def _sorted(node: SessionRows, renderer: Rendering) -> str:
    """Return the query over rows that are all there: a session begins behind all ends before it, and not at one."""
    columns = ", ".join(identifier(c) for c in node.input.physical_columns())
    keys = "".join(f"{identifier(k)}, " for k in node.spec.session_keys)
    gap = identifier(node.spec.gap) if node.spec.gap is not None else f"{node.spec.size}L"
    start = f"unix_millis({CLOCK if node.spec.processing else instant(node.time)})"
    rows = f"SELECT {columns}, {start} AS __start, {start} + {gap} AS __end FROM {renderer.relation(node.input)}"
    by = f"PARTITION BY {keys.removesuffix(', ')} " if keys else ""
    before = f"max(__end) OVER ({by}ORDER BY __start, __end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    begun = f"SELECT *, coalesce(__start > {before}, true) AS __begins FROM ({rows})"
    number = f"count_if(__begins) OVER ({by}ORDER BY __start, __end ROWS UNBOUNDED PRECEDING)"
    numbered = f"SELECT *, {number} AS __session FROM ({begun})"
    whole = f"OVER (PARTITION BY {keys}__session)"
    bounds = (
        f"'start', timestamp_millis(min(__start) {whole})",
        f"'end', timestamp_millis(max(__end) {whole})",
    )
    struct = f"named_struct({', '.join(bounds)}) AS {identifier(node.physical)}"
    return f"SELECT {columns}, {struct} FROM ({numbered})"


def _kept(node: SessionRows, renderer: Rendering) -> str:
    """Return the view of an operator that keeps the rows until their session is over."""
    columns = [identifier(c) for c in node.input.physical_columns()]
    rows = InputColumns([identifier(k) for k in node.spec.session_keys])
    keys = tuple(f"__k{i}" for i in range(len(rows.texts)))
    processing = node.spec.processing
    places = [] if processing else [("time", rows.place(f"unix_millis({instant(node.time)})"))]
    if node.spec.gap is not None:
        places.append(("gap", rows.place(identifier(node.spec.gap))))
    whole = rows.place(f"struct({', '.join(columns)})")
    policy = Policy(windows_of(node.spec), AfterWatermark(), processing_time=processing)
    asked = frozenset(("__start", "__end", "__rows"))
    step = WindowStep(
        node, policy, keys, tuple(places), (("collect_list", (whole,), False, (), ""),), ("__rows",), asked
    )
    operated = step.add(renderer, rows.query(renderer.relation(node.input)))
    struct = "named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end))"
    window = identifier(node.physical)
    # The operator kept whole rows as one list, so they come out together, when the session's bounds are known.
    exploded = f"SELECT explode(__rows) AS __row, {struct} AS {window} FROM {operated}"
    each = f"SELECT {', '.join(f'__row.{c}' for c in columns)}, {window} FROM ({exploded})"
    if processing:
        return renderer.add_step(lambda name: SqlView(name, each))
    shown = renderer.add_step(lambda name: SqlView(name, each))
    return renderer.add_step(lambda name: TagView(name, shown, node.physical, window=True))
