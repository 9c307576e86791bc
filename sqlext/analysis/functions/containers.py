"""List the collection functions (Flink docs: Collection Functions, Value Construction Functions)."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.analysis.functions.model import CallTexts, CallTypes, TypeRule, fn
from sqlext.analysis.functions.results import (
    element_of,
    nullable,
    part_of_map,
    same_as,
    strict,
    unknown,
)
from sqlext.analysis.types import constructors
from sqlext.analysis.types.coercion import can_implicitly_cast, least_restrictive, mixable
from sqlext.errors import SqlExtError
from sqlext.types import BOOLEAN, INT, STRING, Field, LogicalType, array, map_of, row


def _arrays_type(call: CallTypes) -> LogicalType | None:
    """The common type of several arrays."""
    result = constructors.branches_type(call.call, call.call.function, call.types, call.mode)
    return result if result and result.root == "ARRAY" else None


def _with_element_type(call: CallTypes) -> LogicalType | None:
    """An array that takes one more element: the elements' common type."""
    type_, element = call.type(0), call.type(1)
    if type_ is None or type_.root != "ARRAY":
        return None
    merged = least_restrictive((type_.children[0], element), call.mode)
    if merged is None:
        return None
    nullable_ = type_.nullable or element is None or element.nullable
    return LogicalType("ARRAY", nullable=nullable_, children=(merged,))


def _entries_type(call: CallTypes) -> LogicalType | None:
    type_ = call.type(0)
    if type_ is None or type_.root != "MAP":
        return None
    entry = row(Field("key", type_.children[0]), Field("value", type_.children[1]))
    return strict(array(entry))(call)


def _from_arrays_type(call: CallTypes) -> LogicalType | None:
    keys, values = call.type(0), call.type(1)
    if keys is None or values is None or keys.root != "ARRAY" or values.root != "ARRAY":
        return None
    return strict(map_of(keys.children[0], values.children[0]))(call)


def _union_type(call: CallTypes) -> LogicalType | None:
    result = constructors.branches_type(call.call, call.call.function, call.types, call.mode)
    return result if result and result.root == "MAP" else None


def _only_element(call: CallTypes) -> LogicalType | None:
    """The element's own type: NULL only if it or the array may be."""
    type_ = call.type(0)
    if type_ is None or not type_.children:
        return None
    return type_.children[0].as_nullable() if type_.nullable else type_.children[0]


def _of_first(rule: TypeRule) -> TypeRule:
    """Return a rule that looks at the first argument alone."""
    return lambda call: rule(CallTypes(call.call, call.types[:1], call.mode))


def _cardinality(call: CallTexts) -> str:
    """Spark's cardinality of NULL depends on a setting; a multiset counts its copies."""
    if call.root(0) == "MULTISET":
        total = f"aggregate(map_values({call.args[0]}), 0, (total, n) -> total + n)"
        return total
    return f"CASE WHEN {call.atom(0)} IS NOT NULL THEN size({call.args[0]}) END"


def _element(call: CallTexts) -> str:
    """The only element; more than one is an error, none is NULL."""
    items = call.args[0]
    return (
        f"CASE WHEN size({items}) > 1 THEN raise_error('ELEMENT: the array has more than one element') "
        f"ELSE get({items}, 0) END"
    )


def _contains(call: CallTexts) -> str:
    """True or false also where the array holds NULL, and NULL is found as a value."""
    items, needle, type_ = call.args[0], _as_element(call), call.type(1)
    if type_ is not None and type_.root == "NULL":
        return f"exists({items}, e -> e IS NULL)"
    if type_ is not None and not type_.nullable:
        # array_contains is NULL where the array holds NULL. `x IS NULL AND NULL` keeps NULL for a NULL array alone.
        return f"coalesce(array_contains({items}, {needle}), {items} IS NULL AND NULL)"
    return f"exists({items}, e -> e <=> {needle if needle != call.args[1] else call.atom(1)})"


def _of_elements(rule: TypeRule, does: str = "looks for") -> TypeRule:
    """Return a rule that first checks that the second argument can be an element of the first (TYPE-004)."""

    def checked(call: CallTypes) -> LogicalType | None:
        items, needle = call.type(0), call.type(1)
        element = items.children[0] if items is not None and items.root == "ARRAY" else None
        if call.mode == "spark" or element is None or needle is None:
            return rule(call)
        if not mixable((element, needle)) and not can_implicitly_cast(needle, element):
            message = f"{call.call.function} {does} a {needle.flink()} among elements of type {element.flink()}"
            hint = f"CAST({call.call.args[1].span.one_line} AS {element.flink()})"
            raise SqlExtError("TYPE-004", message, span=call.call.args[1].span, hint=hint)
        return rule(call)

    return checked


def _as_element(call: CallTexts) -> str:
    """Return the second argument; a ROW as the elements are, as Spark compares rows of equal names of fields alone."""
    needle, items = call.type(1), call.type(0)
    if needle is None or needle.root != "ROW" or items is None or items.root != "ARRAY":
        return call.args[1]
    return f"CAST({call.args[1]} AS {items.children[0].spark()})"


def _join(call: CallTexts) -> str:
    return f"array_join({', '.join(call.args)})"


def _slice(call: CallTexts) -> str:
    """From a start to an end, both counted from 1 or backwards from the end; a start of 0 means 1."""
    items, start = call.args[:2]
    end = call.args[2] if call.count > 2 else f"size({items})"
    first = _position(items, start)
    first = f"greatest({first}, 1)"
    last = f"least({_position(items, end)}, size({items}))" if call.count > 2 else end
    return f"CASE WHEN {call.atom(0)} IS NOT NULL THEN slice({items}, {first}, greatest({last} - {first} + 1, 0)) END"


def _position(items: str, text: str) -> str:
    if text.isdigit():
        return text
    if text.startswith("-") and text[1:].strip().isdigit():
        return f"(size({items}) + 1 - {text[1:].strip()})"
    return f"if({text} < 0, size({items}) + 1 + {text}, {text})"


def _sort(call: CallTexts) -> str:
    """ARRAY_SORT(array [, ascending [, nulls first]]): NULLs come first ascending, last descending."""
    items = call.args[0]
    ascending = call.args[1] if call.count > 1 else "true"
    plain = f"sort_array({items}, {ascending})"
    if call.count < 3:
        return plain
    nulls = f"filter({items}, e -> e IS NULL)"
    values = f"sort_array(filter({items}, e -> e IS NOT NULL), {ascending})"
    return f"if({call.args[2]}, concat({nulls}, {values}), concat({values}, {nulls}))"


def _position_of(call: CallTexts) -> str:
    return f"CAST(array_position({call.args[0]}, {_as_element(call)}) AS INT)"


def _with_one(function: str) -> Callable[[CallTexts], str]:
    return lambda call: f"{function}({call.args[0]}, {_as_element(call)})"


def _array_concat(call: CallTexts) -> str:
    return f"concat({', '.join(call.args)})"


def _map_union(call: CallTexts) -> str:
    """Of two equal keys the later map's value wins; Spark's map_concat refuses them."""
    result = call.args[0]
    for other in call.args[1:]:
        kept = f"map_filter({result}, (k, v) -> NOT map_contains_key({other}, k))"
        result = f"map_concat({kept}, {other})"
    return result


def _remove(call: CallTexts) -> str:
    """NULL can be removed too (Spark: NULL as a whole)."""
    return f"filter({call.args[0]}, e -> NOT (e <=> {_as_element(call)}))"


_longer = _of_elements(_with_element_type, "takes")

COLLECTIONS = (
    fn("CARDINALITY", "collection", strict(INT), _cardinality, spark=strict(INT)),
    fn("ELEMENT", "array/multiset", _only_element, _element),
    fn(
        "ARRAY_APPEND",
        "array, any",
        _of_elements(_with_element_type, "takes"),
        _with_one("array_append"),
        spark=unknown,
    ),
    fn(
        "ARRAY_PREPEND",
        "array, any",
        _of_elements(_with_element_type, "takes"),
        _with_one("array_prepend"),
        spark=unknown,
    ),
    fn("ARRAY_CONTAINS", "array, any", _of_elements(_of_first(strict(BOOLEAN))), _contains),
    fn("ARRAY_DISTINCT", "array", same_as(0)),
    fn("ARRAY_EXCEPT", "array, array", _arrays_type, spark=unknown),
    fn("ARRAY_INTERSECT", "array, array", _arrays_type, spark=unknown),
    fn("ARRAY_UNION", "array, array", _arrays_type, spark=unknown),
    fn("ARRAY_CONCAT", "array...", _arrays_type, _array_concat),
    fn("ARRAY_JOIN", "array, text, text?", strict(STRING), _join),
    fn("ARRAY_MAX", "array", element_of(0)),
    fn("ARRAY_MIN", "array", element_of(0)),
    fn("ARRAY_POSITION", "array, any", _of_elements(strict(INT)), _position_of, spark=unknown),
    fn("ARRAY_REMOVE", "array, any", _of_elements(_of_first(same_as(0))), _remove),
    fn("ARRAY_REVERSE", "array", same_as(0), "reverse({0})"),
    fn("ARRAY_SLICE", "array, integer, integer?", same_as(0), _slice),
    fn("ARRAY_SORT", "array, boolean?, boolean?", same_as(0), _sort),
    fn("MAP_KEYS", "map", part_of_map(0)),
    fn("MAP_VALUES", "map", part_of_map(1)),
    fn("MAP_ENTRIES", "map", _entries_type),
    fn("MAP_FROM_ARRAYS", "array, array", _from_arrays_type),
    fn("MAP_UNION", "map, map...", _union_type, _map_union),
    fn("MULTISET", "any...", unknown),
    fn("PARSE_JSON", "text, boolean?", strict(LogicalType("VARIANT")), "parse_json({0})"),
    fn("TRY_PARSE_JSON", "text, boolean?", nullable(LogicalType("VARIANT")), "try_parse_json({0})"),
)
