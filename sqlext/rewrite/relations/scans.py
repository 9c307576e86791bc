"""Render a scan: computed columns, checks of its rowtime, its watermark.

Rows that only move the watermark are added below it and filtered out above it.
"""

from __future__ import annotations

from sqlext.capabilities import WATERMARK_SQL, has
from sqlext.connectors.formats.conversions import wall_to_instant
from sqlext.connectors.moments import BEAT
from sqlext.dialect.ast.expressions import Expr
from sqlext.plan.columns import Part
from sqlext.plan.nodes import Scan
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.plan.timing import InputEnd, Timing
from sqlext.quoting import identifier, named, seconds_interval, string
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.script.begun import has_splits
from sqlext.rewrite.script.model import HEARTBEAT_VIEW, KeptInput, ObservedView, SqlView, WatermarkView
from sqlext.watermarks.inputs import ROWTIME, SPLIT, Input

#: Set in the rows that only move the watermark.
FLAG = "__heartbeat"
#: True in every row. Its expression is not deterministic to Spark, so no filter is moved from above it to below the
#: watermark: there a filter would take away rows that move the watermark on, the row that ends the input among them.
BARRIER = "__seen"
_TRUE = "spark_partition_id() >= 0"
_SEEN = f"{_TRUE} AS {BARRIER}"
#: The watermark where its expression is no constant delay.
MARK = "__mark"
#: In place of the rowtime where heartbeats alone move the watermark: there rows are all of 1970.
MOVED = "__moved"
#: A time that moves no watermark: there it begins.
_NEVER = "TIMESTAMP '1970-01-01 00:00:00Z'"
_NO_FLAG = f"CAST(NULL AS STRING) AS {FLAG}"


def scan_sql(scan: Scan, renderer: Rendering) -> str:
    """Return the query of a table's columns."""
    if not scan.computed and scan.rowtime is None:
        return f"SELECT * FROM {identifier(scan.view)}"
    if not scan.watermarked or scan.rowtime is None:
        return _projection(scan, renderer)
    names, marked = scan.physical_columns(), [MARK] if scan.marked else []
    column, delay = MARK if scan.marked else scan.rowtime, scan.delay or 0
    if renderer.end is InputEnd.NONE:
        split = (SPLIT,) if has_splits(scan) else ()
        told = scan.packed and renderer.tells_time(scan.table)
        kept, rows = _kept_rows(scan, _marked(scan, renderer, split), column, delay, renderer, told=told)
        if told:
            return _told(scan, kept.input, rows, renderer)
        extra, columns = _NO_FLAG, [*names, *split, *marked, FLAG]
        if not kept.input.by_rows:
            column, delay = MOVED, 0
            extra, columns = f"{extra}, {_NEVER} AS {MOVED}", [*columns, MOVED]
        beats = _end_row(columns, {scan.rowtime, column}, kept.view, ahead=delay)
        return _watermarked(
            f"SELECT *, {extra} FROM {rows} UNION ALL {beats}", names, column, delay, renderer, flagged=True
        )
    if renderer.end is InputEnd.CATCH_UP:
        # Windows stay open until the query goes on, so no row ends the input.
        return _watermarked(_marked(scan, renderer), names, column, delay, renderer)
    renderer.used_heartbeat = True
    end = _end_row([*names, FLAG, *marked], {scan.rowtime, column}, HEARTBEAT_VIEW)
    rows = f"{_marked(scan, renderer, (_NO_FLAG,))} UNION ALL {end}"
    return _watermarked(rows, names, column, delay, renderer, flagged=True)


def _told(scan: Scan, declared: Input, rows: str, renderer: Rendering) -> str:
    """Return packed rows behind their watermark, where heartbeats are among them.

    Args:
        declared: the input.
        rows: the view of its rows.
    """
    assert scan.rowtime is not None
    delay, names = declared.delay, scan.physical_columns()
    beat = f"{BEAT} + {seconds_interval(delay)}" if delay else BEAT
    if not declared.by_rows:
        moved = f"SELECT *, COALESCE({BEAT}, {_NEVER}) AS {MOVED}, {BEAT} AS {FLAG} FROM {rows}"
        return _watermarked(moved, names, MOVED, 0, renderer, flagged=True)
    others = ", ".join(identifier(n) for n in names if n != scan.rowtime)
    mark = identifier(scan.rowtime)
    moved = f"SELECT {others}, COALESCE({beat}, {mark}) AS {mark}, {BEAT} AS {FLAG} FROM {rows}"
    return _watermarked(moved, names, scan.rowtime, delay, renderer, flagged=True)


def _kept_rows(
    scan: Scan, rows: str, column: str, delay: int, renderer: Rendering, *, told: bool
) -> tuple[KeptInput, str]:
    """Return an input and the view of its rows, observed: the largest value of ``column``, and how many.

    Args:
        told: whether heartbeats are among its rows.
    """
    interval = scan.timing.interval if scan.timing is not None else 0
    declared = declared_input(scan, delay, renderer, by_rows=interval == 0 and not has_splits(scan))
    kept = KeptInput(declared, "" if told else f"sqlext_time_{len(renderer.kept)}", scan.view)
    renderer.kept.append(kept)
    view = renderer.add_step(lambda name: SqlView(name, rows))
    return kept, renderer.add_step(lambda name: ObservedView(name, view, declared.name, column, scan.view, scan.packed))


def declared_input(scan: Scan, delay: int, renderer: Rendering, *, by_rows: bool) -> Input:
    """Return what is declared of the time of an input that has no end, as a query reads it.

    Args:
        delay: ms that its watermark stays behind.
        by_rows: as of ``Input``.
    """
    timing = scan.timing or Timing()
    # A table that is read twice is two inputs: orders and orders#2.
    number = sum(k.input.name.split("#")[0] == scan.table.name.name for k in renderer.kept)
    return Input(
        name=f"{scan.table.name.name}#{number + 1}" if number else scan.table.name.name,
        delay=delay,
        idle=timing.idle,
        closes=timing.closes,
        alignment=timing.alignment,
        interval=timing.interval,
        by_rows=by_rows,
        bounded=timing.bounded,
        ends=scan.ends,
        zone=_zone(scan, renderer),
        measure=ROWTIME if scan.marks is None else scan.marks.span.one_line,
    )


def _zone(scan: Scan, renderer: Rendering) -> str:
    """Return whose wall clock shows the times of a rowtime: without a zone they are instants of UTC's."""
    rowtime = next(c for c in scan.columns if c.physical == scan.rowtime)
    return "UTC" if rowtime.part is Part.INSTANT else renderer.zone


def _watermarked(
    rows: str,
    names: tuple[str, ...] | list[str],
    column: str,
    delay: int,
    renderer: Rendering,
    *,
    flagged: bool = False,
) -> str:
    """Return columns of rows behind a watermark; rows that are flagged have moved it and go."""
    selected = ", ".join(identifier(n) for n in names)
    where = f"{BARRIER} AND {FLAG} IS NULL" if flagged else BARRIER
    if has(WATERMARK_SQL):
        watermark = f"WATERMARK {identifier(column)} DELAY OF {seconds_interval(delay)}"
        return f"SELECT {selected} FROM (SELECT *, {_SEEN} FROM ({rows}) {watermark}) WHERE {where}"
    plain = renderer.add_step(lambda name: SqlView(name, rows))
    marked = renderer.add_step(lambda name: WatermarkView(name, plain, column, delay))
    return f"SELECT {selected} FROM (SELECT *, {_SEEN} FROM {marked}) WHERE {where}"


def _end_row(columns: list[str], times: set[str], view: str, *, ahead: int = 0) -> str:
    """Return the rows of a view of times, each in the shape of the table's rows.

    Args:
        ahead: ms to add to these times: where they are watermarks, Spark takes the delay off again. Heartbeats that
            were not read before a restart so mean the same under another delay.
    """
    time = f"CAST(value AS TIMESTAMP){f' + {seconds_interval(ahead)}' if ahead else ''}"
    values = {FLAG: "value", **dict.fromkeys(times, time)}
    return f"SELECT {', '.join(values.get(c, 'NULL') for c in columns)} FROM {view}"


def _marked(scan: Scan, renderer: Rendering, extra: tuple[str, ...] = ()) -> str:
    """Return the table's columns, ``extra`` and, where the watermark is an expression, the column that it is."""
    text = _projection(scan, renderer, extra)
    return _with_mark(scan, text, renderer) if scan.marked else text


def _projection(scan: Scan, renderer: Rendering, extra: tuple[str, ...] = ()) -> str:
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
            text = _checked(text, scan, has_watermark=scan.watermarked and not renderer.at_once)
        elif expr is not None and scan.watermarked and renderer.end is not InputEnd.CATCH_UP:
            text = _nullable(text)
        selected.append(named(text, name))
    selected += scan.hidden
    query = f"SELECT {', '.join((*selected, *extra))} FROM {identifier(scan.view)}"
    if scan.rowtime is not None and scan.null_handling == "drop":
        return f"SELECT * FROM ({query}) WHERE {identifier(scan.rowtime)} IS NOT NULL"
    return query


def _nullable(text: str) -> str:
    """Return a value that Spark takes for one that can be NULL, as it is in rows that only move the watermark.

    Of a union Spark keeps the branches that have rows in a micro-batch. Were a column NULL in one of them and never in
    the other, state that has it in its key would fit some micro-batches only.
    """
    return f"IF({_TRUE}, {text}, NULL)"


def _checked(text: str, scan: Scan, *, has_watermark: bool) -> str:
    """Return a rowtime that fails the job where it is NULL, or where Spark's watermark would drop it unseen."""
    name = f"{scan.table.name.name}.{scan.rowtime}"
    checks = []
    if scan.null_handling == "fail":
        checks.append((f"{text} IS NULL", f"[RUN-001] rowtime {name} is NULL"))
    if has_watermark:
        early = f"{text} < TIMESTAMP '1970-01-01 00:00:00Z'"
        checks.append((early, f"[RUN-002] rowtime {name} lies before 1970, where Spark's watermark begins"))
    if not checks:
        return text
    whens = " ".join(f"WHEN {c} THEN CAST(raise_error({string(m)}) AS TIMESTAMP)" for c, m in checks)
    return f"CASE {whens} ELSE {text} END"


def _with_mark(scan: Scan, text: str, renderer: Rendering) -> str:
    assert scan.rowtime is not None
    alias, mark = "__marked", identifier(scan.rowtime)
    if scan.marks is not None:
        mark = _mark(scan, scan.marks, alias, renderer)
    if scan.future is not None:
        mark = f"CASE WHEN {ahead(identifier(scan.rowtime), scan.future)} THEN {_NEVER} ELSE {mark} END"
    return f"SELECT *, {mark} AS {MARK} FROM ({text}) AS {alias}"


def ahead(rowtime: str, future: int) -> str:
    """Return whether a rowtime, an instant, lies too far ahead of the micro-batch's clock. Milliseconds."""
    return f"{rowtime} > current_timestamp() + {seconds_interval(future)}"


def _mark(scan: Scan, marks: Expr, alias: str, renderer: Rendering) -> str:
    scope = Scope((ScopeRelation(alias, (scan.table.name.name,), scan.columns),), scan.scope.mode, scan.scope.zone)
    mark = renderer.expr(marks, scope)
    rowtime = next(c for c in scan.columns if c.physical == scan.rowtime)
    return wall_to_instant(mark, renderer.zone) if rowtime.part is Part.INSTANT else mark
