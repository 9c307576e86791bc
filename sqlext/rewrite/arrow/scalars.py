"""Translate Spark's scalar functions to Arrow expressions; ``translation`` has operators, literals and times."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from sqlext.rewrite.arrow.numbers import common_type
from sqlext.rewrite.arrow.parts import Of, is_count, is_text
from sqlext_udfs.expressions.casts import number_type
from sqlext_udfs.expressions.columns import (
    Apply,
    Arithmetic,
    Case,
    Coalesce,
    Compare,
    Expression,
    Extreme,
    Like,
    Literal,
    Refused,
)

_STRING, _DOUBLE = pa.string(), pa.float64()
_CODED = re.compile(r"\[([A-Z]+-\d+)\] (.*)", re.DOTALL)


def divided(left: Expression, right: Expression) -> Expression:
    """Return the quotient of two numbers as DOUBLE, which fails for zero."""
    return Arithmetic(_DOUBLE, inputs=(left, right), op="/", result=number_type(_DOUBLE), fails=True)


def failure(node: exp.Cast, of: pa.DataType) -> Expression | None:
    """Return ``CAST(raise_error('[CODE] text') AS type)``; None for another cast."""
    call = node.this
    if not isinstance(call, exp.Anonymous) or call.name.lower() != "raise_error" or len(call.expressions) != 1:
        return None
    text = call.expressions[0]
    coded = _CODED.fullmatch(text.this) if isinstance(text, exp.Literal) and text.is_string else None
    return Refused(of, code=coded.group(1), message=coded.group(2), fails=True) if coded is not None else None


def text_of(value: Expression, zone: str) -> Expression | None:
    """Return a value as Spark's cast to STRING writes it; None for a type whose texts are Spark's alone."""
    if value.type == _STRING:
        return value
    if pa.types.is_date32(value.type):
        return Apply(_STRING, function="date text", inputs=(value,))
    if pa.types.is_integer(value.type) or pa.types.is_boolean(value.type):
        return Apply(_STRING, function="plain text", inputs=(value,))
    if pa.types.is_timestamp(value.type) and (value.type.tz is None or zone == "UTC"):
        return Apply(_STRING, function="time text", inputs=(value,))
    return None


def _divide_or_null(of: Of, node: exp.SafeDivide) -> Expression | None:
    left, right = of(node.this), of(node.expression)
    if not (_is_plain_number(left) and _is_plain_number(right)):
        return None
    zero = Compare(pa.bool_(), inputs=(right, Literal(right.type, value=0)), op="=")
    return Case(_DOUBLE, inputs=(zero, Literal(_DOUBLE), divided(left, right)))


def _coalesce(of: Of, node: exp.Coalesce) -> Expression | None:
    values = [of(v) for v in (node.this, *node.expressions)]
    common = common_type(values)
    return Coalesce(common, inputs=tuple(values)) if common is not None else None


def _if_known(of: Of, node: exp.Nvl2) -> Expression | None:
    known = Apply(pa.bool_(), function="is not null", inputs=(of(node.this),))
    values = [of(node.args["true"]), of(node.args["false"])]
    common = common_type(values)
    return Case(common, inputs=(known, *values)) if common is not None else None


def _extreme(op: str) -> Callable[[Of, exp.Func], Expression | None]:
    def rule(of: Of, node: exp.Func) -> Expression | None:
        values = [of(v) for v in (node.this, *node.expressions)]
        common = common_type(values)
        if common is None or pa.types.is_nested(common):
            return None
        return Extreme(common, inputs=tuple(values), op=op, skips_nulls=True)

    return rule


def _same(of: Of, node: exp.NullSafeEQ) -> Expression | None:
    sides = of(node.this), of(node.expression)
    return Compare(pa.bool_(), inputs=sides, op="<=>") if sides[0].type == sides[1].type else None


def _null_if(of: Of, node: exp.Nullif) -> Expression | None:
    value = of(node.this)
    same = of(exp.EQ(this=node.this, expression=node.expression))
    return Case(value.type, inputs=(same, Literal(value.type), value))


def _concat(of: Of, node: exp.Concat) -> Expression | None:
    # CONCAT_WS is a kind of CONCAT to sqlglot.
    name = "concat_ws" if isinstance(node, exp.ConcatWs) else "concat"
    return _joined_texts(*(of(v) for v in node.expressions), name=name)


def _joined(of: Of, node: exp.DPipe) -> Expression | None:
    return _joined_texts(of(node.this), of(node.expression))


def _joined_texts(*inputs: Expression, name: str = "concat") -> Expression | None:
    return _text(name, *inputs) if len(inputs) > 1 and all(i.type == _STRING for i in inputs) else None


def _replace(of: Of, node: exp.Replace) -> Expression | None:
    old, new = node.expression, node.args.get("replacement")
    if not (is_text(old) and is_text(new) and old.this):
        return None
    return _text("replace", of(node.this), of(old), of(new))


def _before(of: Of, node: exp.SubstringIndex) -> Expression | None:
    delimiter, count = node.args.get("delimiter"), node.args.get("count")
    if not (is_text(delimiter) and len(delimiter.this) == 1 and is_count(count) and count.this != "0"):
        return None
    return _text("substring_index", of(node.this), of(delimiter), of(count))


def _like(of: Of, node: exp.Like) -> Expression | None:
    sides = of(node.this), of(node.expression)
    if any(s.type != _STRING for s in sides) or not isinstance(sides[1], Literal):
        return None
    return Like(pa.bool_(), inputs=sides, escape="\\")


def _of_text(function: str, type_: pa.DataType = _STRING) -> Callable[[Of, exp.Func], Expression | None]:
    def rule(of: Of, node: exp.Func) -> Expression | None:
        value = of(node.this)
        return Apply(type_, function=function, inputs=(value,)) if value.type == _STRING else None

    return rule


def _text(function: str, *inputs: Expression) -> Expression | None:
    texts = inputs[0].type == _STRING and all(i.type == _STRING for i in inputs if not isinstance(i, Literal))
    return Apply(_STRING, function=function, inputs=inputs) if texts else None


def _is_plain_number(value: Expression) -> bool:
    return bool(pa.types.is_integer(value.type) or value.type in (pa.float32(), _DOUBLE))


#: What sqlglot makes of a call -> what is made of it; None: it stays Spark's.
SCALARS: tuple[tuple[type[exp.Expr], Callable[..., Expression | None]], ...] = (
    (exp.SafeDivide, _divide_or_null),
    (exp.Coalesce, _coalesce),
    (exp.Nvl2, _if_known),
    (exp.Greatest, _extreme(">=")),
    (exp.Least, _extreme("<=")),
    (exp.NullSafeEQ, _same),
    (exp.Nullif, _null_if),
    (exp.Concat, _concat),
    (exp.DPipe, _joined),
    (exp.Replace, _replace),
    (exp.SubstringIndex, _before),
    (exp.Like, _like),
    (exp.Upper, _of_text("upper")),
    (exp.Lower, _of_text("lower")),
    (exp.Length, _of_text("length", pa.int32())),
)
