"""Translate Spark's functions of texts to Arrow, where their other arguments are literals; ``scalars`` has others."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from sqlext.rewrite.arrow.parts import Of, is_count, is_text
from sqlext_udfs.expressions.columns import Apply, Expression

_STRING = pa.string()
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
)
