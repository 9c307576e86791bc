"""Arrays, maps and rows as text, as Flink casts them: ``[1, NULL]``, ``{a=1}``, ``(1, x)``."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.quoting import identifier
from sqlext.types import LogicalType

STRUCTURED = frozenset({"ARRAY", "MAP", "MULTISET", "ROW"})

_Scalar = Callable[[str, LogicalType], str]


def structured_text(text: str, type_: LogicalType, scalar: _Scalar, depth: int = 0) -> str:
    """Return a value as text.

    Args:
        text: the value as Spark SQL.
        type_: its type.
        scalar: renders a value that is not structured.
        depth: how many lambdas are around, so that their parameters have names of their own.
    """
    if type_.root not in STRUCTURED:
        return scalar(text, type_)
    return _KINDS[type_.root](text, type_, scalar, depth)


def _part(text: str, type_: LogicalType, scalar: _Scalar, depth: int) -> str:
    part = structured_text(text, type_, scalar, depth)
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


_KINDS = {"ARRAY": _array, "MAP": _map, "MULTISET": _map, "ROW": _row}
