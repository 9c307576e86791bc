"""List the arithmetic functions (Flink docs: System (Built-in) Functions, Arithmetic Functions)."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.analysis.functions.model import CallTexts, CallTypes, fn
from sqlext.analysis.functions.rendering import is_rounded_by_spark, typed, wrapped
from sqlext.analysis.functions.results import never_null, same_as, strict, unknown
from sqlext.analysis.types import decimals
from sqlext.dialect.ast.expressions import Call, ColumnRef, Literal, Unary
from sqlext.types import DOUBLE, INT, STRING, LogicalType

_double = strict(DOUBLE)

#: By the root of a number: from and to which digit it can change.
_INTEGER, _APPROXIMATE = (-19, 0), (-40, 40)
#: From here on a DOUBLE has no digits behind the point, and does not fit into ``DECIMAL(38, 18)``.
_LARGE = "1E18D"

#: Renders the call for a number and a constant of digits.
_One = Callable[[str, str], str]


def _rounded_type(call: CallTypes) -> LogicalType | None:
    """ROUND(DECIMAL(p, s), d) is narrower than its operand where d is a constant; other numbers keep their type."""
    type_ = call.type(0)
    digits = _constant(call.call)
    if type_ is None or type_.root != "DECIMAL" or digits is None:
        return same_as(0)(call)
    result = decimals.rounded(type_, digits)
    return result if call.nullable else result.not_null()


def _digits_of_rows(call: Call) -> bool:
    """Return whether the digits are those of each row, which Spark does not take."""
    digits = call.args[1] if len(call.args) > 1 else None
    return digits is not None and any(isinstance(part, ColumnRef) for part in digits.walk())


def _rounded(call: CallTexts) -> str:
    """Return ROUND."""
    type_ = call.result
    given = call.count > 1
    text = _by_digits(call, call.args[0], lambda x, d: f"round({x}, {d})") if given else f"round({call.args[0]})"
    return f"CAST({text} AS {type_.spark()})" if type_ and type_.root == "DECIMAL" else text


def _truncated(call: CallTexts) -> str:
    """Return TRUNCATE, which Spark lacks for numbers: cut through DECIMAL, as Flink cuts too."""
    approximate = call.result is not None and call.result.is_approximate
    cut = _by_digits(call, call.atom(0), _cut_exactly if approximate else _cut)
    return f"CAST({cut} AS {call.spark_type})" if call.spark_type else cut


def _cut(number: str, digits: str) -> str:
    return f"if({number} < 0, ceil({number}, {digits}), floor({number}, {digits}))"


def _cut_exactly(number: str, digits: str) -> str:
    exact = f"CAST({number} AS DECIMAL(38, 18))"
    cut = f"if({number} < 0, ceil({exact}, {digits}), floor({exact}, {digits}))"
    below = f"{number} % 1E{digits[1:]}D" if digits.startswith("-") else "0"
    return f"if(abs({number}) < {_LARGE}, {cut}, {number} - {below})"


def _by_digits(call: CallTexts, number: str, one: _One) -> str:
    """Return the call for a constant of digits, or for each digit that a number can have."""
    digits = _constant(call.call)
    if digits is not None:
        return one(number, str(digits))
    least, most = _range(call.type(0))
    cases = " ".join(f"WHEN {d} THEN {one('__n.x', str(d))}" for d in range(least, most + 1))
    bounded = f"greatest(least(__n.d, {most}), {least})"
    # The lambda binds the operands to a name; greatest and least leave NULLs out.
    case = f"CASE WHEN __n.d IS NOT NULL THEN CASE {bounded} {cases} END END"
    return f"transform(array(struct({call.args[0]} AS x, {call.args[1]} AS d)), __n -> {case})[0]"


def _range(type_: LogicalType | None) -> tuple[int, int]:
    if type_ is not None and type_.is_integer:
        return _INTEGER
    if type_ is None or type_.root != "DECIMAL":
        return _APPROXIMATE
    precision, scale = type_.precision or 0, type_.scale or 0
    return scale - precision - 1, scale


def _constant(call: Call) -> int | None:
    """Return the digits if they are a literal, a minus in front of it or not."""
    if len(call.args) < 2:
        return 0
    digits = call.args[1]
    negative = isinstance(digits, Unary) and digits.op == "-"
    whole = digits.operand if isinstance(digits, Unary) and negative else digits
    if not isinstance(whole, Literal) or not whole.value.isdigit():
        return None
    return -int(whole.value) if negative else int(whole.value)


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
    result = right
    if left.scale or right.scale:
        result = decimals.arithmetic("%", decimals.as_decimal(left), decimals.as_decimal(right))
    return result.as_nullable() if call.nullable else result.not_null()


def _sign(call: CallTexts) -> str:
    return typed("sign({0})")(call)


def _abs(call: CallTexts) -> str:
    """ABS of the smallest integer is itself, as in Java; Spark would fail."""
    if call.result and call.result.root in ("TINYINT", "SMALLINT", "INT"):
        return wrapped(f"abs(CAST({call.args[0]} AS BIGINT))", call.result)
    if call.result and is_rounded_by_spark(call.result):
        return f"CAST(replace(CAST({call.args[0]} AS STRING), '-', '') AS {call.result.spark()})"
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
    fn("ROUND", "numeric, integer?", _rounded_type, _rounded, extends=_digits_of_rows),
    fn("TRUNCATE", "numeric, integer?", _rounded_type, _truncated),
    fn("PI", "", never_null(DOUBLE), _e_or_pi("pi"), extends=lambda c: c.bare),
    fn("E", "", never_null(DOUBLE), _e_or_pi("e"), extends=lambda c: c.bare),
    fn("RAND", "integer?", never_null(DOUBLE)),
    fn("RAND_INTEGER", "integer, integer?", never_null(INT), _rand_integer),
    fn("BIN", "integer", strict(STRING)),
    fn("HEX", "numeric/text/binary", strict(STRING)),
    fn("UUID", "", never_null(LogicalType("CHAR", 36)), spark=never_null(STRING)),
)
