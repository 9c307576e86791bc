"""List the JSON functions (Flink docs: System (Built-in) Functions, JSON Functions).

Where the kind of a value matters, paths go to Spark's VARIANT (see ``json_paths``).
"""

from __future__ import annotations

from sqlext import quoting
from sqlext.analysis.functions import json_numbers, json_text
from sqlext.analysis.functions.json_paths import Path, parsed, variant
from sqlext.analysis.functions.model import CallTexts, CallTypes, fn
from sqlext.analysis.functions.results import never_null, nullable, strict
from sqlext.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, LogicalType, array

_RETURNS = {
    "BOOLEAN": BOOLEAN,
    "INT": INT,
    "INTEGER": INT,
    "BIGINT": BIGINT,
    "DOUBLE": DOUBLE,
    "STRING": STRING,
    "ARRAY<STRING>": array(STRING),
}


def _returning_type(call: CallTypes) -> LogicalType | None:
    """The type after RETURNING, else STRING; a type that is not known here stays unknown."""
    for clause in call.call.clauses:
        if clause.startswith("RETURNING "):
            return _RETURNS.get(clause.removeprefix("RETURNING "))
    return STRING


def _exists(call: CallTexts) -> str:
    """Whether the path leads to a value other than null.

    A text that is no JSON is an error, and so is a missing value on a strict path: by default FALSE.
    """
    path = Path(call)
    text = call.args[0]
    test = f"{path.found(text)} IS NOT NULL"
    error = _clause(call, "ON ERROR") or "FALSE"
    if path.strict or error != "FALSE":
        value = {"UNKNOWN": "NULL", "ERROR": "raise_error('JSON_EXISTS: no such path')"}.get(error, error)
        test = f"if({test}, true, {value})" if path.strict else f"if({parsed(text)} IS NULL, {value}, {test})"
    return f"CASE WHEN {call.atom(0)} IS NOT NULL THEN {test} END"


def _clause(call: CallTexts, event: str) -> str | None:
    """Return what a behaviour clause says: ``NULL``, ``ERROR``, ``DEFAULT 5`` of ``DEFAULT 5 ON EMPTY``."""
    for clause in call.call.clauses:
        if clause.endswith(f" {event}"):
            return clause.removesuffix(f" {event}").strip()
    return None


def _behaviour(call: CallTexts, event: str) -> str | None:
    """Return the SQL that a behaviour clause stands for, None for NULL."""
    clause = _clause(call, event)
    if clause is None or clause == "NULL":
        return None
    if clause == "ERROR":
        return f"raise_error({quoting.string(f'{call.call.function}: nothing at this path, or no JSON')})"
    if clause.startswith("EMPTY"):
        return "'{}'" if clause.endswith("OBJECT") else "'[]'"
    return clause.removeprefix("DEFAULT").strip()


def _value(call: CallTexts) -> str:
    """A scalar at a path.

    On a strict path (the default) a missing value, an object or an array is an error and null is empty; on a lax
    one they are all empty. A text that is no JSON is an error.
    """
    path, text = Path(call), call.args[0]
    found = path.found(text)
    scalar = f"left({found}, 1) NOT IN ('{{', '[')"
    if not path.many:
        # Spark gives the text null for a null in an array. A string is a scalar, whatever it holds.
        scalar = f"{found} <> 'null' AND {scalar} OR schema_of_variant({variant(text, path)}) = 'STRING'"
    empty, error = _behaviour(call, "ON EMPTY"), _behaviour(call, "ON ERROR")
    value = _returned(call, path.scalar(text))
    if not empty and not error:
        return _returned(call, f"CASE WHEN {scalar} THEN {path.scalar(text)} END")
    failed = variant(text, path) if path.strict and not path.many else parsed(text)
    last = error if path.strict else empty
    return (
        f"CASE WHEN {call.atom(0)} IS NULL THEN NULL WHEN {failed} IS NULL THEN {_as_returned(call, error)} "
        f"WHEN {found} IS NULL THEN {_as_returned(call, empty)} WHEN {scalar} THEN {value} "
        f"ELSE {_as_returned(call, last)} END"
    )


def _returned(call: CallTexts, text: str) -> str:
    type_ = call.result
    if type_ is None or type_.root == "VARCHAR":
        return text
    return f"try_cast({text} AS {type_.spark()})"


def _as_returned(call: CallTexts, text: str | None) -> str:
    if text is None:
        return "NULL"
    if text.startswith("raise_error"):
        return text
    return f"CAST({text} AS {call.spark_type or 'STRING'})"


def _query(call: CallTexts) -> str:
    """An object or array at a path; WITH WRAPPER puts brackets around what is found.

    Without one, a scalar is an error on a strict path (the default) and empty on a lax one.
    """
    path, text = Path(call), call.args[0]
    raw = path.json(text)
    one = f"nullif({raw}, 'null')"
    wrapper = next((c for c in call.call.clauses if c.endswith("WRAPPER")), "WITHOUT WRAPPER")
    empty, error = _behaviour(call, "ON EMPTY"), _behaviour(call, "ON ERROR")
    if wrapper.startswith("WITHOUT"):
        otherwise = error if path.strict else empty
        scalar = f" WHEN {raw} IS NOT NULL THEN {otherwise}" if otherwise else ""
        found = f"CASE WHEN left({raw}, 1) IN ('{{', '[') THEN {raw}{scalar} END"
    elif "CONDITIONAL" in wrapper.split():
        found = f"if(left({raw}, 1) IN ('{{', '['), {raw}, concat('[', {one}, ']'))"
    else:
        found = f"concat('[', {one}, ']')"
    if error:
        failed = raw if path.strict else parsed(text)
        found = f"CASE WHEN {call.atom(0)} IS NOT NULL AND {failed} IS NULL THEN {error} ELSE {found} END"
    if call.result and call.result.root == "ARRAY":
        return f"from_json({found}, 'ARRAY<STRING>')"
    return found


def _json(call: CallTexts) -> str:
    """A document as JSON functions write one: without blanks, keys in alphabetical order."""
    text = call.args[0]
    return f"coalesce({json_numbers.document(f'to_json({parsed(json_numbers.marked(text))})')}, {text})"


def _string(call: CallTexts) -> str:
    return json_text.of(call.args[0], call.type(0))


def _object(call: CallTexts) -> str:
    """An object with its keys in alphabetical order, as Flink's; NULL values stay unless ABSENT ON NULL.

    Of several values of a key the last one counts.
    """
    absent = "ABSENT ON NULL" in call.call.clauses
    entries = [(call.args[i], i + 1) for i in range(0, call.count - 1, 2)]
    if len(entries) > 1 and any(call.literal(index - 1) is None for _, index in entries):
        return _object_of_values(call, entries, absent)
    members: dict[str, str] = {}
    for key, index in entries:
        name, member = call.literal(index - 1) or key, _member(call, key, index, absent)
        # A value that is left out leaves the one before it.
        members[name] = f"coalesce({member}, {members[name]})" if absent and name in members else member
    ordered = [members[name] for name in sorted(members)]
    return f"concat('{{', concat_ws(',', {', '.join(ordered)}), '}}')" if ordered else "'{}'"


def _object_of_values(call: CallTexts, entries: list[tuple[str, int]], absent: bool) -> str:
    """An object whose keys are known when it is made."""
    members = ", ".join(f"named_struct('k', {key}, 'm', {_member(call, key, index, absent)})" for key, index in entries)
    there = f"filter(array({members}), x -> x.m IS NOT NULL)"
    # Of equal keys the last one stays.
    last = f"filter({there}, (x, i) -> NOT exists(slice({there}, i + 2, {len(entries)}), y -> y.k = x.k))"
    return f"concat('{{', array_join(transform(array_sort({last}), x -> x.m), ','), '}}')"


def _member(call: CallTexts, key: str, index: int, absent: bool) -> str:
    value = json_text.of_node(call, index)
    literal = call.literal(index - 1)
    name = json_text.key(literal) if literal is not None else f"concat({json_text.quoted(key)}, ':')"
    if absent:
        return f"concat({name}, {value})"
    return f"concat({name}, coalesce({value}, 'null'))"


def _array(call: CallTexts) -> str:
    """An array; NULL elements are left out unless NULL ON NULL."""
    keep = "NULL ON NULL" in call.call.clauses
    items = [json_text.of_node(call, i) for i in range(call.count)]
    if keep:
        items = [f"coalesce({item}, 'null')" for item in items]
    return f"concat('[', concat_ws(',', {', '.join(items)}), ']')" if items else "'[]'"


def _array_aggregate(call: CallTexts) -> str:
    keep = "NULL ON NULL" in call.call.clauses
    item = json_text.of_node(call, 0)
    # collect_list drops NULLs, which is ABSENT ON NULL, the default of an array.
    item = f"coalesce({item}, 'null')" if keep else item
    return f"concat('[', array_join({call.aggregate('collect_list', item, distinct=False)}, ','), ']')"


def _object_aggregate(call: CallTexts) -> str:
    """Keys come out in alphabetical order; collecting and sorting the members does that."""
    member = f"concat({json_text.quoted(call.args[0])}, ':', {{}})"
    value = json_text.of_node(call, 1)
    if "ABSENT ON NULL" not in call.call.clauses:
        value = f"coalesce({value}, 'null')"
    collected = call.aggregate("collect_list", member.format(value), distinct=False)
    return f"concat('{{', array_join(array_sort({collected}), ','), '}}')"


def _quote(call: CallTexts) -> str:
    """A text as a JSON string; JSON_QUOTE alone writes what is not ASCII as ``\\u00df``."""
    text = call.args[0]
    escaped = (
        f"array_join(transform(split({json_text.quoted(text)}, ''), "
        "c -> if(ascii(c) > 127, concat('\\\\u', lpad(lower(hex(ascii(c))), 4, '0')), c)), '')"
    )
    plain = f"WHEN {call.atom(0)} IS NOT NULL THEN {json_text.quoted(text)}"
    return f"CASE WHEN {call.atom(0)} RLIKE '[^\\\\x00-\\\\x7F]' THEN {escaped} {plain} END"


def _unquote(call: CallTexts) -> str:
    """The text in the quotes with its escapes read; a text without quotes as it is."""
    text = call.args[0]
    inner = f"get_json_object(concat('[', {text}, ']'), '$[0]')"
    return f"CASE WHEN {call.atom(0)} LIKE '\"%\"' THEN coalesce({inner}, {text}) ELSE {call.atom(0)} END"


# Calcite's ReturnTypes.VARCHAR_2000.
_AGGREGATED = never_null(LogicalType("VARCHAR", 2000))

JSON = (
    fn("JSON_EXISTS", "text, text", nullable(BOOLEAN), _exists),
    fn("JSON_VALUE", "text, text", _returning_type, _value),
    fn("JSON_QUERY", "text, text", _returning_type, _query),
    fn("JSON_STRING", "json", strict(STRING), _string),
    fn("JSON_QUOTE", "text", strict(STRING), _quote),
    fn("JSON_UNQUOTE", "text", strict(STRING), _unquote),
    fn("JSON_OBJECT", "json...", never_null(STRING), _object),
    fn("JSON_ARRAY", "json...", never_null(STRING), _array),
    fn("JSON", "text", strict(STRING), _json),
    fn("JSON_ARRAYAGG", "json", _AGGREGATED, _array_aggregate, kind="aggregate"),
    fn("JSON_OBJECTAGG", "json, json", _AGGREGATED, _object_aggregate, kind="aggregate"),
)
