"""List the temporal functions (Flink docs: System (Built-in) Functions, Temporal Functions).

A TIMESTAMP is TIMESTAMP_NTZ in Spark. Spark's own functions take a TIMESTAMP and read an NTZ in the session's
zone: where that zone has gaps (summer time) a form is used that never leaves NTZ.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlext.analysis.functions import date_patterns, instants, java_clock, truncation
from sqlext.analysis.functions.arithmetic import whole_type
from sqlext.analysis.functions.elapsed import MONTHS_PER, moment, months_between, on_a_day
from sqlext.analysis.functions.model import CallTexts, CallTypes, TypeRule, fn
from sqlext.analysis.functions.results import never_null, nullable, nullable_as, strict, unknown
from sqlext.dialect.ast.expressions import Call, Keyword
from sqlext.errors import SqlExtError
from sqlext.types import (
    BIGINT,
    DATE,
    INT,
    STRING,
    TIME,
    TIMESTAMP3,
    TIMESTAMP_LTZ3,
    LogicalType,
    timestamp,
)

_bigint = strict(BIGINT)
_MONTHS = frozenset({"YEAR", "QUARTER", "MONTH"})
_DAYS = frozenset({"DAY", "WEEK"})

#: Flink's shorthand functions and the field that they extract.
_PARTS = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
}
#: Fields under Spark's names where they are called differently or mean another thing.
_FIELDS = {
    "DOW": "dayofweek({0})",
    "ISODOW": "weekday({0}) + 1",
    "ISOYEAR": "extract(YEAROFWEEK FROM {0})",
    "DECADE": "floor(year({0}) / 10)",
    "CENTURY": "ceil(year({0}) / 100)",
    "MILLENNIUM": "ceil(year({0}) / 1000)",
    # Spark's SECOND has a fraction, Flink's is whole.
    "SECOND": "floor(extract(SECOND FROM {0}))",
    "MILLISECOND": "floor((extract(SECOND FROM {0}) % 1) * 1000)",
    "MICROSECOND": "(extract(SECOND FROM {0}) % 1) * 1000000",
    "NANOSECOND": "(extract(SECOND FROM {0}) % 1) * 1000000000",
}
#: Fields that Spark's EXTRACT has not.
_FLINK_FIELDS = frozenset("EPOCH ISODOW ISOYEAR DECADE CENTURY MILLENNIUM MILLISECOND MICROSECOND NANOSECOND".split())
_CLOCK = frozenset({"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND"})


def extracted(unit: str, text: str, call: CallTexts) -> str:
    """Return ``EXTRACT(unit FROM text)`` as BIGINT."""
    type_ = call.types[-1]
    if unit == "EPOCH":
        return instants.epoch_seconds(text)
    if type_ and type_.root == "DATE" and unit in _CLOCK:
        return f"CAST(if({text} IS NULL, NULL, 0) AS BIGINT)"
    if type_ and type_.root in ("INTERVAL_DAY_TIME", "INTERVAL_YEAR_MONTH"):
        # Spark takes a field that the interval's own units have not from the widest type alone.
        text = f"CAST({text} AS {type_.spark()})"
    template = _FIELDS.get(unit, f"extract({unit} FROM {{0}})")
    return f"CAST({template.format(text)} AS BIGINT)"


def _extract(call: CallTexts) -> str:
    return extracted(call.args[0].upper(), call.args[1], call)


def _misplaced_watermark(call: CallTexts) -> str:
    """Refuse a call that no SELECT has taken care of (``selects.watermark_column``)."""
    raise SqlExtError(
        "TIME-006",
        "CURRENT_WATERMARK stands in the SELECT list or WHERE of a query over a stream, and nowhere else",
        span=call.span,
        hint="ask for it in a view or a sub-query: SELECT *, CURRENT_WATERMARK(ts) AS w FROM t",
    )


def _part(unit: str) -> Callable[[CallTexts], str]:
    return lambda call: extracted(unit, call.args[0], call)


def _add_type(call: CallTypes) -> LogicalType | None:
    """TIMESTAMPADD keeps the operand's type; hours on a DATE make it TIMESTAMP(6)."""
    type_, unit = call.type(2), _unit(call.call)
    if type_ is None:
        return None
    if type_.root == "DATE" and unit not in _MONTHS | _DAYS:
        return strict(timestamp(6))(CallTypes(call.call, call.types[1:], call.mode))
    nullable_ = any(t is None or t.nullable for t in call.types[1:])
    return type_.as_nullable() if nullable_ else type_.not_null()


def _unit(call: Call) -> str:
    first = call.args[0] if call.args else None
    return first.word if isinstance(first, Keyword) else ""


def _without_unit(rule_type: LogicalType) -> TypeRule:
    def rule(call: CallTypes) -> LogicalType | None:
        return strict(rule_type)(CallTypes(call.call, call.types[1:], call.mode))

    return rule


def _timestampadd(call: CallTexts) -> str:
    unit, count, operand = call.args[0].upper(), call.args[1], call.args[2]
    type_ = call.type(2)
    if type_ is not None and type_.root == "TIME":  # wraps around at midnight
        moved = f"timestampadd({unit}, {count}, {on_a_day(operand)})"
        # The time of day stands behind 'yyyy-MM-dd '.
        return f"CAST(substring(CAST({moved} AS STRING), 12) AS {type_.spark()})"
    text = f"timestampadd({unit}, {count}, {operand})"
    if call.root(2) != "DATE":
        return text
    # On a DATE Spark gives a TIMESTAMP in the session's zone.
    text = f"timestampadd({unit}, {count}, CAST({operand} AS TIMESTAMP_NTZ))"
    return f"CAST({text} AS DATE)" if unit in _MONTHS | _DAYS else text


def _timestampdiff(call: CallTexts) -> str:
    """Flink's result is INT and wraps around; a DATE is its midnight, a TIME is of the same day."""
    unit = call.args[0].upper()
    sides = [moment(text, root) for text, root in zip(call.args[1:], (call.root(1), call.root(2)), strict=True)]
    if unit in MONTHS_PER:
        months = months_between(*sides)
        return f"CAST({months} AS INT)" if unit == "MONTH" else f"CAST(({months}) DIV {MONTHS_PER[unit]} AS INT)"
    text = f"timestampdiff({unit}, {sides[0]}, {sides[1]})"
    if unit == "MILLISECOND":
        # Flink counts whole seconds first (measured on 2.3).
        seconds = f"timestampdiff(SECOND, {sides[0]}, {sides[1]})"
        return f"CAST(shiftright(shiftleft({seconds} * 1000, 32), 32) AS INT)"
    return f"CAST({text} AS INT)"


def _date_format(call: CallTexts) -> str:
    """A text must be a whole timestamp; Spark refuses the week letters of Java's patterns."""
    text, pattern = call.args[0], call.literal(1)
    if call.root(0) in ("CHAR", "VARCHAR"):
        text = f"try_to_timestamp(left({text}, 19), 'yyyy-MM-dd HH:mm:ss')"
    by_week = date_patterns.date_format(text, pattern) if pattern else None
    if by_week is not None:
        return by_week
    return f"date_format({text}, {call.args[1]})"


def _to_date(call: CallTexts) -> str:
    """NULL where the text is no date: Spark's ANSI to_date fails, and not every Spark has try_to_date."""
    if len(call.args) == 1:
        return f"try_cast({call.args[0]} AS DATE)"
    text, pattern = date_patterns.to_read(call.args[0], call.args[1], call.literal(1))
    return f"CAST(try_to_timestamp({text}, {pattern}) AS DATE)"


def _to_unit(call: Call) -> bool:
    """Whether this is ``FLOOR(x TO unit)``, which Spark has not."""
    return len(call.args) == 2 and isinstance(call.args[1], Keyword)


def _whole_type(call: CallTypes) -> LogicalType | None:
    """A time of day is cut to hours and less: cut to days Flink gives milliseconds that mean nothing."""
    type_, unit = call.type(0), call.call.args[1] if len(call.call.args) > 1 else None
    if type_ and type_.root == "TIME" and isinstance(unit, Keyword) and unit.word not in _CLOCK:
        message = f"{call.call.function} cannot cut {type_.flink()} to {unit.word}"
        raise SqlExtError("TYPE-004", message, span=unit.span, hint="a time of day has HOUR, MINUTE, SECOND")
    return whole_type(call)


def _floor(call: CallTexts) -> str:
    if _to_unit(call.call):
        return truncation.floor(call.args[0], call.args[1].upper(), call.type(0), call.zone)
    return _whole("floor", call)


def _ceil(call: CallTexts) -> str:
    if _to_unit(call.call):
        return truncation.ceil(call.args[0], call.args[1].upper(), call.type(0), call.zone)
    return _whole("ceil", call)


def _whole(name: str, call: CallTexts) -> str:
    """FLOOR keeps the type of its operand in Flink; Spark gives BIGINT for DOUBLE."""
    type_ = call.result
    if type_ and type_.is_integer:
        return call.args[0]
    if type_ and type_.is_approximate:
        # Not Spark's floor(DOUBLE), which is a BIGINT and fails beyond it.
        # From 2^53 (about 9.007E15) on a DOUBLE has no fraction, so it is whole already.
        exact = f"{name}({call.args[0]})"
        return f"CASE WHEN abs({call.args[0]}) < 9.0E15D THEN CAST({exact} AS {type_.root}) ELSE {call.atom(0)} END"
    return f"CAST({name}({call.args[0]}) AS {call.spark_type})" if call.spark_type else f"{name}({call.args[0]})"


def _now(call: CallTexts) -> str:
    return "current_timestamp()"


def _plain(text: str) -> Callable[[CallTexts], str]:
    return lambda call: text


def _unix_timestamp(call: CallTexts) -> str:
    """A text that cannot be read gives the smallest BIGINT in Flink."""
    if not call.args:
        return "unix_timestamp()"
    seconds = java_clock.unix_seconds(call)
    return f"CASE WHEN {call.atom(0)} IS NOT NULL THEN coalesce({seconds}, -9223372036854775808) END"


def _is_epoch(call: Call) -> bool:
    """Whether TO_TIMESTAMP_LTZ is called in a way that Spark does not know: with a number, or with a zone."""
    second = call.args[1] if len(call.args) > 1 else None
    return len(call.args) == 3 or (second is not None and getattr(second, "kind", "") == "NUMBER")


TEMPORAL = (
    fn(
        "EXTRACT",
        "unit, temporal/interval",
        _without_unit(BIGINT),
        _extract,
        spark=unknown,
        extends=lambda c: _unit(c) in _FLINK_FIELDS,
    ),
    *(
        fn(name, "temporal/interval", _bigint, _part(unit), spark=unknown if name == "SECOND" else strict(INT))
        for name, unit in _PARTS.items()
    ),
    fn("FLOOR", "numeric | temporal, unit", _whole_type, _floor, spark=unknown, extends=_to_unit),
    fn("CEIL", "numeric | temporal, unit", _whole_type, _ceil, spark=unknown, extends=_to_unit, aliases=("CEILING",)),
    fn("CURRENT_DATE", "", never_null(DATE)),
    fn("CURRENT_TIME", "", never_null(TIME), _plain("current_time(0)"), spark=unknown),
    fn("LOCALTIME", "", never_null(TIME), _plain("current_time(0)")),
    fn("CURRENT_TIMESTAMP", "", never_null(TIMESTAMP_LTZ3), spark=never_null(LogicalType("TIMESTAMP_LTZ", 6))),
    fn("NOW", "", never_null(TIMESTAMP_LTZ3), _now, spark=never_null(LogicalType("TIMESTAMP_LTZ", 6))),
    fn("CURRENT_ROW_TIMESTAMP", "", never_null(TIMESTAMP_LTZ3), _now),
    fn(
        "LOCALTIMESTAMP",
        "",
        never_null(TIMESTAMP3),
        _plain("localtimestamp()"),
        spark=never_null(timestamp(6)),
        extends=lambda c: c.bare,
    ),
    fn("PROCTIME", "", never_null(TIMESTAMP_LTZ3), _now),
    fn("SOURCE_WATERMARK", "", nullable(TIMESTAMP_LTZ3)),
    fn("CURRENT_WATERMARK", "timestamp", nullable_as(0), _misplaced_watermark),
    fn("UNIX_TIMESTAMP", "text?, text?", strict(BIGINT), _unix_timestamp),
    fn("FROM_UNIXTIME", "numeric, text?", nullable(STRING)),
    fn("TO_DATE", "text, text?", nullable(DATE), _to_date),
    fn(
        "TO_TIMESTAMP",
        "text, text?",
        nullable(TIMESTAMP3),
        instants.to_timestamp,
        spark=nullable(LogicalType("TIMESTAMP_LTZ", 6)),
    ),
    fn(
        "TO_TIMESTAMP_LTZ",
        "numeric, integer? | text, text?, text?",
        nullable(TIMESTAMP_LTZ3),
        instants.to_timestamp_ltz,
        extends=_is_epoch,
    ),
    fn("DATE_FORMAT", "timestamp/text, text", nullable(STRING), _date_format, spark=strict(STRING)),
    fn("CURRENT_DATABASE", "", never_null(STRING)),
    fn("CONVERT_TZ", "text, text, text", nullable(STRING), java_clock.convert_tz),
    fn("TIMESTAMPADD", "unit, integer, temporal", _add_type, _timestampadd, spark=unknown),
    fn("TIMESTAMPDIFF", "unit, temporal, temporal", _without_unit(INT), _timestampdiff, spark=unknown),
)
