"""Translate Spark's functions of texts to Arrow, where their other arguments are literals; ``scalars`` has others."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from sqlext.rewrite.arrow.parts import Of, is_count, is_text
from sqlext_udfs.expressions.columns import Apply, Expression

_STRING = pa.string()
_CHARACTER = r"[A-Za-z0-9_=,:;/@%~!<> \"'&-]"
#: What stands for itself in a regular expression.
_PLAIN = re.compile(f"{_CHARACTER}+")
#: Java's sets have an operator `&&`, and both have ranges.
_SET = re.compile(r"\[\^?(?:[A-Za-z0-9_=,:;/@%~!<> \"']|&(?!&))+\]")
_SAME = re.compile(rf"(?:(?:{_CHARACTER}|{_SET.pattern})[*+?]?(?![*+?])|[()|^](?![*+?]))+")
_TRIMS = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def _applied(function: str, of: Of, text: exp.Expr, *others: exp.Expr, result: pa.DataType = _STRING) -> Apply | None:
    value = of(text)
    inputs = (value, *(of(other) for other in others))
    return Apply(result, function=function, inputs=inputs) if value.type == _STRING else None


def _trimmed(of: Of, node: exp.Trim) -> Expression | None:
    """Return TRIM: of blanks alone, or of the characters of a text that is written."""
    function, characters = _TRIMS.get(node.args.get("position") or ""), node.expression or exp.Literal.string(" ")
    if function is None or not is_text(characters) or node.args.get("collation"):
        return None
    return _applied(function, of, node.this, characters)


def _of_count(function: str) -> Callable[[Of, exp.Func], Expression | None]:
    def rule(of: Of, node: exp.Func) -> Expression | None:
        count = node.args.get("times") or node.args.get("expression")
        return _applied(function, of, node.this, count) if is_count(count) else None

    return rule


def _padded(of: Of, node: exp.Pad) -> Expression | None:
    length, fill = node.expression, node.args.get("fill_pattern")
    if not (is_count(length) and is_text(fill) and len(fill.this) == 1):
        return None
    return _applied("lpad" if node.args.get("is_left") else "rpad", of, node.this, length, fill)


def _located(of: Of, node: exp.StrPosition) -> Expression | None:
    part = node.args.get("substr")
    more = any(value for name, value in node.args.items() if name not in ("this", "substr"))
    if more or not is_text(part) or not part.this:
        return None
    return _applied("locate", of, node.this, part, result=pa.int32())


def _has_part(function: str) -> Callable[[Of, exp.Func], Expression | None]:
    def rule(of: Of, node: exp.Func) -> Expression | None:
        part = node.args.get("expression")
        return _applied(function, of, node.this, part, result=pa.bool_()) if is_text(part) else None

    return rule


def _substring(of: Of, node: exp.Substring) -> Expression | None:
    start, length = node.args.get("start"), node.args.get("length")
    if not is_count(start) or start.this == "0" or not (length is None or is_count(length)):
        return None
    return _applied("substring", of, node.this, start, *([] if length is None else [length]))


def _part(of: Of, node: exp.Anonymous) -> Expression | None:
    """Return GET of a SPLIT: a part between delimiters, counted from 0; NULL where there are fewer."""
    if node.name.lower() != "get" or len(node.expressions) != 2:
        return None
    split, place = node.expressions
    if not isinstance(split, exp.RegexpSplit) or split.args.get("limit") or not is_count(place):
        return None
    delimiter = split.expression
    if not is_text(delimiter) or not _PLAIN.fullmatch(delimiter.this):
        return None
    return _applied("split part", of, split.this, delimiter, place)


def _null_if(of: Of, node: exp.Nullif) -> Expression | None:
    return _applied("null if", of, node.this, node.expression) if is_text(node.expression) else None


def _matches(of: Of, node: exp.RegexpLike) -> Expression | None:
    pattern = node.expression
    more = any(value for name, value in node.args.items() if name not in ("this", "expression"))
    if more or not is_text(pattern) or groups_of(pattern.this) is None:
        return None
    return _applied("matches", of, node.this, pattern, result=pa.bool_())


def _extracted(of: Of, node: exp.RegexpExtract) -> Expression | None:
    pattern, group = node.expression, node.args.get("group") or exp.Literal.number(1)
    if node.args.get("position") or not is_text(pattern) or not is_count(group):
        return None
    groups = groups_of(pattern.this)
    return (
        _applied("extracted", of, node.this, pattern, group) if int(group.this) in range(1, (groups or 0) + 1) else None
    )


def groups_of(pattern: str) -> int | None:
    """Return how many groups a regular expression has; None if it is not known to mean the same to Java and to RE2.

    It is, if it has plain characters, sets of these, alternatives, groups, the begin of a text, and repeated characters
    or sets. What a repeated group holds at the end is not the same.
    """
    return pattern.count("(") if _SAME.fullmatch(pattern) and _is_closed(pattern) else None


def _is_closed(pattern: str) -> bool:
    depth = 0
    for character in _SET.sub("", pattern):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return not depth


def _reversed(of: Of, node: exp.Reverse) -> Expression | None:
    return _applied("reverse", of, node.this)


#: What sqlglot makes of a call -> what is made of it; None: it stays Spark's.
TEXTS: tuple[tuple[type[exp.Expr], Callable[..., Expression | None]], ...] = (
    (exp.Trim, _trimmed),
    (exp.Substring, _substring),
    (exp.Left, _of_count("left")),
    (exp.Right, _of_count("right")),
    (exp.Repeat, _of_count("repeat")),
    (exp.Pad, _padded),
    (exp.StrPosition, _located),
    (exp.StartsWith, _has_part("starts with")),
    (exp.EndsWith, _has_part("ends with")),
    (exp.Contains, _has_part("contains")),
    (exp.Reverse, _reversed),
    (exp.Anonymous, _part),
    (exp.Nullif, _null_if),
    (exp.RegexpLike, _matches),
    (exp.RegexpExtract, _extracted),
)
