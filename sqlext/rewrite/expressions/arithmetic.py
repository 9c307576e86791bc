"""Render arithmetic and comparisons with Flink's meaning.

Integers wrap around and divide without a fraction. DOUBLE divides by zero to Infinity. DECIMAL overflow is NULL.
"""

from __future__ import annotations

from sqlext.analysis.functions.elapsed import MONTHS_PER, moment, months_between
from sqlext.analysis.functions.instants import utc_instant, utc_wall
from sqlext.analysis.functions.rendering import is_fixed_zone, is_rounded_by_spark, without_double_minus, wrapped
from sqlext.analysis.types import decimals
from sqlext.analysis.types.arithmetic import is_interval
from sqlext.dialect.ast import expressions as e
from sqlext.rewrite.expressions.forms import equal_rows, unequal_rows
from sqlext.rewrite.expressions.integers import integers
from sqlext.rewrite.expressions.protocols import Texts
from sqlext.rewrite.expressions.shared_operands import bind
from sqlext.types import INTERVAL_DAY_TIME, LogicalType

#: Of a DECIMAL overflow Flink makes NULL; Spark's ANSI mode fails.
_TRY = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}


def binary(node: e.Binary, texts: Texts) -> str | None:
    """Return a binary operation, None where its own text will do."""
    if node.op == "OVERLAPS":
        return _overlaps(node, texts)
    if texts.mode == "flink" and node.op in ("=", "<>"):
        return _rows(node, texts) or _maps(node, texts) or _boolean_and_text(node, texts)
    if texts.mode != "flink" or node.op not in ("+", "-", "*", "/", "%"):
        return None
    left, right, result = texts.type_of(node.left), texts.type_of(node.right), texts.type_of(node)
    if left is None or right is None or result is None:
        return None
    if result.is_integer:
        return integers(node, texts, result)
    if result.root == "DECIMAL":
        return _decimals(node, texts, (left, right), result)
    if result.is_approximate:
        return _approximate(node, texts, (left, right), result)
    return _times(node, texts, (left, right), result)


def unary(node: e.Unary, texts: Texts) -> str | None:
    """Return ``-x``: the smallest integer is its own negative, as in Java."""
    type_ = texts.type_of(node.operand)
    if node.op != "-" or type_ is None or isinstance(node.operand, e.Literal):
        return None
    if is_rounded_by_spark(type_):
        return without_double_minus(f"concat('-', CAST({texts.text(node.operand)} AS STRING))", type_)
    if type_.root not in ("TINYINT", "SMALLINT", "INT"):
        return None
    return wrapped(f"-CAST({texts.text(node.operand)} AS BIGINT)", type_)


def _rows(node: e.Binary, texts: Texts) -> str | None:
    if not isinstance(node.left, e.RowValue) or not isinstance(node.right, e.RowValue):
        return None
    return (unequal_rows if node.op == "<>" else equal_rows)(node.left, node.right, texts)


def _maps(node: e.Binary, texts: Texts) -> str | None:
    """Spark cannot compare maps; their sorted entries it can."""
    type_ = texts.type_of(node.left)
    if type_ is None or type_.root not in ("MAP", "MULTISET"):
        return None
    sides = [f"array_sort(map_entries({texts.text(side)}))" for side in (node.left, node.right)]
    return f"({sides[0]} {node.op} {sides[1]})"


def _boolean_and_text(node: e.Binary, texts: Texts) -> str | None:
    """Flink compares the texts, TRUE and FALSE in capitals (measured on 2.3); Spark reads the text as BOOLEAN."""
    types = texts.type_of(node.left), texts.type_of(node.right)
    roots = {"text" if t.is_text else t.root for t in types if t}
    if roots != {"BOOLEAN", "text"}:
        return None
    sides = [
        f"upper(CAST({texts.text(side)} AS STRING))" if type_ and type_.root == "BOOLEAN" else texts.atom(side)
        for side, type_ in zip((node.left, node.right), types, strict=True)
    ]
    return f"({sides[0]} {node.op} {sides[1]})"


def _sides(node: e.Binary, texts: Texts) -> tuple[str, str]:
    return texts.atom(node.left), texts.atom(node.right)


def _decimals(node: e.Binary, texts: Texts, types: tuple[LogicalType, LogicalType], result: LogicalType) -> str | None:
    left = _as_decimal(node.left, types[0], texts)
    right = _as_decimal(node.right, types[1], texts)
    # Results of fewer digits have room for every value, so they cannot overflow.
    if result.precision == decimals.MAX_PRECISION and node.op in _TRY:
        return f"{_TRY[node.op]}({left}, {right})"
    exact = decimals.as_decimal(types[0]), decimals.as_decimal(types[1])
    if node.op == "/" and decimals.quotient_overflows(*exact, result):
        return bind((left, right), lambda parts: _decimal_quotient(*parts, nonzero=_is_nonzero(node.right)))
    if node.op == "%" and decimals.arithmetic("%", *exact) != result.as_nullable():
        # Spark's remainder has as many digits as the shorter operand.
        return f"CAST({left} % {right} AS {result.spark()})"
    if left == texts.atom(node.left) and right == texts.atom(node.right):
        return None
    return f"({left} {node.op} {right})"


def _decimal_quotient(left: str, right: str, *, nonzero: bool) -> str:
    """Return a quotient that is NULL where it has too many digits, and fails where the divisor is zero."""
    quotient = f"try_divide({left}, {right})"
    return quotient if nonzero else f"CASE WHEN {right} = 0 THEN {left} / {right} ELSE {quotient} END"


def _as_decimal(node: e.Expr, type_: LogicalType, texts: Texts) -> str:
    """Return one side; Spark takes an integer literal for a narrower DECIMAL than Flink, a BIGINT for a wider."""
    if type_.is_integer and (type_.root == "BIGINT" or isinstance(node, e.Literal)):
        return f"CAST({texts.text(node)} AS {decimals.as_decimal(type_).spark()})"
    return texts.atom(node)


def _approximate(
    node: e.Binary, texts: Texts, types: tuple[LogicalType, LogicalType], result: LogicalType
) -> str | None:
    left, right = _sides(node, texts)
    is_float = result.root == "FLOAT"
    if is_float:
        left = left if types[0].root == "FLOAT" else f"CAST({texts.text(node.left)} AS FLOAT)"
        right = right if types[1].root == "FLOAT" else f"CAST({texts.text(node.right)} AS FLOAT)"
    if node.op == "/" and not _is_nonzero(node.right):
        # Java's quotient; Spark's ANSI mode fails. Infinity times the dividend has its sign, and 0 gives NaN.
        quotient = bind(
            (left, right),
            lambda p: f"CASE WHEN {p[1]} = 0 THEN {p[0]} * CAST('Infinity' AS DOUBLE) ELSE {p[0]} / {p[1]} END",
        )
    elif not is_float:
        return None
    else:
        quotient = f"{left} {node.op} {right}"
    return f"CAST({quotient} AS FLOAT)" if is_float else quotient


def _is_nonzero(node: e.Expr) -> bool:
    """Whether this is a number literal other than zero."""
    if not isinstance(node, e.Literal) or node.kind != "NUMBER":
        return False
    try:
        return float(node.value) != 0
    except ValueError:
        return False


def _times(node: e.Binary, texts: Texts, types: tuple[LogicalType, LogicalType], result: LogicalType) -> str | None:
    """DATE + hours stays a DATE and TIME wraps around at midnight; Spark makes a timestamp or fails."""
    left, right = _sides(node, texts)
    if result.root == "DATE":
        interval = node.right if is_interval(types[1]) else node.left
        if isinstance(interval, e.Interval) and _is_whole_days(interval):
            return None
        if INTERVAL_DAY_TIME.root in (types[0].root, types[1].root):
            return _days_later(node.op, *((left, right) if is_interval(types[1]) else (right, left)))
        sides = [
            f"CAST({s} AS TIMESTAMP_NTZ)" if t.root == "DATE" else s for s, t in zip((left, right), types, strict=True)
        ]
        return f"CAST({sides[0]} {node.op} {sides[1]} AS DATE)"
    if result.root == "TIMESTAMP_LTZ" and not is_interval(result):
        return _instants(node, texts, types)
    if result.root == "TIME":
        time, interval_text = (left, right) if is_interval(types[1]) else (right, left)
        moved = f"make_timestamp_ntz(DATE '1970-01-02', {time}) {node.op} {interval_text}"
        # The text behind the day is the time: this is what wraps it around at midnight.
        return f"CAST(substring(CAST({moved} AS STRING), 12) AS {result.spark()})"
    return None


def _days_later(op: str, date: str, interval: str) -> str:
    """Flink takes the whole days of an interval alone: a DATE less one second is the same day."""
    days = f"extract(DAY FROM CAST({interval} AS INTERVAL DAY TO SECOND))"
    return f"{'date_add' if op == '+' else 'date_sub'}({date}, {days})"


def _instants(node: e.Binary, texts: Texts, types: tuple[LogicalType, LogicalType]) -> str | None:
    """Flink counts days as 24 hours and months in UTC; Spark goes by the session's calendar."""
    interval = types[1] if is_interval(types[1]) else types[0]
    if texts.zone.upper() in ("UTC", "GMT") or (interval.root == "INTERVAL_DAY_TIME" and is_fixed_zone(texts.zone)):
        return None
    sides = [
        utc_wall(texts.text(side)) if type_.root == "TIMESTAMP_LTZ" else texts.atom(side)
        for side, type_ in zip((node.left, node.right), types, strict=True)
    ]
    return utc_instant(f"{sides[0]} {node.op} {sides[1]}")


def _is_whole_days(interval: e.Interval) -> bool:
    return interval.to_unit is None and interval.unit in ("DAY", "MONTH", "YEAR")


def difference(node: e.Difference, texts: Texts) -> str:
    """``(end - start) DAY TO SECOND``: months are whole ones, other units are exact to the millisecond."""
    sides = []
    for side in (node.end, node.start):
        type_ = texts.type_of(side)
        text = texts.atom(side)
        if type_ is not None and type_.is_timestamp and (type_.precision or 0) > 3:
            text = f"({text} - make_dt_interval(0, 0, 0, extract(SECOND FROM {text}) % 0.001))"
        sides.append(moment(text, type_.root if type_ else None))
    if node.unit in MONTHS_PER:
        return bind(sides, lambda parts: f"make_ym_interval(0, CAST({months_between(parts[1], parts[0])} AS INT))")
    return f"({sides[0]} - {sides[1]})"


def _overlaps(node: e.Binary, texts: Texts) -> str | None:
    """``(a, b) OVERLAPS (c, d)``: both periods include their ends; b and d may be lengths."""
    if not isinstance(node.left, e.RowValue) or not isinstance(node.right, e.RowValue):
        return None
    (a, b), (c, d) = _period(node.left, texts), _period(node.right, texts)
    # The SQL standard lets a period be given end first.
    return f"(greatest({a}, {b}) >= least({c}, {d}) AND greatest({c}, {d}) >= least({a}, {b}))"


def _period(node: e.RowValue, texts: Texts) -> tuple[str, str]:
    start, end = (texts.text(item) for item in node.items)
    type_ = texts.type_of(node.items[1])
    is_length = isinstance(node.items[1], e.Interval) or (type_ is not None and is_interval(type_))
    return start, f"{texts.atom(node.items[0])} + {texts.atom(node.items[1])}" if is_length else end
