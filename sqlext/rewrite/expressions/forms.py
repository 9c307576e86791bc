"""Render literals, predicates, constructors and casts that Spark writes differently."""

from __future__ import annotations

import re

from sqlext import quoting
from sqlext.analysis.functions.rendering import as_branch
from sqlext.dialect.ast import expressions as e
from sqlext.rewrite.expressions import casts
from sqlext.rewrite.expressions.protocols import Texts
from sqlext.rewrite.expressions.shared_operands import bind
from sqlext.types import LogicalType

#: Flink's type names that Spark does not read.
_FLINK_TYPE = re.compile(
    r"\b(ROW|MULTISET|BYTES|VARBINARY|RAW|NULL|WITH|WITHOUT|PRECISION)\b"
    r"|\b(TIMESTAMP|TIMESTAMP_LTZ|BINARY)\s*\(|\b(VARCHAR|CHAR)\b(?!\s*\()|\bTIME\s*\(\s*[7-9]",
    re.IGNORECASE,
)
_MOST_DIGITS = 6
#: A decimal whose first digit counts in Flink, and not in Spark.
_ZERO_FIRST = re.compile(r"0[0-9]*\.[0-9]*")
#: A character that no pattern holds, to switch an escape off: Spark's LIKE always has one.
_NO_ESCAPE = "'\\u0001'"


def literal(node: e.Literal, texts: Texts) -> str | None:
    """Return a literal that Spark reads otherwise: ``'\\'``, ``U&'..'``, ``_UTF8'..'``, timestamps without zone."""
    text = node.span.text
    if node.kind == "STRING":
        foreign = text.startswith("_") or text[:2].upper() == "U&"
        if foreign or (texts.mode == "flink" and not quoting.is_plain_string(text)):
            return quoting.string(node.value)
        return None
    if node.kind == "NUMBER" and texts.mode == "flink" and _ZERO_FIRST.fullmatch(text):
        type_ = texts.type_of(node)
        return f"CAST({text} AS {type_.spark()})" if type_ is not None else None
    if texts.mode == "flink" and node.kind == "TIMESTAMP":
        return f"TIMESTAMP_NTZ {quoting.string(node.value)}"
    if texts.mode == "flink" and node.kind == "TIMESTAMP_LTZ":
        return f"TIMESTAMP {quoting.string(node.value)}"
    if texts.mode == "flink" and node.kind == "TIME":
        # Spark's is TIME(6) whatever is written, and compares no two TIMEs of different precisions.
        digits = min(len(node.value.strip().partition(".")[2]), _MOST_DIGITS)
        return f"CAST(TIME {quoting.string(node.value)} AS TIME({digits}))"
    return None


def interval(node: e.Interval, texts: Texts) -> str | None:
    """Return an interval in units that Spark has; a precision (``DAY(3)``) is left out."""
    factor, unit = {"QUARTER": (3, "MONTH"), "WEEK": (7, "DAY")}.get(node.unit, (1, node.unit))
    if factor > 1 and node.value.lstrip("-").isdigit():
        return f"INTERVAL '{int(node.value) * factor}' {unit}"
    if "(" in node.span.text:
        return f"INTERVAL {quoting.string(node.value)} {node.unit}" + (f" TO {node.to_unit}" if node.to_unit else "")
    return None


def cast(node: e.Cast, texts: Texts) -> str | None:
    """Return a cast; in spark mode only the type's name may need another word."""
    if texts.mode == "flink":
        type_ = texts.type_of(node.operand)
        return bind((texts.text(node.operand),), lambda parts: casts.cast(parts[0], type_, node.type, node.try_))
    if not _FLINK_TYPE.search(node.type_span.text):
        return None
    operand = texts.text(node.operand)
    return f"{'TRY_CAST' if node.try_ else 'CAST'}({operand} AS {node.type.spark()})"


def between(node: e.Between, texts: Texts) -> str | None:
    """Return BETWEEN; Spark has no SYMMETRIC and no ASYMMETRIC."""
    if not node.symmetric and " ASYMMETRIC " not in f" {' '.join(node.span.text.upper().split())} ":
        return None
    operand, low, high = (texts.atom(x) for x in (node.operand, node.low, node.high))
    if not node.symmetric:
        return f"({operand} {'NOT ' if node.negated else ''}BETWEEN {low} AND {high})"
    # By comparisons, so that a NULL bound counts as unknown (least and greatest skip NULLs).
    test = bind((operand, low, high), lambda p: "({0} BETWEEN {1} AND {2} OR {0} BETWEEN {2} AND {1})".format(*p))
    return f"(NOT {test})" if node.negated else test


def in_list(node: e.InList, texts: Texts) -> str | None:
    """Return IN over rows field by field: Spark compares structs as wholes, a NULL inside counts as a value."""
    operand = node.operand
    if not isinstance(operand, e.RowValue) or not all(isinstance(i, e.RowValue) for i in node.items):
        return None
    rows = [equal_rows(operand, item, texts) for item in node.items if isinstance(item, e.RowValue)]
    test = f"({' OR '.join(rows)})"
    return f"(NOT {test})" if node.negated else test


def equal_rows(left: e.RowValue, right: e.RowValue, texts: Texts) -> str:
    """Return whether two rows are equal, field by field: NULL where a field leaves it open."""
    return _all_fields("=", left, right, texts)


def unequal_rows(left: e.RowValue, right: e.RowValue, texts: Texts) -> str:
    """Return whether two rows differ: to ``<>``, and not to ``=``, a NULL is a value (measured on Flink 2.3)."""
    return f"(NOT {_all_fields('<=>', left, right, texts)})"


def _all_fields(operator: str, left: e.RowValue, right: e.RowValue, texts: Texts) -> str:
    pairs = zip(left.items, right.items, strict=False)
    return f"({' AND '.join(f'{texts.atom(a)} {operator} {texts.atom(b)}' for a, b in pairs)})"


def like(node: e.Like, texts: Texts) -> str | None:
    """Return LIKE without Spark's escape character, and SIMILAR TO as a regular expression."""
    if node.op == "SIMILAR TO":
        return _similar(node, texts)
    if node.op != "LIKE" or texts.mode != "flink" or node.escape is not None:
        return None
    if isinstance(node.pattern, e.Literal) and "\\" not in node.pattern.value:
        return None
    negation = "NOT " if node.negated else ""
    return f"({texts.atom(node.operand)} {negation}LIKE {texts.atom(node.pattern)} ESCAPE {_NO_ESCAPE})"


def _similar(node: e.Like, texts: Texts) -> str:
    escape = node.escape.value if isinstance(node.escape, e.Literal) else ""
    if isinstance(node.pattern, e.Literal):
        pattern = quoting.string(f"^(?s:{similar_to_regex(node.pattern.value, escape)})$")
    else:
        body = f"replace(replace({texts.text(node.pattern)}, '_', '.'), '%', '.*')"
        pattern = f"concat('^(?s:', {body}, ')$')"
    test = f"({texts.atom(node.operand)} RLIKE {pattern})"
    return f"(NOT {test})" if node.negated else test


#: The named sets of characters of SIMILAR TO, which stand inside [...], and Java's for them.
_CLASSES = {
    "ALPHA": r"\p{Alpha}",
    "UPPER": r"\p{Upper}",
    "LOWER": r"\p{Lower}",
    "DIGIT": r"\d",
    "ALNUM": r"\p{Alnum}",
    "SPACE": " ",
    "WHITESPACE": r"\s",
}
_CLASS = re.compile(rf"\[:({'|'.join(_CLASSES)}):\]", re.IGNORECASE)


def similar_to_regex(pattern: str, escape: str = "") -> str:
    """Return a SIMILAR TO pattern as a Java regular expression; ``.`` is any character in Flink's too."""
    result, at, in_set = "", 0, False
    while at < len(pattern):
        c = pattern[at]
        if escape and c == escape and at + 1 < len(pattern):
            at += 1
            result += re.escape(pattern[at])
        elif in_set and (named := _CLASS.match(pattern, at)):
            result += _CLASSES[named[1].upper()]
            at = named.end() - 1
        # Inside [...] both are themselves.
        elif c in "%_" and not in_set:
            result += ".*" if c == "%" else "."
        else:
            in_set = c == "[" or (in_set and c != "]")
            result += c
        at += 1
    return result


def is_test(node: e.IsTest, texts: Texts) -> str | None:
    """Return IS [NOT] JSON [OBJECT | ARRAY | SCALAR]; NULL is no JSON (measured on Flink 2.3)."""
    if not node.test.startswith("JSON"):
        return None
    operand = texts.text(node.operand)
    document = f"try_parse_json({operand})"
    kind = node.test.removeprefix("JSON").strip()
    schema = f"schema_of_variant({document})"
    test = {
        "OBJECT": f"{schema} LIKE 'OBJECT%'",
        "ARRAY": f"{schema} LIKE 'ARRAY%'",
        "SCALAR": f"{schema} NOT LIKE 'OBJECT%' AND {schema} NOT LIKE 'ARRAY%'",
    }.get(kind, f"{document} IS NOT NULL")
    if node.negated:
        return f"(NOT coalesce({test}, false))"
    return f"coalesce({test}, false)"


def row(node: e.RowValue, texts: Texts) -> str | None:
    """Return ROW(a, b) as a struct; in flink mode with Flink's field names."""
    items = [texts.text(item) for item in node.items]
    if texts.mode == "flink":
        named = (f"'EXPR${i}', {item}" for i, item in enumerate(items))
        return f"named_struct({', '.join(named)})"
    if node.span.text[:3].upper() != "ROW":
        return None
    # Spark names a field by its column, all else by its place. A call may be a column of an operator of ours there.
    named = (f"{text} AS col{n}" if isinstance(node.items[n - 1], e.Call) else text for n, text in enumerate(items, 1))
    return f"struct({', '.join(named)})"


def array(node: e.ArrayValue, texts: Texts) -> str:
    """Return ARRAY[a, b] as a call."""
    return f"array({', '.join(_branch(item, _part(node, 0, texts), texts) for item in node.items)})"


def map_(node: e.MapValue, texts: Texts) -> str:
    """Return MAP[k, v, ...] as a call; of two equal literal keys the last one counts."""
    pairs: dict[str, str] = {}
    for key, value in zip(node.items[::2], node.items[1::2], strict=True):
        pairs[_branch(key, _part(node, 0, texts), texts)] = _branch(value, _part(node, 1, texts), texts)
    return f"map({', '.join(f'{k}, {v}' for k, v in pairs.items())})"


def case(node: e.Case, texts: Texts) -> str | None:
    """Return CASE with results of its own type, None where its own text will do."""
    result = texts.type_of(node)
    results = [when.result for when in node.whens] + ([node.otherwise] if node.otherwise is not None else [])
    made = [_branch(r, result, texts) for r in results]
    if made == [texts.text(r) for r in results]:
        return None
    whens = (f"WHEN {texts.text(w.condition)} THEN {text}" for w, text in zip(node.whens, made, strict=False))
    operand = f"{texts.text(node.operand)} " if node.operand is not None else ""
    otherwise = f" ELSE {made[-1]}" if node.otherwise is not None else ""
    return f"CASE {operand}{' '.join(whens)}{otherwise} END"


def _branch(node: e.Expr, to: LogicalType | None, texts: Texts) -> str:
    """Return one of several values that become one of a type."""
    return as_branch(texts.text(node), texts.type_of(node), to) if texts.mode == "flink" else texts.text(node)


def _part(node: e.Expr, index: int, texts: Texts) -> LogicalType | None:
    """Return the type of an array's elements, of a map's keys (0) or of its values (1)."""
    type_ = texts.type_of(node)
    return type_.children[index] if type_ is not None and index < len(type_.children) else None


def subscript(node: e.Subscript, texts: Texts) -> str | None:
    """Return ``x[i]``: arrays count from 1, and an index beyond the end is NULL."""
    type_ = texts.type_of(node.operand)
    index = node.index
    if type_ is not None and type_.root == "VARIANT" and isinstance(index, e.Literal):
        path = f"$['{index.value}']" if index.kind == "STRING" else f"$[{index.value}]"
        return f"try_variant_get({texts.text(node.operand)}, {quoting.string(path)}, 'variant')"
    if type_ is not None and type_.root != "ARRAY":
        return None
    # get() counts from 0 and gives NULL outside; in ANSI mode x[i] fails there.
    if isinstance(index, e.Literal) and index.value.isdigit() and index.kind == "NUMBER":
        return f"get({texts.text(node.operand)}, {int(index.value) - 1})"
    if type_ is None:
        return None
    return f"get({texts.text(node.operand)}, {texts.atom(index)} - 1)"


def over(node: e.OverSpec, texts: Texts) -> str | None:
    """Return a window that had a name, written out; any other one's own text will do."""
    if all(node.span.start <= c.span.start and c.span.end <= node.span.end for c in node.children()):
        return None
    clauses = (("PARTITION BY ", node.partition_by), ("ORDER BY ", node.order_by), ("", (node.frame,)))
    parts = [word + ", ".join(texts.text(n) for n in items if n is not None) for word, items in clauses if any(items)]
    return f"OVER ({' '.join(parts)})"
