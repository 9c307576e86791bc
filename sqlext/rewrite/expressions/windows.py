"""Render windows as Spark SQL: by Spark's own functions where they can, else as a computed struct."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.analysis.types.inference import infer
from sqlext.analysis.types.literals import interval_millis
from sqlext.dialect.ast.expressions import Binary, Expr, Interval, Paren
from sqlext.plan.columns import Part
from sqlext.plan.nodes import AssignWindows, WindowKind, WindowSpec
from sqlext.plan.scope import Scope
from sqlext.plan.windows.lengths import SHORTEST_MONTH
from sqlext.quoting import duration, identifier, string
from sqlext.rewrite.expressions.calendars import calendar_rows
from sqlext.rewrite.expressions.columns import CLOCK, held, instant

_EPOCH_NTZ = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def window_expression(node: AssignWindows) -> str:
    """Return ``window(...)`` or ``session_window(...)`` of a row's time."""
    spec = node.spec
    time = CLOCK if spec.processing else held(node.time)
    if spec.kind is WindowKind.SESSION:
        # Unlike window(), Spark's session_window() takes no window struct for a time.
        if node.time.part is Part.TIME:
            time = f"window_time({time})"
        return f"session_window({time}, {_gap(spec)})"
    arguments = [time, string(duration(spec.size))]
    if spec.slide != spec.size or spec.offset:
        arguments.append(string(duration(spec.slide)))
    if spec.offset:
        # Spark refuses a start time that is not below the slide (TimeWindow).
        arguments.append(string(duration(spec.offset % spec.slide)))
    return f"window({', '.join(arguments)})"


def millis(text: str, *, interval: bool) -> str:
    """Return a length, an INTERVAL or a number of milliseconds, as BIGINT."""
    return f"unix_millis(timestamp_millis(0) + ({text}))" if interval else f"CAST({text} AS BIGINT)"


def times_interval(length: Expr, scope: Scope) -> tuple[Expr, int] | None:
    """Return the whole number and the milliseconds of ``number * INTERVAL '1' HOUR``; None for another length."""
    while isinstance(length, Paren):
        length = length.operand
    if not isinstance(length, Binary) or length.op != "*":
        return None
    for number, interval in ((length.left, length.right), (length.right, length.left)):
        if isinstance(interval, Interval) and interval.value.isdigit():  # no part of a millisecond
            type_, of = infer(number, scope), interval_millis(interval)
            return (number, of) if type_ is not None and type_.is_integer and of is not None else None
    return None


def _time(node: AssignWindows) -> str:
    """Return the instant by which a row gets its windows."""
    return CLOCK if node.spec.processing else instant(node.time)


def _gap(spec: WindowSpec) -> str:
    """Return the gap of ``session_window``; Spark itself would leave out rows whose gap is not positive."""
    if spec.gap is None:
        return string(duration(spec.size))
    gap = identifier(spec.gap)
    wrong = "[RUN-037] a row's session gap is NULL or not positive"
    return f"CASE WHEN {gap} > 0 THEN concat({gap}, ' milliseconds') ELSE raise_error({string(wrong)}) END"


def custom_windows_sql(node: AssignWindows, source: str, zone: str) -> str:
    """Return the query that gives each row its windows as structs ``start, end, wall_start, wall_end``.

    Starts are counted in milliseconds of the wall clock of ``spec.wall_clock`` (UTC without one), as Flink
    counts them (TimeWindowUtil): a window's bounds are wall clock, the hour that a zone has twice in autumn is
    one hour of windows, and such a window ends when its end strikes for the second time.
    """
    spec = node.spec
    kept = [identifier(c) for c in node.input.physical_columns() if c != spec.row_offset]
    own = [identifier(spec.row_offset)] if spec.row_offset is not None else []
    time = _time(node)
    shown = f"from_utc_timestamp({time}, {string(spec.wall_clock)})" if spec.wall_clock else time
    local = f"unix_millis({shown})"
    inner = f"SELECT {', '.join([*kept, *(_checked(spec, offset) for offset in own)])}, {local} AS __ms FROM {source}"
    columns = [*kept, *own]
    if spec.months is None:
        rows, end = _rows(spec, columns, inner)
    else:
        rows, end = calendar_rows(spec, columns, inner, _offset(spec)), "__end"
    struct = ", ".join(
        f"{string(name)}, {text}"
        for name, text in (
            ("start", _instant("__start", spec.wall_clock, zone, last=False)),
            ("end", _instant(end, spec.wall_clock, zone, last=True)),
            ("wall_start", f"timestampadd(MILLISECOND, __start, {_EPOCH_NTZ})"),
            ("wall_end", f"timestampadd(MILLISECOND, {end.strip('()')}, {_EPOCH_NTZ})"),
        )
    )
    gap = f" WHERE __ms < __start + {spec.size}L" if spec.has_gaps and spec.months is None else ""
    return f"SELECT {', '.join(kept)}, named_struct({struct}) AS {identifier(node.physical)} FROM ({rows}){gap}"


def is_last_window(node: AssignWindows) -> str:
    """Return whether a window of ``custom_windows_sql`` is the last one of its row; not of a calendar."""
    spec, window = node.spec, identifier(node.physical)
    if spec.kind is WindowKind.CUMULATE:
        return f"timestampadd(MILLISECOND, {spec.size}L, {window}.wall_start) = {window}.wall_end"
    time = _time(node)
    shown = f"from_utc_timestamp({time}, {string(spec.wall_clock)})" if spec.wall_clock else time
    at = f"timestampadd(MILLISECOND, unix_millis({shown}), {_EPOCH_NTZ})"
    return f"{at} < timestampadd(MILLISECOND, {spec.slide}L, {window}.wall_start)"


def _offset(spec: WindowSpec) -> str:
    """Return the offset of a row's windows in ms, as SQL."""
    return f"{spec.offset}L" if spec.row_offset is None else identifier(spec.row_offset)


def _checked(spec: WindowSpec, offset: str) -> str:
    """Return the offset of each row; of a calendar one that is shorter than each month, as a constant one is."""
    right, wrong = f"{offset} IS NOT NULL", "NULL"
    if spec.months is not None:
        right, wrong = f"abs({offset}) < {SHORTEST_MONTH}L", "NULL or 28 days or longer"
    error = string(f"[RUN-092] the offset of a row's windows is {wrong}")
    return f"CASE WHEN {right} THEN {offset} ELSE CAST(raise_error({error}) AS BIGINT) END AS {offset}"


def sliding_windows_sql(node: AssignWindows, source: str) -> str:
    """Return the query that gives each row the window that ends at its time."""
    columns = ", ".join(identifier(c) for c in node.input.physical_columns())
    time = f"unix_millis({instant(node.time)})"
    start, end = f"timestamp_millis({time} - {node.spec.size - 1}L)", f"timestamp_millis({time} + 1L)"
    return (
        f"SELECT {columns}, named_struct('start', {start}, 'end', {end}) AS {identifier(node.physical)} FROM {source}"
    )


def _rows(spec: WindowSpec, columns: Sequence[str], source: str) -> tuple[str, str]:
    """Return the query that gives each row its windows' ``__start``, and what their end is."""
    rows = f"SELECT {', '.join(columns)}, __ms, {_exploded(spec)} FROM ({source})"
    if spec.kind is not WindowKind.CUMULATE:
        return rows, f"(__start + {spec.size}L)"
    return f"SELECT {', '.join(columns)}, __ms, __start, explode({_ends(spec)}) AS __end FROM ({rows})", "__end"


def _exploded(spec: WindowSpec) -> str:
    """Return the column ``__start``: once for each window of a row, or in CUMULATE for all its windows together."""
    if spec.kind is WindowKind.CUMULATE:
        return f"(__ms - pmod(__ms - {_offset(spec)}, {spec.size}L)) AS __start"
    last = f"(__ms - pmod(__ms - {_offset(spec)}, {spec.slide}L))"
    if spec.slide >= spec.size:
        return f"explode(array({last})) AS __start"
    # A row is in at most ceil(size / slide) windows; where the slide does not divide the size, one less may hold it.
    back = (-(-spec.size // spec.slide) - 1) * spec.slide
    starts = f"filter(sequence({last} - {back}L, {last}, {spec.slide}L), s -> s > __ms - {spec.size}L)"
    return f"explode({starts}) AS __start"


def _ends(spec: WindowSpec) -> str:
    """Return the ends of a row's CUMULATE windows: every step after it, up to the size."""
    first = f"(__ms - pmod(__ms - {_offset(spec)}, {spec.slide}L) + {spec.slide}L)"
    return f"sequence({first}, __start + {spec.size}L, {spec.slide}L)"


def _instant(millis: str, wall_clock: str | None, zone: str, *, last: bool) -> str:
    """Return when a wall clock shows ``millis`` (the first or the last time, where it shows it twice)."""
    shown = f"timestamp_millis({millis})"
    if wall_clock is None:
        return shown
    name = string(wall_clock)
    first = f"to_utc_timestamp({shown}, {name})"
    if not last:
        return first
    # Flink's TimeWindowUtil tries one hour too, whatever the zone's shift is.
    later = f"({first} + INTERVAL 1 HOUR)"
    return f"CASE WHEN from_utc_timestamp({later}, {name}) = {shown} THEN {later} ELSE {first} END"
