"""Render casts of arrays, maps, multisets and rows: each part is cast as it would be alone.

Measured on Flink 2.3: of keys that a cast makes equal the last one stays. TRY_CAST is NULL as a whole if a part fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlext import quoting
from sqlext.quoting import identifier
from sqlext.types import LogicalType

#: Renders the cast of a part; None where Spark's own cast has the same meaning.
Special = Callable[[str, LogicalType, LogicalType], str | None]
#: Renders Spark's own cast of a part.
Plain = Callable[[str, LogicalType], str]

CONSTRUCTED = frozenset({"ARRAY", "MAP", "MULTISET", "ROW"})
_COUNT = LogicalType("INT", nullable=False)


def parts(from_: LogicalType, to: LogicalType) -> Iterator[tuple[LogicalType, LogicalType]]:
    """Yield the types of the parts of two constructed types; none if they are of different kinds."""
    if from_.root == to.root in CONSTRUCTED:
        yield from zip(_part_types(from_), _part_types(to), strict=False)


def cast_parts(text: str, from_: LogicalType, to: LogicalType, special: Special, plain: Plain) -> str | None:
    """Return a cast part by part, or None where Spark's own cast of the whole has the same meaning.

    Args:
        text: the operand as Spark SQL.
        from_: its type.
        to: the target, a constructed type.
        special: casts a part.
        plain: casts a part for which ``special`` says None.
    """
    if from_.root != to.root or len(_part_types(from_)) != len(_part_types(to)):
        return None
    return _CASTS[to.root](text, from_, to, special, plain)


def any_part(text: str, from_: LogicalType, to: LogicalType, test: Special) -> str | None:
    """Return a condition that is true if a test is true of any part, None if it is of no part.

    Args:
        text: the operand as Spark SQL.
        from_: its type.
        to: the target of its cast.
        test: makes the condition for a part that is not constructed.
    """
    if from_.root != to.root or to.root not in CONSTRUCTED:
        return test(text, from_, to)
    pairs = list(parts(from_, to))
    if to.root == "ROW":
        fields = zip(_fields(text, from_), pairs, strict=False)
        found = [any_part(field, *pair, test) for field, pair in fields]
    else:
        lists = [text] if to.root == "ARRAY" else [f"map_keys({text})", f"map_values({text})"]
        inner = [any_part("part", *pair, test) for pair in pairs]
        found = [f"exists({of}, part -> {i})" if i else None for of, i in zip(lists, inner, strict=True)]
    conditions = [c for c in found if c is not None]
    return f"({' OR '.join(conditions)})" if conditions else None


def _part_types(type_: LogicalType) -> tuple[LogicalType, ...]:
    if type_.root == "ROW":
        return tuple(f.type for f in type_.fields)
    return (*type_.children, _COUNT) if type_.root == "MULTISET" else type_.children


def _fields(text: str, type_: LogicalType) -> list[str]:
    return [f"({text}).{identifier(f.name)}" for f in type_.fields]


def _cast_part(text: str, from_: LogicalType, to: LogicalType, special: Special, plain: Plain) -> str:
    made = special(text, from_, to)
    if made is not None:
        return made
    return text if from_.spark() == to.spark() else plain(text, to)


def _array(text: str, from_: LogicalType, to: LogicalType, special: Special, plain: Plain) -> str | None:
    made = special("element", from_.children[0], to.children[0])
    return f"transform({text}, element -> {made})" if made is not None else None


def _map(text: str, from_: LogicalType, to: LogicalType, special: Special, plain: Plain) -> str | None:
    (key, to_key), (value, to_value) = parts(from_, to)
    if special("key", key, to_key) is not None:
        return _map_of_new_keys(text, from_, to, special, plain)
    made = special("value", value, to_value)
    if made is None:
        return None
    if key.spark() != to_key.spark():
        text = plain(text, LogicalType("MAP", children=(to_key, value)))
    return f"transform_values({text}, (key, value) -> {made})"


def _map_of_new_keys(text: str, from_: LogicalType, to: LogicalType, special: Special, plain: Plain) -> str:
    """Spark's own functions refuse keys that become equal; the entries are put one over the other instead."""
    keys, values = parts(from_, to)
    key = _cast_part("entry.key", *keys, special, plain)
    value = _cast_part("entry.value", *values, special, plain)
    entries = f"transform(map_entries({text}), entry -> named_struct('key', {key}, 'value', {value}))"
    others = "map_filter(made, (key, value) -> key <> entry.key)"
    put = f"(made, entry) -> map_concat({others}, map(entry.key, entry.value))"
    return f"aggregate({entries}, CAST(map() AS {to.spark()}), {put})"


def _row(text: str, from_: LogicalType, to: LogicalType, special: Special, plain: Plain) -> str | None:
    fields = [(field, *types) for field, types in zip(_fields(text, from_), parts(from_, to), strict=True)]
    if all(special(*field) is None for field in fields):
        return None
    names = [quoting.string(f.name) for f in to.fields]
    items = [f"{name}, {_cast_part(*field, special, plain)}" for name, field in zip(names, fields, strict=True)]
    made = f"named_struct({', '.join(items)})"
    return f"CASE WHEN {text} IS NOT NULL THEN {made} END" if from_.nullable else made


_CASTS = {"ARRAY": _array, "MAP": _map, "MULTISET": _map, "ROW": _row}
