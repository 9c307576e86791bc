"""A scan as text: computed columns, the checks of its rowtime, its watermark and the row that ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlext.analysis.scope import Scope, ScopeRelation
from sqlext.connectors.conversions import wall_to_instant
from sqlext.plan.columns import Part
from sqlext.plan.nodes import Scan
from sqlext.rewrite.durations import seconds_interval
from sqlext.rewrite.quoting import identifier, named, string
from sqlext.rewrite.script import HEARTBEAT_VIEW

if TYPE_CHECKING:
    from sqlext.rewrite.renderer import Renderer

#: Set in the row that ends a bounded input.
FLAG = "__heartbeat"
#: True in every row. Its expression is not deterministic to Spark, so no filter is moved from above it to below the
#: watermark: there a filter would take away rows that move the watermark on, the row that ends the input among them.
BARRIER = "__seen"
_SEEN = f"spark_partition_id() >= 0 AS {BARRIER}"
MARK = "__mark"


def scan_sql(scan: Scan, renderer: Renderer, *, heartbeat: bool) -> str:
    """Return the query of a table's columns.

    Args:
        heartbeat: whether a watermarked scan is to end with the row of ``HEARTBEAT_VIEW``.
    """
    if not scan.computed and scan.rowtime is None:
        return f"SELECT * FROM {identifier(scan.view)}"
    if not scan.watermarked or scan.rowtime is None:
        return _projection(scan, renderer)
    names = scan.physical_columns()
    column, delay = (MARK, 0) if scan.delay is None else (scan.rowtime, scan.delay)
    watermark = f"WATERMARK {identifier(column)} DELAY OF {seconds_interval(delay)}"
    selected = ", ".join(identifier(n) for n in names)
    if not heartbeat:
        text = _marked(scan, renderer, ())
        return f"SELECT {selected} FROM (SELECT *, {_SEEN} FROM ({text}) {watermark}) WHERE {BARRIER}"
    rows = _marked(scan, renderer, (f"CAST(NULL AS STRING) AS {FLAG}",))
    times = {scan.rowtime, column}
    extra = [MARK] if column == MARK else []
    ends = ["CAST(value AS TIMESTAMP)" if n in times else "NULL" for n in names]
    ends += ["value", *("CAST(value AS TIMESTAMP)" for _ in extra)]
    end = f"SELECT {', '.join(ends)} FROM {HEARTBEAT_VIEW}"
    seen = f"SELECT *, {_SEEN} FROM ({rows} UNION ALL {end}) {watermark}"
    return f"SELECT {selected} FROM ({seen}) WHERE {BARRIER} AND {FLAG} IS NULL"


def _marked(scan: Scan, renderer: Renderer, extra: tuple[str, ...]) -> str:
    """Return the table's columns, ``extra`` and, where the watermark is an expression, the column that it is."""
    text = _projection(scan, renderer, extra)
    return text if scan.marks is None else _with_mark(scan, text, renderer)


def _projection(scan: Scan, renderer: Renderer, extra: tuple[str, ...] = ()) -> str:
    computed = {o.physical: o.expr for o in scan.computed}
    selected = []
    for column in scan.columns:
        name = column.physical
        if not name:
            continue
        text, expr = identifier(name), computed.get(name)
        if expr is not None:
            text = renderer.expr(expr, scan.scope)
            if column.part is Part.INSTANT:
                text = wall_to_instant(text, renderer.zone)
        if name == scan.rowtime:
            text = _checked(text, scan)
        selected.append(named(text, name))
    selected += scan.hidden
    query = f"SELECT {', '.join((*selected, *extra))} FROM {identifier(scan.view)}"
    if scan.rowtime is not None and scan.null_handling == "drop":
        return f"SELECT * FROM ({query}) WHERE {identifier(scan.rowtime)} IS NOT NULL"
    return query


def _checked(text: str, scan: Scan) -> str:
    """Return a rowtime that fails the job where it is NULL, or where Spark's watermark would drop it unseen."""
    name = f"{scan.table.name.name}.{scan.rowtime}"
    checks = []
    if scan.null_handling == "fail":
        checks.append((f"{text} IS NULL", f"[RUN-001] rowtime {name} is NULL"))
    if scan.watermarked:
        early = f"{text} < TIMESTAMP '1970-01-01 00:00:00Z'"
        checks.append((early, f"[RUN-002] rowtime {name} lies before 1970, where Spark's watermark begins"))
    if not checks:
        return text
    whens = " ".join(f"WHEN {c} THEN CAST(raise_error({string(m)}) AS TIMESTAMP)" for c, m in checks)
    return f"CASE {whens} ELSE {text} END"


def _with_mark(scan: Scan, text: str, renderer: Renderer) -> str:
    assert scan.marks is not None
    alias = "__marked"
    scope = Scope((ScopeRelation(alias, (scan.table.name.name,), scan.columns),), scan.scope.mode, scan.scope.zone)
    mark = renderer.expr(scan.marks, scope)
    rowtime = next(c for c in scan.columns if c.physical == scan.rowtime)
    if rowtime.part is Part.INSTANT:
        mark = wall_to_instant(mark, renderer.zone)
    return f"SELECT *, {mark} AS {MARK} FROM ({text}) AS {alias}"
