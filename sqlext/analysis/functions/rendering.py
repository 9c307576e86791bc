"""Build small pieces of Spark SQL that the function tables share."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlext.analysis.functions.model import CallTexts
from sqlext.types import LogicalType

#: Bits that an integer type lacks to 64: shifting out and back keeps the low bits, as Java's overflow does.
_SPARE_BITS = {"TINYINT": 56, "SMALLINT": 48, "INT": 32}

_MOST_DIGITS = 38
#: Digits of ``scala.math.BigDecimal``.
_SCALA_DIGITS = 34

_FIXED_ZONE = re.compile(r"(UTC|GMT|Z|UT)?([+-]\d{1,2}(:?\d{2})?)?$|Etc/(UTC|GMT[+-]?\d*)$|Z$", re.IGNORECASE)


def wrapped(text: str, type_: LogicalType) -> str:
    """Return a BIGINT expression cut to an integer type as Java cuts it: the overflow wraps around."""
    bits = _SPARE_BITS.get(type_.root)
    if bits is None:
        return text
    return f"CAST(shiftright(shiftleft({text}, {bits}), {bits}) AS {type_.root})"


def is_rounded_by_spark(type_: LogicalType) -> bool:
    """Whether Spark's ``-x`` and ``abs(x)`` of a type lose digits: they have 34, a DECIMAL up to 38."""
    return type_.root == "DECIMAL" and (type_.precision or 0) > _SCALA_DIGITS


def without_double_minus(text: str, type_: LogicalType) -> str:
    """Return the number that a text holds, with ``--`` for a sign that was turned twice."""
    return f"CAST(replace({text}, '--', '') AS {type_.spark()})"


def as_branch(text: str, from_: LogicalType | None, to: LogicalType | None) -> str:
    """Return one of several values that become one, converted where Spark would find another common type.

    Spark makes FLOAT beside another number a DOUBLE, and reads a BIGINT beside a DECIMAL as one of 20 digits.
    """
    if from_ is None or to is None or not from_.is_numeric or from_.root == to.root:
        return text
    if to.root == "DECIMAL" and from_.root == "BIGINT":
        return f"{'TRY_CAST' if to.precision == _MOST_DIGITS else 'CAST'}({text} AS {to.spark()})"
    return f"CAST({text} AS FLOAT)" if to.root == "FLOAT" else text


def typed(template: str) -> Callable[[CallTexts], str]:
    """Return a rendering: the template, cast to the result's type where that is known."""

    def render(call: CallTexts) -> str:
        text = fill(template, call)
        return f"CAST({text} AS {call.spark_type})" if call.spark_type else text

    return render


def fill(template: str, call: CallTexts) -> str:
    """Return a template filled in: ``{0}`` an argument, ``{a0}`` made atomic, ``{all}``, ``{rest}`` (but the first)."""
    names = {f"a{i}": call.atom(i) for i in range(call.count)}
    return template.format(*call.args, all=", ".join(call.args), rest=", ".join(call.args[1:]), **names)


def as_written(call: CallTexts) -> str:
    """Return a call under its own name, byte by byte where no argument changes."""
    if all(text == node.span.text for text, node in zip(call.args, call.call.args, strict=True)):
        return call.span.text
    return f"{call.call.name}({', '.join(call.args)})"


def is_fixed_zone(zone: str) -> bool:
    """Whether a time zone never changes its offset, so that every wall-clock time exists once."""
    return _FIXED_ZONE.fullmatch(zone) is not None
