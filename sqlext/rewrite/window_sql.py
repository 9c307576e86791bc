"""Windows as Spark SQL: its own functions where they say it, a struct computed by us where they do not."""

from __future__ import annotations

from sqlext.plan.columns import Part
from sqlext.plan.nodes import AssignWindows
from sqlext.plan.windows import WindowKind
from sqlext.rewrite.columns import held, instant
from sqlext.rewrite.durations import duration
from sqlext.rewrite.quoting import identifier, string

_EPOCH_NTZ = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def window_expression(node: AssignWindows) -> str:
    """Return ``window(...)`` or ``session_window(...)`` of a row's time."""
    spec = node.spec
    time = held(node.time)
    if spec.kind is WindowKind.SESSION:
        if node.time.part is Part.TIME:
            time = f"window_time({time})"
        return f"session_window({time}, {string(duration(spec.size))})"
    arguments = [time, string(duration(spec.size))]
    if spec.slide != spec.size or spec.offset:
        arguments.append(string(duration(spec.slide)))
    if spec.offset:
        arguments.append(string(duration(spec.offset % spec.slide)))
    return f"window({', '.join(arguments)})"


def custom_windows_sql(node: AssignWindows, source: str, zone: str) -> str:
    """Return the query that gives each row its windows as structs ``start, end, wall_start, wall_end``.

    Starts are counted in milliseconds of the wall clock of ``spec.wall_clock`` (UTC without one), as Flink
    counts them (TimeWindowUtil): a window's bounds are wall clock, the hour that a zone has twice in autumn is
    one hour of windows, and such a window ends when its end strikes for the second time.
    """
    spec = node.spec
    columns = [identifier(c) for c in node.input.physical_columns()]
    time = instant(node.time)
    shown = f"from_utc_timestamp({time}, {string(spec.wall_clock)})" if spec.wall_clock else time
    local = f"unix_millis({shown})"
    last = f"(__ms - pmod(__ms - {spec.offset}L, {spec.slide}L))"
    starts = f"array({last})"
    if spec.slide < spec.size:
        back = (-(-spec.size // spec.slide) - 1) * spec.slide
        starts = f"filter(sequence({last} - {back}L, {last}, {spec.slide}L), s -> s > __ms - {spec.size}L)"
    inner = f"SELECT {', '.join(columns)}, {local} AS __ms FROM {source}"
    exploded = f"SELECT {', '.join(columns)}, __ms, explode({starts}) AS __start FROM ({inner})"
    struct = ", ".join(
        f"{string(name)}, {text}"
        for name, text in (
            ("start", _instant("__start", spec.wall_clock, zone, last=False)),
            ("end", _instant(f"(__start + {spec.size}L)", spec.wall_clock, zone, last=True)),
            ("wall_start", f"timestampadd(MILLISECOND, __start, {_EPOCH_NTZ})"),
            ("wall_end", f"timestampadd(MILLISECOND, __start + {spec.size}L, {_EPOCH_NTZ})"),
        )
    )
    gap = f" WHERE __ms < __start + {spec.size}L" if spec.has_gaps else ""
    return f"SELECT {', '.join(columns)}, named_struct({struct}) AS {identifier(node.physical)} FROM ({exploded}){gap}"


def _instant(millis: str, wall_clock: str | None, zone: str, *, last: bool) -> str:
    """Return when a wall clock shows ``millis`` (the first or the last time, where it shows it twice)."""
    shown = f"timestamp_millis({millis})"
    if wall_clock is None:
        return shown
    name = string(wall_clock)
    first = f"to_utc_timestamp({shown}, {name})"
    if not last:
        return first
    later = f"({first} + INTERVAL 1 HOUR)"
    return f"CASE WHEN from_utc_timestamp({later}, {name}) = {shown} THEN {later} ELSE {first} END"
