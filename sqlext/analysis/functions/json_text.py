"""Render values as JSON text, as Flink's JSON functions write them."""

from __future__ import annotations

import json

from sqlext import quoting
from sqlext.analysis.functions import json_numbers
from sqlext.analysis.functions.model import CallTexts
from sqlext.dialect.ast.expressions import Call
from sqlext.types import LogicalType

#: A DECIMAL of so many digits behind the point has no exponent, as small as it may be.
_PLAIN = 6
#: Results that are JSON already and are put in as they are.
_JSON_CALLS = frozenset({"JSON_OBJECT", "JSON_ARRAY", "JSON_OBJECTAGG", "JSON_ARRAYAGG", "JSON", "JSON_QUERY"})


def key(name: str) -> str:
    """Return the literal ``"name":`` of an object's key."""
    return quoting.string(json.dumps(name, ensure_ascii=False) + ":")


def quoted(text: str) -> str:
    """Return a text as a JSON string, escaped."""
    return f"substring(to_json(array({text})), 2, length(to_json(array({text}))) - 2)"


def of_node(call: CallTexts, index: int) -> str:
    """Return an argument as JSON; the result of another JSON function is put in as it is."""
    node = call.call.args[index]
    if isinstance(node, Call) and node.function in _JSON_CALLS - {"JSON_QUERY"}:
        return call.args[index]
    return of(call.args[index], call.type(index))


def of(text: str, type_: LogicalType | None) -> str:
    """Return a value as JSON, NULL for NULL."""
    root = type_.root if type_ else ""
    if type_ and root == "DECIMAL" and (type_.scale or 0) > _PLAIN:
        return json_numbers.decimal_text(f"CAST({text} AS STRING)")
    if root in ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "BOOLEAN"):
        return f"CAST({text} AS STRING)"
    if root in ("FLOAT", "DOUBLE"):
        # Jackson writes a BigDecimal of a DOUBLE without the sign of zero: 1.0E+10, where Spark's text is 1.0E10.
        number = f"regexp_replace(CAST(CAST({text} AS DOUBLE) + 0.0D AS STRING), 'E(?=[0-9])', 'E+')"
        return f"""regexp_replace({number}, '^(NaN|-?Infinity)$', '"$1"')"""
    if root == "TIMESTAMP":
        return f"""concat('"', replace(CAST({text} AS STRING), ' ', 'T'), '"')"""
    if root == "TIMESTAMP_LTZ":
        # Flink writes an instant in UTC with a Z, whatever the session's zone.
        instant = f"convert_timezone(current_timezone(), 'UTC', CAST({text} AS TIMESTAMP_NTZ))"
        return f"""concat('"', replace(CAST({instant} AS STRING), ' ', 'T'), 'Z"')"""
    if root in ("ARRAY", "MAP", "ROW"):
        return f"to_json({text}, map('ignoreNullFields', 'false'))"
    return f"CASE WHEN {text} IS NOT NULL THEN {quoted(text)} END"
