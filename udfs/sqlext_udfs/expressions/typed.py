"""Trees as expressions over columns, with the types that their values have."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import singledispatchmethod

import pyarrow as pa

from sqlext_udfs.expressions import columns as c
from sqlext_udfs.expressions import trees as e
from sqlext_udfs.expressions.casts import arrow_type, common_type
from sqlext_udfs.expressions.numbers import FLOATS, Policy

_TESTS = {"NULL": "is null", "UNKNOWN": "is null", "TRUE": "is true", "FALSE": "is false"}
_BOOL = pa.bool_()
_INTS, _LONGS = range(-(1 << 31), 1 << 31), range(-(1 << 63), 1 << 63)


class Typed:
    """Makes expressions over columns.

    Args:
        cell: returns what a cell looks at.
        policy: of numbers.
    """

    def __init__(self, cell: Callable[[e.Cell], c.Expression], policy: Policy) -> None:
        self._cell = cell
        self._policy = policy

    @singledispatchmethod
    def expression(self, of: e.Expression) -> c.Expression:
        """Return a tree as an expression over columns."""
        raise TypeError(f"{type(of).__name__} is none over columns")

    @expression.register
    def _(self, of: e.Cell) -> c.Expression:
        return self._cell(of)

    @expression.register
    def _(self, of: e.Constant) -> c.Expression:
        # ``type`` and not isinstance, as True is an int to Python. An integer beyond BIGINT is a DECIMAL to Spark.
        exact = of.decimal or (type(of.value) is int and of.value not in _LONGS)
        value = Decimal(str(of.value)) if exact else of.value
        return c.Literal(pa.int32() if type(value) is int and value in _INTS else pa.scalar(value).type, value=value)

    @expression.register
    def _(self, of: e.And) -> c.Expression:
        return c.all_of(map(self.expression, of.items))

    @expression.register
    def _(self, of: e.Or) -> c.Expression:
        return c.Connected(_BOOL, inputs=self._all(of.items), decides=True)

    @expression.register
    def _(self, of: e.Not) -> c.Expression:
        return c.negated(self.expression(of.operand))

    @expression.register
    def _(self, of: e.Is) -> c.Expression:
        return c.Apply(_BOOL, function=_TESTS[of.test], inputs=(self.expression(of.operand),))

    @expression.register
    def _(self, of: e.Like) -> c.Expression:
        return c.Like(_BOOL, inputs=self._all((of.operand, of.pattern)), escape=of.escape)

    @expression.register
    def _(self, of: e.Case) -> c.Expression:
        whens = [(self.expression(w.condition), self.expression(w.result)) for w in of.whens]
        otherwise = self.expression(of.otherwise)
        common = common_type([*(result.type for _, result in whens), otherwise.type])
        return c.Case(common, inputs=(*(part for when in whens for part in when), otherwise))

    @expression.register
    def _(self, of: e.Coalesce) -> c.Expression:
        items = self._all(of.items)
        return c.Coalesce(common_type(i.type for i in items), inputs=items)

    @expression.register
    def _(self, of: e.Extreme) -> c.Expression:
        items, largest = self._all(of.items), self._policy.nan_is_largest
        common = common_type(i.type for i in items)
        return c.Extreme(common, inputs=items, op=of.op, skips_nulls=of.skips_nulls, nan_is_largest=largest)

    @expression.register
    def _(self, of: e.Compare) -> c.Expression:
        sides = self._all((of.left, of.right))
        return c.Compare(_BOOL, inputs=sides, op=of.op, nan_is_largest=self._policy.nan_is_largest)

    @expression.register
    def _(self, of: e.Negate) -> c.Expression:
        return self._calculated("-", of.result, self.expression(of.operand))

    @expression.register
    def _(self, of: e.Fitted) -> c.Expression:
        return c.Apply(arrow_type(of.to), function="cast", inputs=(self.expression(of.operand),), fails=True)

    @expression.register
    def _(self, of: e.Arithmetic) -> c.Expression:
        return self._calculated(of.op, of.result, *self._all((of.left, of.right)))

    def _calculated(self, op: str, result: e.Number, *operands: c.Expression) -> c.Expression:
        type_ = arrow_type(result)
        if any(pa.types.is_null(o.type) for o in operands):
            return c.Literal(type_)
        policy = self._policy
        floats = result.root in FLOATS
        # Only these fail: a division by zero, unless Flink makes Infinity of it, and an overflow in ANSI mode.
        fails = (op in "/%" and not (floats and policy.wraps)) or not (floats or policy.wraps)
        return c.Arithmetic(type_, inputs=operands, op=op, result=result, policy=policy, fails=fails)

    def _all(self, of: tuple[e.Expression, ...]) -> tuple[c.Expression, ...]:
        return tuple(map(self.expression, of))
