"""Render casts with Flink's meaning, for a session with ``spark.sql.ansi.enabled``.

Measured on Flink 2.3: integers wrap around, DOUBLE to an integer saturates, DECIMAL overflow is NULL. A BOOLEAN reads
TRUE, and a TIMESTAMP(3) always shows three digits of its fraction. Arrays, maps and rows read ``[1, NULL]``, ``{a=1}``
and ``(1, x)``; between constructed types the parts are cast by the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlext.analysis.functions.instants import wall_clock
from sqlext.analysis.functions.rendering import wrapped
from sqlext.quoting import identifier
from sqlext.rewrite.expressions.constructed_casts import CONSTRUCTED, any_part, cast_parts, parts
from sqlext.types import BIGINT, INTEGERS, UNBOUNDED, LogicalType

_LIMITS = {
    "INT": ("-2147483648D", "2147483647D"),
    "BIGINT": ("-9.223372036854775808E18D", "9.223372036854775807E18D"),
}
_Scalar = Callable[[str, LogicalType], str]


def cast(text: str, from_: LogicalType | None, to: LogicalType, try_: bool = False) -> str:
    """Return ``CAST(text AS to)`` with Flink's meaning.

    Args:
        text: the operand as Spark SQL.
        from_: its type, None if unknown (then Spark's cast is used).
        to: the target.
        try_: TRY_CAST: NULL instead of a failure.
    """
    special = _special(text, from_, to, try_) if from_ is not None else None
    made = special if special is not None else plain(text, to, try_)
    failed = any_part(text, from_, to, _failed) if try_ and from_ is not None and to.root in CONSTRUCTED else None
    return f"CASE WHEN {failed} THEN NULL ELSE {made} END" if failed is not None else made


def narrows(from_: LogicalType, to: LogicalType) -> bool:
    """Whether a value may lose digits or characters although Spark's type is the same on both sides."""
    if to.root == "CHAR":
        return from_.precision != to.precision or from_.root != "CHAR"
    if to.root in ("BINARY", "VARBINARY"):
        return _is_limited(to) and from_.precision != to.precision
    if to.root == "VARCHAR":
        return _is_limited(to) and not (from_.is_text and _length(from_) <= _length(to))
    if to.root in CONSTRUCTED:
        return any(narrows(*pair) for pair in parts(from_, to))
    if to.is_timestamp:
        return min(6 if to.precision is None else to.precision, 6) < min(from_.precision or 6, 6)
    return False


def plain(text: str, to: LogicalType, try_: bool = False) -> str:
    """Return Spark's own cast."""
    return f"{'TRY_CAST' if try_ else 'CAST'}({text} AS {to.spark()})"


def _special(text: str, from_: LogicalType, to: LogicalType, try_: bool) -> str | None:
    rule = _RULES.get(_family(to))
    return rule(text, from_, to, try_) if rule else None


def _to_constructed(text: str, from_: LogicalType, to: LogicalType, try_: bool) -> str | None:
    def special(part: str, part_from: LogicalType, part_to: LogicalType) -> str | None:
        if part_from.spark() == part_to.spark() and not narrows(part_from, part_to):
            return None
        made = _special(part, part_from, part_to, try_)
        return None if made == plain(part, part_to, try_) else made

    return cast_parts(text, from_, to, special, lambda part, part_to: plain(part, part_to, try_))


def _failed(text: str, from_: LogicalType, to: LogicalType) -> str | None:
    """Return the condition that a TRY_CAST is NULL because it failed; only of texts it can."""
    if not from_.is_text or to.is_text:
        return None
    return f"({text} IS NOT NULL AND {cast(text, from_, to, try_=True)} IS NULL)"


def _family(type_: LogicalType) -> str:
    return "INTEGER" if type_.root in INTEGERS else type_.root


def _to_integer(text: str, from_: LogicalType, to: LogicalType, try_: bool) -> str | None:
    if from_.is_integer:
        if INTEGERS.index(from_.root) <= INTEGERS.index(to.root):
            return None
        return wrapped(f"CAST({text} AS BIGINT)", to)
    if from_.root == "DECIMAL":
        whole = (from_.precision or 10) - (from_.scale or 0)
        if whole < _digits(to):
            return None
        return wrapped(f"CAST({text} AS BIGINT)" if whole < _digits(BIGINT) else _wrapped_decimal(text), to)
    if from_.is_approximate:
        if to.root in ("TINYINT", "SMALLINT"):
            # As in Java, through INT: saturated there, wrapped around from there.
            return wrapped(f"CAST({_saturated(text, 'INT')} AS BIGINT)", to)
        return _saturated(text, to.root)
    if from_.is_text:
        # '1.5' is 1 in Flink and an error in Spark.
        return plain(f"regexp_replace({text}, '[.][0-9]*(?= *$)', '')", to, try_)
    return None


def _wrapped_decimal(text: str) -> str:
    """Return a DECIMAL as BIGINT: its fraction is cut off, and what is too large wraps around."""
    rest = f"pmod({text} - {text} % 1, 18446744073709551616)"
    above = f"CASE WHEN {rest} < 9223372036854775808 THEN {rest} ELSE {rest} - 18446744073709551616 END"
    return f"coalesce(TRY_CAST({text} AS BIGINT), CAST({above} AS BIGINT))"


def _saturated(text: str, root: str) -> str:
    low, high = _LIMITS[root]
    return (
        f"CASE WHEN isnan({text}) THEN CAST(0 AS {root}) WHEN {text} >= {high} THEN CAST({high} AS {root}) "
        f"WHEN {text} <= {low} THEN CAST({low} AS {root}) ELSE CAST({text} AS {root}) END"
    )


def _digits(type_: LogicalType) -> int:
    return {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}[type_.root]


def _to_decimal(text: str, from_: LogicalType, to: LogicalType, try_: bool) -> str | None:
    """Numbers too large become NULL; TRY_CAST does that, and cannot hide anything else here."""
    if not from_.is_numeric or _fits(from_, to):
        return None
    return plain(text, to, try_=True)


def _fits(from_: LogicalType, to: LogicalType) -> bool:
    room = (to.precision or 10) - (to.scale or 0)
    if from_.is_integer:
        return _digits(from_) <= room
    return from_.root == "DECIMAL" and (from_.precision or 10) - (from_.scale or 0) < room


def _to_text(text: str, from_: LogicalType, to: LogicalType, try_: bool) -> str | None:
    return _limited(_as_text(text, from_, to), to)


def _as_text(text: str, from_: LogicalType, to: LogicalType) -> str:
    digits = from_.precision or 0
    if from_.is_timestamp and digits:
        # The text is laid over a pattern, so that zeros remain behind it.
        zeros = "0000-00-00 00:00:00." + "0" * min(digits, 6)
        return f"overlay('{zeros}' PLACING CAST({text} AS STRING) FROM 1)"
    if from_.is_timestamp:
        return f"left(CAST({text} AS STRING), 19)"
    if from_.root == "BOOLEAN":
        return f"upper(CAST({text} AS STRING))"
    if from_.is_text:
        return text
    if from_.root in ("BINARY", "VARBINARY"):
        # What is no UTF-8 becomes U+FFFD, as in Java.
        return f"make_valid_utf8(CAST({text} AS STRING))"
    if from_.root in _INTERVALS:
        whole = f"CAST({text} AS {from_.spark()})"
        return _INTERVALS[from_.root].format(whole)
    if from_.root in CONSTRUCTED:
        return _structured_text(text, from_, lambda part, type_: _as_text(part, type_, to))
    return f"CAST({text} AS STRING)"


#: Intervals as Flink writes them: +1 02:03:04.500 and +1-02.
_INTERVALS = {
    "INTERVAL_DAY_TIME": (
        "concat(if({0} < INTERVAL '0' SECOND, '-', '+'), CAST(extract(DAY FROM abs({0})) AS STRING), ' ', "
        "lpad(CAST(extract(HOUR FROM abs({0})) AS STRING), 2, '0'), ':', "
        "lpad(CAST(extract(MINUTE FROM abs({0})) AS STRING), 2, '0'), ':', "
        "lpad(CAST(CAST(extract(SECOND FROM abs({0})) AS DECIMAL(5, 3)) AS STRING), 6, '0'))"
    ),
    "INTERVAL_YEAR_MONTH": (
        "concat(if({0} < INTERVAL '0' MONTH, '-', '+'), CAST(extract(YEAR FROM abs({0})) AS STRING), '-', "
        "lpad(CAST(extract(MONTH FROM abs({0})) AS STRING), 2, '0'))"
    ),
}


def _length(type_: LogicalType) -> int:
    return UNBOUNDED if type_.precision is None else type_.precision


def _is_limited(to: LogicalType) -> bool:
    return to.precision is not None and to.precision != UNBOUNDED


def _limited(text: str, to: LogicalType) -> str:
    """CHAR(n) pads and cuts, VARCHAR(n) cuts."""
    if not _is_limited(to):
        return text
    return f"rpad({text}, {to.precision}, ' ')" if to.root == "CHAR" else f"left({text}, {to.precision})"


def _to_timestamp(text: str, from_: LogicalType, to: LogicalType, try_: bool) -> str | None:
    digits = 6 if to.precision is None else to.precision
    if from_.is_text and digits <= 3:
        # What is read is a wall clock; of a TIMESTAMP_LTZ it is that of the session's zone.
        clock = plain(wall_clock(text), to) if to.root == "TIMESTAMP_LTZ" else wall_clock(text)
        read = clock if try_ else plain(f"left({text}, 23)", to)
        return _cut(read, to, digits) if digits < 3 else read
    if from_.root == "TIME":
        return f"make_timestamp_ntz(DATE '1970-01-01', {text})"
    if from_.is_timestamp and digits < min(6 if from_.precision is None else from_.precision, 6):
        return _cut(plain(text, to, try_), to, digits)
    return None


def _to_bytes(text: str, from_: LogicalType, to: LogicalType, try_: bool) -> str | None:
    """BINARY(n) is padded with zeros and cut, VARBINARY(n) is cut."""
    if not _is_limited(to) or (from_.root == to.root and _length(from_) <= _length(to)):
        return None
    whole = plain(text, to, try_)
    return f"rpad({whole}, {to.precision}, X'00')" if to.root == "BINARY" else f"left({whole}, {to.precision})"


#: A date that both engines read alike.
_PLAIN_DATE = re.compile(r"'\d{4}(-\d{1,2}){0,2}( [^']*)?'")


def _to_date(text: str, from_: LogicalType, to: LogicalType, try_: bool) -> str | None:
    """Flink takes years of fewer than four digits, and no T behind the day; Spark the other way round."""
    if not from_.is_text or _PLAIN_DATE.fullmatch(text):
        return None
    padded = f"regexp_replace(concat('000', ltrim({text})), '^0{{1,3}}(?=[0-9]{{4}})', '')"
    return plain(f"translate({padded}, 'T', '?')", to, try_)


def _to_time(text: str, from_: LogicalType, to: LogicalType, try_: bool) -> str | None:
    """Spark cannot cast a timestamp to TIME, and TIME(0) of a text keeps its fraction: both are cut as texts.

    A text may be an hour alone.
    """
    digits = min(to.precision or 0, 6)
    if from_.is_text:
        clock = f"regexp_replace({text}, '^ *0*([0-9]{{1,2}}) *$', '$1:00:00')"
        return plain(f"substring_index({clock}, '.', 1)" if digits == 0 else clock, to, try_)
    if not from_.is_timestamp:
        return None
    return plain(f"substring(CAST({text} AS STRING), 12, {9 + digits if digits else 8})", to, try_)


def _cut(text: str, to: LogicalType, digits: int) -> str:
    """Cut a timestamp's fraction to fewer digits, without leaving its type."""
    if to.root == "TIMESTAMP_LTZ" and digits in (0, 3):
        return f"date_trunc('{'MILLISECOND' if digits else 'SECOND'}', {text})"
    unit = f"0.{'0' * (digits - 1)}1" if digits else "1"
    return f"({text} - make_dt_interval(0, 0, 0, extract(SECOND FROM {text}) % {unit}))"


_RULES = {
    "INTEGER": _to_integer,
    "DECIMAL": _to_decimal,
    "CHAR": _to_text,
    "VARCHAR": _to_text,
    "BINARY": _to_bytes,
    "VARBINARY": _to_bytes,
    "DATE": _to_date,
    "TIME": _to_time,
    "TIMESTAMP": _to_timestamp,
    "TIMESTAMP_LTZ": _to_timestamp,
    **dict.fromkeys(CONSTRUCTED, _to_constructed),
}


def _structured_text(text: str, type_: LogicalType, scalar: _Scalar, depth: int = 0) -> str:
    """Return a value as text.

    Args:
        text: the value as Spark SQL.
        type_: its type.
        scalar: renders a value that is not structured.
        depth: how many lambdas are around, so that their parameters have names of their own.
    """
    if type_.root not in CONSTRUCTED:
        return scalar(text, type_)
    return _STRUCTURED_TEXTS[type_.root](text, type_, scalar, depth)


def _part(text: str, type_: LogicalType, scalar: _Scalar, depth: int) -> str:
    part = _structured_text(text, type_, scalar, depth)
    return f"coalesce({part}, 'NULL')" if type_.nullable else part


def _array(text: str, type_: LogicalType, scalar: _Scalar, depth: int) -> str:
    item = f"item{depth}"
    parts = f"transform({text}, {item} -> {_part(item, type_.children[0], scalar, depth + 1)})"
    return f"concat('[', array_join({parts}, ', '), ']')"


def _map(text: str, type_: LogicalType, scalar: _Scalar, depth: int) -> str:
    item = f"item{depth}"
    # A multiset is a map from the element to its number.
    value_type = type_.children[1] if type_.root == "MAP" else LogicalType("INT", nullable=False)
    key = _part(f"{item}.key", type_.children[0], scalar, depth + 1)
    value = _part(f"{item}.value", value_type, scalar, depth + 1)
    parts = f"transform(map_entries({text}), {item} -> concat({key}, '=', {value}))"
    return f"concat('{{', array_join({parts}, ', '), '}}')"


def _row(text: str, type_: LogicalType, scalar: _Scalar, depth: int) -> str:
    parts = [_part(f"({text}).{identifier(f.name)}", f.type, scalar, depth) for f in type_.fields]
    joined = f"concat('(', concat_ws(', ', {', '.join(parts)}), ')')"
    return f"CASE WHEN {text} IS NOT NULL THEN {joined} END" if type_.nullable else joined


_STRUCTURED_TEXTS = {"ARRAY": _array, "MAP": _map, "MULTISET": _map, "ROW": _row}
