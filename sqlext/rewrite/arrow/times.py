"""Translate Spark's functions of times and zones to Arrow; ``translation`` has casts and literals of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
from sqlglot import exp

from sqlext.rewrite.arrow.parts import Of
from sqlext.rewrite.arrow.time_literals import interval_micros
from sqlext_udfs.expressions.columns import Apply, Expression, Literal
from sqlext_udfs.expressions.functions import INSTANT, WALL_CLOCK

_OF_DATES = ("year", "quarter", "month", "day", "week", "dow", "doy", "dayofweek_iso")
_FIELDS = (*_OF_DATES, "hour", "minute")
#: Functions of one field, by what sqlglot makes of them.
_CALLS: Mapping[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfWeek: "dow",
    exp.DayOfYear: "doy",
    exp.WeekOfYear: "week",
    exp.Hour: "hour",
    exp.Minute: "minute",
}
#: Units of TIMESTAMPDIFF, in microseconds.
_UNITS = {"MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000, "DAY": 86_400_000_000}
_TRUNCATED = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


@cache
def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def at_zone(instant: Expression, zone: str) -> Expression | None:
    """Return what a clock in a zone shows at an instant, as a wall clock; None for a zone without a name."""
    return _of_zone("wall clock", WALL_CLOCK, instant, zone)


def instant_of(wall: Expression, zone: str) -> Expression | None:
    """Return when a clock in a zone shows a time: the first time if twice, what is as long after the gap if never."""
    return _of_zone("instant", INSTANT, wall, zone)


def _of_zone(function: str, of: pa.DataType, time: Expression, zone: str) -> Expression | None:
    if not _is_zone(zone):
        return None
    return Apply(of, function=function, inputs=(time, Literal(pa.string(), value=zone)))


def _from_utc(of: Of, zone: str, node: exp.AtTimeZone) -> Expression | None:
    """Return FROM_UTC_TIMESTAMP: the instant whose wall clock in UTC is that of an instant in the zone."""
    instant, name = of(_uncast(node.this)), node.args["zone"]
    known = instant.type == INSTANT and isinstance(name, exp.Literal)
    wall = at_zone(instant, name.this) if known else None
    return Apply(INSTANT, function="as instant", inputs=(wall,)) if wall is not None else None


def _to_utc(of: Of, zone: str, node: exp.FromTimeZone) -> Expression | None:
    """Return TO_UTC_TIMESTAMP: when a clock in the zone shows the wall clock that an instant has in UTC."""
    shown, name = of(_uncast(node.this)), node.args["zone"]
    if shown.type != INSTANT or not isinstance(name, exp.Literal):
        return None
    return instant_of(Apply(WALL_CLOCK, function="as wall clock", inputs=(shown,)), name.this)


def _uncast(node: exp.Expr) -> exp.Expr:
    """Return the argument of the two as it is written: sqlglot puts a cast to a type around it that Spark has not."""
    tried = node.args.get("safe")
    added = isinstance(node, exp.Cast) and not tried and node.to.this is exp.DataType.Type.TIMESTAMP
    return node.this if added else node


def _extract(of: Of, zone: str, node: exp.Extract) -> Expression | None:
    return _field(of(node.expression), node.this.name.lower(), zone)


def _called(of: Of, zone: str, node: exp.Func) -> Expression | None:
    argument = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
    return _field(of(argument), _CALLS[type(node)], zone)


def _field(time: Expression, field: str, zone: str) -> Expression | None:
    """Return a field of a time, as a clock of the zone shows it."""
    if time.type == INSTANT:
        time = at_zone(time, zone) or time
    known = _OF_DATES if pa.types.is_date32(time.type) else _FIELDS if time.type == WALL_CLOCK else ()
    return Apply(pa.int32(), function=field, inputs=(time,)) if field in known else None


def _difference(of: Of, zone: str, node: exp.TimestampDiff) -> Expression | None:
    """Return TIMESTAMPDIFF of two times of one type; Spark counts by clocks of the session's zone."""
    end, start, unit = of(node.this), of(node.expression), node.args["unit"].name.upper()
    if zone != "UTC" or end.type != start.type or end.type not in (INSTANT, WALL_CLOCK) or unit not in _UNITS:
        return None
    size = Literal(pa.int64(), value=_UNITS[unit])
    return Apply(pa.int64(), function="between", inputs=(start, end, size))


def _truncated(of: Of, zone: str, node: exp.TimestampTrunc) -> Expression | None:
    """Return DATE_TRUNC, an instant to Spark."""
    time, unit = of(node.this), node.args["unit"].name.lower()
    if zone != "UTC" or time.type not in (INSTANT, WALL_CLOCK) or unit not in _TRUNCATED or node.args.get("zone"):
        return None
    return Apply(INSTANT, function="truncated", inputs=(time, Literal(pa.string(), value=unit)))


def _truncated_date(of: Of, zone: str, node: exp.DateTrunc) -> Expression | None:
    """Return TRUNC of a date."""
    date, unit = of(node.this), node.args["unit"].name.lower()
    if not pa.types.is_date32(date.type) or unit not in _TRUNCATED[:4]:
        return None
    return Apply(date.type, function="truncated", inputs=(date, Literal(pa.string(), value=unit)))


def _later(of: Of, zone: str, node: exp.TimestampAdd) -> Expression | None:
    """Return TIMESTAMPADD of milliseconds, which are as long everywhere."""
    time, count = of(node.this), of(node.expression)
    if node.args["unit"].name.upper() != "MILLISECOND" or count.type != pa.int64():
        return None
    if time.type not in (INSTANT, WALL_CLOCK):
        return None
    return Apply(time.type, function="later", inputs=(time, count), fails=True)


def _window(of: Of, zone: str, node: exp.Anonymous) -> Expression | None:
    """Return the window of a time that begins last. A time must be there (``queries``)."""
    found = sliding(node)
    if found is None:
        return None
    time, (size, slide, start) = of(node.expressions[0]), found
    if time.type not in (INSTANT, WALL_CLOCK):
        return None
    sizes = (Literal(pa.int64(), value=v) for v in (size, slide, start))
    return Apply(
        pa.struct([pa.field(name, time.type) for name in ("start", "end")]), function="window", inputs=(time, *sizes)
    )


def sliding(node: exp.Expr) -> tuple[int, int, int] | None:
    """Return size, slide and offset in microseconds of a call of ``window``; None for anything else."""
    if not isinstance(node, exp.Anonymous) or node.name.lower() != "window" or not 2 <= len(node.expressions) <= 4:
        return None
    sizes = [_micros(text) for text in node.expressions[1:]]
    size, slide, start = (*sizes, *(sizes[0], 0)[len(sizes) - 1 :])
    return (size, slide, start) if size and slide and start is not None else None


def _micros(text: exp.Expr) -> int | None:
    """Return the length of ``'5 minutes'``."""
    count, _, unit = text.this.partition(" ") if isinstance(text, exp.Literal) and text.is_string else ("", "", "")
    return interval_micros(count, unit) if count.removeprefix("-").isdigit() else None


#: What sqlglot makes of a call -> what is made of it in a zone; None: it stays Spark's.
TIMES: tuple[tuple[type[exp.Expr], Callable[..., Expression | None]], ...] = (
    (exp.AtTimeZone, _from_utc),
    (exp.FromTimeZone, _to_utc),
    (exp.Extract, _extract),
    *((kind, _called) for kind in _CALLS),
    (exp.TimestampDiff, _difference),
    (exp.TimestampTrunc, _truncated),
    (exp.DateTrunc, _truncated_date),
    (exp.TimestampAdd, _later),
    (exp.Anonymous, _window),
)
