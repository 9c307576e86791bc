"""Render conversions of texts and numbers to timestamps, and back to seconds."""

from __future__ import annotations

from sqlext.analysis.functions.date_patterns import to_read
from sqlext.analysis.functions.model import CallTexts
from sqlext.analysis.functions.rendering import is_fixed_zone

_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def epoch_seconds(text: str) -> str:
    """Return the whole seconds since 1970 of a time's wall clock, of a TIMESTAMP_LTZ too (measured on 2.3)."""
    return f"timestampdiff(SECOND, {_EPOCH}, CAST({text} AS TIMESTAMP_NTZ))"


def utc_wall(text: str) -> str:
    """Return an instant as its wall clock in UTC, whatever the session's zone."""
    return f"timestampadd(MICROSECOND, unix_micros({text}), {_EPOCH})"


def utc_instant(text: str) -> str:
    """Return the instant of a wall clock in UTC."""
    return f"timestamp_micros(timestampdiff(MICROSECOND, {_EPOCH}, {text}))"


def wall_clock(text: str) -> str:
    """Return a text as TIMESTAMP_NTZ cut to milliseconds, NULL if it is none.

    Flink takes neither ``T`` nor a zone here, Spark both: such letters are replaced so that the cast fails.
    It does not take a clock without seconds either.
    ``left`` cuts ``yyyy-MM-dd HH:mm:ss.SSSSSS`` behind the milliseconds.
    """
    has_seconds = f"instr({text}, ':') = 0 OR locate(':', {text}, instr({text}, ':') + 1) > 0"
    return f"CASE WHEN {has_seconds} THEN try_cast(translate(left({text}, 23), 'TZ+', '???') AS TIMESTAMP_NTZ) END"


def to_timestamp(call: CallTexts) -> str:
    """Return TO_TIMESTAMP(text [, format]): NULL where the text does not fit."""
    if call.count == 1:
        return wall_clock(call.args[0])
    text, pattern = to_read(call.args[0], call.args[1], call.literal(1))
    finer = "SSSS" in (call.literal(1) or "")
    if is_fixed_zone(call.zone):
        return f"CAST({_millis(f'try_to_timestamp({text}, {pattern})', finer)} AS TIMESTAMP_NTZ)"
    # Read as UTC and counted from 1970, so that no wall-clock time falls into the zone's gaps.
    instant = _millis(f"try_to_timestamp(concat({text}, ' UTC'), concat({pattern}, ' VV'))", finer)
    return f"timestampadd(MICROSECOND, unix_micros({instant}), {_EPOCH})"


def _millis(instant: str, finer: bool) -> str:
    """Return an instant cut to milliseconds if its pattern reads more."""
    return f"date_trunc('MILLISECOND', {instant})" if finer else instant


def to_timestamp_ltz(call: CallTexts) -> str:
    """Return TO_TIMESTAMP_LTZ(epoch [, 0 | 3]) or (text [, format [, zone]]); the precision is 3 if not given."""
    if call.root(0) in ("CHAR", "VARCHAR"):
        return _from_text(call)
    number = call.args[0]
    precision = call.literal(1) if call.count > 1 else "3"
    if call.root(0) in ("FLOAT", "DOUBLE") and precision in ("0", "3"):
        millis = number if precision == "3" else f"{call.atom(0)} * 1000"
        return f"timestamp_millis(CAST(floor({millis}) AS BIGINT))"
    if call.root(0) == "DECIMAL":
        number = f"CAST({number} AS BIGINT)"
    if precision == "0":
        return f"timestamp_seconds({number})"
    if precision == "3":
        return f"timestamp_millis({number})"
    return f"if({call.args[1]} = 0, timestamp_seconds({number}), timestamp_millis({number}))"


def _from_text(call: CallTexts) -> str:
    if call.count == 1:
        return f"CAST({wall_clock(call.args[0])} AS TIMESTAMP)"
    if call.count == 2:
        text, pattern = to_read(call.args[0], call.args[1], call.literal(1))
        return f"try_to_timestamp({text}, {pattern})"
    (text, pattern), zone = to_read(call.args[0], call.args[1], call.literal(1)), call.args[2]
    return f"try_to_timestamp(concat({text}, ' ', {zone}), concat({pattern}, ' VV'))"
