"""What DEFINE computes: three-valued logic, numbers, text."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from sqlext.errors import SqlExtError
from sqlext_udfs.expressions import trees as e
from sqlext_udfs.matching.conditions import Conditions
from sqlext_udfs.matching.links import Link, PartitionRows

INT, BIGINT, FLOAT, DOUBLE = (e.Number(root) for root in ("INT", "BIGINT", "FLOAT", "DOUBLE"))
TRUE, FALSE, NULL = e.Constant(True), e.Constant(False), e.Constant(None)
ROWS = PartitionRows([[1, 2, None, 4]], 0, 4)


def _value(expression: e.Expression, *, wraps: bool = True) -> Any:
    link = None
    for row in range(4):
        link = Link.taken(row, row % 2, link, [(0, 2), (1, 2)], 3)
    assert link is not None
    return Conditions(wraps=wraps).function(expression)(link, ROWS)


def _number(value: Any) -> e.Constant:
    return e.Constant(str(value), decimal=True) if isinstance(value, Decimal) else e.Constant(value)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (e.And((TRUE, NULL)), None),
        (e.And((NULL, FALSE)), False),
        (e.And((TRUE, TRUE)), True),
        (e.Or((NULL, TRUE)), True),
        (e.Or((FALSE, NULL)), None),
        (e.Or((FALSE, FALSE)), False),
        (e.Not(NULL), None),
        (e.Not(FALSE), True),
        (e.Is(NULL, "NULL"), True),
        (e.Is(FALSE, "FALSE"), True),
        (e.Is(NULL, "TRUE"), False),
        (e.Is(NULL, "UNKNOWN"), True),
        (e.Compare("=", NULL, NULL), None),
        (e.Compare("<=>", NULL, NULL), True),
        (e.Compare("<=>", NULL, TRUE), False),
        (e.Compare("<", e.Constant("a"), e.Constant("ä")), True),
        (e.Case((e.When(NULL, e.Constant(1)), e.When(TRUE, e.Constant(2))), NULL), 2),
        (e.Case((e.When(FALSE, e.Constant(1)),), e.Constant(3)), 3),
        (e.Coalesce((NULL, e.Constant(0))), 0),
        (e.Extreme(">=", (e.Constant(1), e.Constant(3), e.Constant(2)), skips_nulls=False), 3),
        (e.Extreme("<=", (e.Constant(1), NULL, e.Constant(2)), skips_nulls=False), None),
        (e.Extreme("<=", (NULL, e.Constant(2), e.Constant(1)), skips_nulls=True), 1),
        (e.Extreme(">=", (NULL, NULL), skips_nulls=True), None),
        (e.Like(e.Constant("a%c\nd"), e.Constant("a!%_%")), False),
        (e.Like(e.Constant("a%c\nd"), e.Constant("a!%_%"), "!"), True),
        (e.Like(NULL, e.Constant("%")), None),
        (e.Negate(e.Constant(2), INT), -2),
    ],
)
def test_logic(expression: e.Expression, expected: Any) -> None:
    assert _value(expression) is expected or _value(expression) == expected


@pytest.mark.parametrize(
    ("op", "left", "right", "result", "expected"),
    [
        ("/", 7, -2, INT, -3),
        ("%", -7, 2, INT, -1),
        ("+", 2**31 - 1, 1, INT, -(2**31)),
        ("*", 2**62, 4, BIGINT, 0),
        ("/", 7, 2, DOUBLE, 3.5),
        ("/", 1.0, 0, DOUBLE, math.inf),
        ("/", -1.0, 0, DOUBLE, -math.inf),
        ("+", 0.1, 0.2, FLOAT, 0.30000001192092896),
        ("/", Decimal(1), Decimal(3), e.Number("DECIMAL", 10, 4), Decimal("0.3333")),
        ("*", Decimal("1.5"), 3, e.Number("DECIMAL", 10, 1), Decimal("4.5")),
        ("*", Decimal("99"), Decimal("99"), e.Number("DECIMAL", 3, 0), None),
        ("+", None, 1, INT, None),
    ],
)
def test_arithmetic(op: str, left: Any, right: Any, result: e.Number, expected: Any) -> None:
    assert _value(e.Arithmetic(op, _number(left), _number(right), result)) == expected


@pytest.mark.parametrize(
    ("op", "left", "right", "result", "code"),
    [
        ("/", 1, 0, INT, "RUN-040"),
        ("/", 1.0, 0.0, DOUBLE, "RUN-040"),
        ("+", 2**31 - 1, 1, INT, "RUN-041"),
        ("*", Decimal("99"), Decimal("99"), e.Number("DECIMAL", 3, 0), "RUN-041"),
    ],
)
def test_what_fails_where_nothing_wraps(op: str, left: Any, right: Any, result: e.Number, code: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        _value(e.Arithmetic(op, _number(left), _number(right), result), wraps=False)
    assert caught.value.code == code


@pytest.mark.parametrize(("wraps", "expected"), [(True, False), (False, True)])
def test_nan(wraps: bool, expected: bool) -> None:
    nan = e.Constant(math.nan)
    assert _value(e.Compare("=", nan, nan), wraps=wraps) is expected
    assert _value(e.Compare(">", nan, e.Constant(1)), wraps=wraps) is expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (e.Cell(0, 0), None),
        (e.Cell(0, 1), 4),
        (e.Cell(0, 0, first=True), 1),
        (e.Cell(0, 1, first=True, offset=1), 4),
        (e.Cell(0, 1, offset=1), 2),
        (e.Cell(0, 1, offset=2), None),
        (e.Cell(0, 2, offset=3), 1),
        (e.Cell(0, 1, shift=-2), 2),
        (e.Cell(0, 1, shift=1), None),
        (e.Running("count", None, 2), 4),
        (e.Running("count", 0, 2), 3),
        (e.Running("sum", 0, 2, BIGINT), 7),
        (e.Running("min", 0, 0), 1),
        (e.Running("max", 0, 2), 4),
    ],
)
def test_rows_of_the_match(expression: e.Expression, expected: Any) -> None:
    assert _value(expression) == expected
