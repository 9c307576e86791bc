"""Convert stored values to values of columns, and back to text, in Spark SQL.

An *instant* is a Spark TIMESTAMP; a *wall clock* is a TIMESTAMP_NTZ. A rowtime of Flink's type TIMESTAMP(p)
is carried as the instant that its wall clock is in UTC (ARCHITECTURE.md), whatever the session zone is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlext.quoting import identifier, string
from sqlext.types import LogicalType

_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def wall_to_instant(expression: str, zone: str) -> str:
    """Return the instant at which the clocks of UTC show this wall clock.

    A cast does it where the session zone is UTC. Elsewhere it would go through that zone and lose the hours of
    its DST gaps; the difference to the epoch is exact (0.1 s per million rows dearer, measured).
    """
    if zone == "UTC":
        return f"CAST({expression} AS TIMESTAMP)"
    seconds = f"CAST(CAST({expression} - {_EPOCH} AS INTERVAL SECOND) AS DECIMAL(20, 6))"
    return f"timestamp_seconds({seconds})"


def instant_to_wall(expression: str, zone: str) -> str:
    """Return what the clocks of UTC show at this instant."""
    if zone == "UTC":
        return f"CAST({expression} AS TIMESTAMP_NTZ)"
    return f"timestampadd(MICROSECOND, unix_micros({expression}), {_EPOCH})"


def output_type(declared: LogicalType, instant: bool) -> str:
    """Return the Spark type that comes out of a source; ``instant`` for a TIMESTAMP(p) rowtime."""
    return "TIMESTAMP" if instant else declared.spark()


Leaf = Callable[[LogicalType, str], str]
"""Given a type without parts and an expression, the converted expression (the same one if nothing is to do)."""


def convert(declared: LogicalType, expression: str, leaf: Leaf) -> str:
    """Return ``expression`` with ``leaf`` applied to every value in it; the expression itself if nothing changes."""
    return _NESTED.get(declared.root, _convert_leaf)(declared, expression, leaf)


def _convert_leaf(declared: LogicalType, expression: str, leaf: Leaf) -> str:
    return leaf(declared, expression)


def _convert_array(declared: LogicalType, expression: str, leaf: Leaf) -> str:
    inner = convert(declared.children[0], "e", leaf)
    return expression if inner == "e" else f"transform({expression}, e -> {inner})"


def _convert_map(declared: LogicalType, expression: str, leaf: Leaf) -> str:
    key = convert(declared.children[0], "k", leaf)
    value = convert(declared.children[1], "v", leaf) if len(declared.children) > 1 else "v"
    result = expression if value == "v" else f"transform_values({expression}, (k, v) -> {value})"
    return result if key == "k" else f"transform_keys({result}, (k, v) -> {key})"


def _convert_row(declared: LogicalType, expression: str, leaf: Leaf) -> str:
    fields = [(f.name, f"{expression}.{identifier(f.name)}", f.type) for f in declared.fields]
    converted = [(name, before, convert(t, before, leaf)) for name, before, t in fields]
    if all(before == after for _, before, after in converted):
        return expression
    parts = ", ".join(f"{string(name)}, {after}" for name, _, after in converted)
    # ``named_struct`` alone would make a struct of NULLs where there is none.
    return f"IF({expression} IS NULL, NULL, named_struct({parts}))"


Check = Callable[[LogicalType, str], str | None]
"""Given a type without parts and an expression, SQL that holds for a value that is wrong; None: none can be."""


def any_wrong(declared: LogicalType, expression: str, leaf: Check) -> str | None:
    """Return SQL that holds where a value in ``expression`` is wrong; None if none can be."""
    if declared.root in ("ARRAY", "MULTISET"):
        values = expression if declared.root == "ARRAY" else f"map_keys({expression})"
        return _exists(values, any_wrong(declared.children[0], "e", leaf))
    if declared.root == "MAP":
        parts = zip(("map_keys", "map_values"), declared.children, strict=True)
        return either(_exists(f"{part}({expression})", any_wrong(t, "e", leaf)) for part, t in parts)
    if declared.root == "ROW":
        fields = ((f"{expression}.{identifier(f.name)}", f.type) for f in declared.fields)
        return either(any_wrong(t, field, leaf) for field, t in fields)
    return leaf(declared, expression)


def either(conditions: Iterable[str | None]) -> str | None:
    """Return SQL that holds where one of the conditions does; None if there is none."""
    there = [c for c in conditions if c is not None]
    return f"({' OR '.join(there)})" if there else None


def _exists(values: str, wrong: str | None) -> str | None:
    return None if wrong is None else f"exists({values}, e -> {wrong})"


_NESTED: dict[str, Callable[[LogicalType, str, Leaf], str]] = {
    "ARRAY": _convert_array,
    "MAP": _convert_map,
    "MULTISET": _convert_map,
    "ROW": _convert_row,
}


def stored_type(declared: LogicalType, leaf: Callable[[LogicalType], str]) -> str:
    """Return the Spark type of a stored value whose leaves are stored as ``leaf`` says."""
    if declared.root == "ARRAY":
        return f"ARRAY<{stored_type(declared.children[0], leaf)}>"
    if declared.root == "MAP":
        key, value = (stored_type(c, leaf) for c in declared.children)
        return f"MAP<{key}, {value}>"
    if declared.root == "MULTISET":
        return f"MAP<{stored_type(declared.children[0], leaf)}, INT>"
    if declared.root == "ROW":
        fields = ", ".join(f"{identifier(f.name)}: {stored_type(f.type, leaf)}" for f in declared.fields)
        return f"STRUCT<{fields}>"
    return leaf(declared)


def time_as_text(declared: LogicalType) -> str:
    """Return the Spark type of a leaf where TIME is stored as text: Delta 4.4 holds no TIME."""
    return "STRING" if declared.root == "TIME" else declared.spark()


def try_time_from_text(declared: LogicalType, expression: str) -> str:
    """Return the same; NULL for a text that is no time."""
    return f"try_cast({expression} AS {declared.spark()})" if declared.root == "TIME" else expression


def time_from_text(declared: LogicalType, expression: str) -> str:
    """Return the value of a leaf that is stored as ``time_as_text`` says."""
    return f"CAST({expression} AS {declared.spark()})" if declared.root == "TIME" else expression


def text_to_value(declared: LogicalType, text: str, zone: str, *, instant: bool = False, lenient: bool = False) -> str:
    """Return the value that a text stands for, by the rules of Flink's csv format.

    ``lenient`` gives NULL instead of a failure for a text that stands for nothing.
    """
    cast = "try_cast" if lenient else "CAST"
    if instant or declared.root == "TIMESTAMP_LTZ":
        # Text without a zone is UTC: never that of the session.
        plain = f"{cast}({text} AS TIMESTAMP)"
        return plain if zone == "UTC" else f"coalesce(try_cast(concat(trim({text}), 'Z') AS TIMESTAMP), {plain})"
    if declared.is_text:
        return text
    if declared.root == "BOOLEAN":
        # As Flink, by Java's Boolean.valueOf: any other text is false, none fails.
        return f"(lower(trim({text})) = 'true')"
    if declared.root in ("BINARY", "VARBINARY"):
        return f"try_to_binary({text}, 'base64')" if lenient else f"unbase64({text})"
    return f"{cast}({text} AS {declared.spark()})"


def as_text(declared: LogicalType, expression: str, zone: str, *, iso: bool = False) -> str:
    """Return the text Flink's formats write for a time value; other values as they are.

    ``2024-01-01 08:00:30.5`` (fraction without trailing zeros), with Z and in UTC for TIMESTAMP_LTZ; T between
    date and time where ``iso``.
    """
    if declared.root == "TIMESTAMP":
        return _separated(f"CAST({expression} AS STRING)", iso)
    if declared.root == "TIMESTAMP_LTZ":
        text = f"CAST({instant_to_wall(expression, zone)} AS STRING)"
        return f"concat({_separated(text, iso)}, 'Z')"
    if declared.root == "TIME":
        return f"CAST({expression} AS STRING)"
    return expression


def _separated(text: str, iso: bool) -> str:
    return f"replace({text}, ' ', 'T')" if iso else text
