"""List the arithmetic functions (Flink docs: System (Built-in) Functions, Arithmetic Functions)."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.analysis.functions.model import CallTexts, CallTypes, fn
from sqlext.analysis.functions.rendering import typed, wrapped
from sqlext.analysis.functions.results import never_null, same_as, strict, unknown
from sqlext.analysis.types import decimals
from sqlext.types import DOUBLE, INT, STRING, LogicalType

_double = strict(DOUBLE)


def _round_type(call: CallTypes) -> LogicalType | None:
    """ROUND(DECIMAL(p, s), d) is narrower than its operand; other numbers keep their type."""
    type_ = call.type(0)
    if type_ is None or type_.root != "DECIMAL":
        return same_as(0)(call)
    digits = _digits(call)
    if digits is None:
        return None
    result = decimals.rounded(type_, digits)
    return result if call.nullable else result.not_null()


def _digits(call: CallTypes) -> int | None:
    if len(call.types) < 2:
        return 0
    text = call.literal(1)
    # -2 is a minus before a literal, so it is read from the text.
    if text is None and call.call.args[1].span.text.lstrip("- ").isdigit():
        text = call.call.args[1].span.text.replace(" ", "")
    return int(text) if text is not None and text.lstrip("-").isdigit() else None


def whole_type(call: CallTypes) -> LogicalType | None:
    """FLOOR(DECIMAL(p, s)) is DECIMAL(p, 0); other numbers and times keep their type."""
    type_ = same_as(0)(call)
    if type_ is None or type_.root != "DECIMAL":
        return type_
    return LogicalType("DECIMAL", type_.precision, 0, type_.nullable)


def mod_type(call: CallTypes) -> LogicalType | None:
    """Return the type of MOD: that of the divisor, or a decimal."""
    left, right = call.type(0), call.type(1)
    if left is None or right is None:
        return None
    if left.root == "DECIMAL" or right.root == "DECIMAL":
        sides = decimals.as_decimal(left), decimals.as_decimal(right)
        result = decimals.arithmetic("%", *sides)
    else:
        result = right
    return result.as_nullable() if call.nullable else result.not_null()


def _round(call: CallTexts) -> str:
    type_ = call.result
    text = f"round({', '.join(call.args)})"
    return f"CAST({text} AS {type_.spark()})" if type_ and type_.root == "DECIMAL" else text


def _truncate(call: CallTexts) -> str:
    """Spark has no TRUNCATE of numbers: cut through DECIMAL, which ROUND_DOWN of Flink does too."""
    digits = call.args[1] if call.count > 1 else "0"
    number = call.args[0]
    cut = f"if({number} < 0, ceil({number}, {digits}), floor({number}, {digits}))"
    if call.result and call.result.is_approximate:
        exact = f"CAST({number} AS DECIMAL(38, 18))"
        cut = f"if({number} < 0, ceil({exact}, {digits}), floor({exact}, {digits}))"
    return f"CAST({cut} AS {call.spark_type})" if call.spark_type else cut


def _sign(call: CallTexts) -> str:
    return typed("sign({0})")(call)


def _abs(call: CallTexts) -> str:
    """ABS of the smallest integer is itself, as in Java; Spark would fail."""
    if call.result and call.result.root in ("TINYINT", "SMALLINT", "INT"):
        return wrapped(f"abs(CAST({call.args[0]} AS BIGINT))", call.result)
    return f"abs({call.args[0]})"


def _mod(call: CallTexts) -> str:
    return typed("mod({0}, {1})")(call)


def _ln(text: str) -> str:
    """Java's logarithm of 0 is -Infinity and of a negative number NaN; Spark gives NULL for both."""
    return (
        f"CASE WHEN {text} = 0 THEN CAST('-Infinity' AS DOUBLE) "
        f"WHEN {text} < 0 THEN CAST('NaN' AS DOUBLE) ELSE {{}} END"
    )


def _logarithm(name: str) -> Callable[[CallTexts], str]:
    def render(call: CallTexts) -> str:
        operand = call.args[-1]
        plain = f"{name}({', '.join(call.args)})"
        literal = call.literal(call.count - 1)
        # A literal other than zero is positive (a minus is an operator), so it is in the domain.
        if call.count == 1 and literal is not None and literal.replace(".", "").strip("0"):
            return plain
        if call.count == 2:
            # Flink divides two natural logarithms; Spark does as well, but gives NULL outside the domain.
            return f"log({call.args[0]}, {operand})"
        return _ln(call.atom(call.count - 1)).format(plain)

    return render


def _e_or_pi(name: str) -> Callable[[CallTexts], str]:
    return lambda call: f"{name}()"


def _rand_integer(call: CallTexts) -> str:
    """RAND_INTEGER([seed,] bound)."""
    seed = call.args[0] if call.count == 2 else ""
    return f"CAST(floor(rand({seed}) * {call.atom(call.count - 1)}) AS INT)"


_DOUBLES = ("SIN COS TAN COT ASIN ACOS ATAN SINH COSH TANH DEGREES RADIANS EXP SQRT").split()

MATH = (
    fn("ABS", "numeric/interval", same_as(0), _abs),
    fn("MOD", "exact, exact", mod_type, _mod, spark=unknown),
    fn("POWER", "numeric, numeric", _double, aliases=("POW",)),
    *(fn(name, "numeric", _double) for name in _DOUBLES),
    fn("ATAN2", "numeric, numeric", _double),
    fn("LN", "numeric", _double, _logarithm("ln")),
    fn("LOG10", "numeric", _double, _logarithm("log10")),
    fn("LOG2", "numeric", _double, _logarithm("log2")),
    fn("LOG", "numeric, numeric?", _double, _logarithm("ln")),
    fn("SIGN", "numeric/interval", same_as(0), _sign, spark=unknown),
    fn("ROUND", "numeric, integer?", _round_type, _round),
    fn("TRUNCATE", "numeric, integer?", _round_type, _truncate),
    fn("PI", "", never_null(DOUBLE), _e_or_pi("pi"), extends=lambda c: c.bare),
    fn("E", "", never_null(DOUBLE), _e_or_pi("e"), extends=lambda c: c.bare),
    fn("RAND", "integer?", never_null(DOUBLE)),
    fn("RAND_INTEGER", "integer, integer?", never_null(INT), _rand_integer),
    fn("BIN", "integer", strict(STRING)),
    fn("HEX", "numeric/text/binary", strict(STRING)),
    fn("UUID", "", never_null(LogicalType("CHAR", 36)), spark=never_null(STRING)),
)
