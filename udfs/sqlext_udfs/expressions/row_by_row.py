"""Trees as functions that are asked row by row: what a row is, and its values, the user says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import reduce, singledispatchmethod
from typing import Any, Generic, TypeVar

from sqlext_udfs.expressions import trees as e
from sqlext_udfs.expressions.like import like_patterns
from sqlext_udfs.expressions.numbers import Policy, calculate, compare, fit, negate

#: Which row it is, and what it is looked up in.
At = TypeVar("At")
In = TypeVar("In")
Evaluate = Callable[[At, In], Any]


class RowByRow(ABC, Generic[At, In]):
    """Makes functions of trees; None is NULL.

    Args:
        policy: of numbers.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @abstractmethod
    def cell(self, of: e.Cell) -> Evaluate[At, In]:
        """Return the function that gives a value of a row."""

    @abstractmethod
    def running(self, of: e.Running) -> Evaluate[At, In]:
        """Return the function that gives an aggregate of the rows so far."""

    @singledispatchmethod
    def function(self, expression: e.Expression) -> Evaluate[At, In]:
        """Return the function that gives an expression's value."""
        raise TypeError(f"{type(expression).__name__} is no expression")

    @function.register
    def _(self, of: e.Cell) -> Evaluate[At, In]:
        return self.cell(of)

    @function.register
    def _(self, of: e.Running) -> Evaluate[At, In]:
        return self.running(of)

    @function.register
    def _(self, of: e.Constant) -> Evaluate[At, In]:
        value = Decimal(str(of.value)) if of.decimal else of.value
        return lambda at, rows: value

    @function.register
    def _(self, of: e.Compare) -> Evaluate[At, In]:
        left, right, op, policy = self.function(of.left), self.function(of.right), of.op, self.policy

        def compared(at: At, rows: In) -> bool | None:
            value = left(at, rows)
            # Behind a NULL the other side is not asked, as over columns.
            return None if value is None and op != "<=>" else compare(op, value, right(at, rows), policy)

        return compared

    @function.register
    def _(self, of: e.Arithmetic) -> Evaluate[At, In]:
        left, right, op, result = self.function(of.left), self.function(of.right), of.op, of.result
        policy = self.policy

        def calculated(at: At, rows: In) -> Any:
            value = left(at, rows)
            return None if value is None else calculate(op, value, right(at, rows), result, policy)

        return calculated

    @function.register
    def _(self, of: e.Negate) -> Evaluate[At, In]:
        operand, result, policy = self.function(of.operand), of.result, self.policy
        return lambda at, rows: negate(operand(at, rows), result, policy)

    @function.register
    def _(self, of: e.Fitted) -> Evaluate[At, In]:
        operand, to, policy = self.function(of.operand), of.to, replace(self.policy, wraps=False)
        return lambda at, rows: fit(operand(at, rows), to, policy)

    @function.register
    def _(self, of: e.And) -> Evaluate[At, In]:
        return self._connected(of.items, decides=False)

    @function.register
    def _(self, of: e.Or) -> Evaluate[At, In]:
        return self._connected(of.items, decides=True)

    def _connected(self, items: tuple[e.Expression, ...], *, decides: bool) -> Evaluate[At, In]:
        """Return AND or OR: the value that decides if one item has it, else NULL if one is NULL, else the other."""
        each = [self.function(item) for item in items]

        def connected(at: At, rows: In) -> bool | None:
            unknown = False
            for one in each:
                value: bool | None = one(at, rows)
                if value is decides:
                    return decides
                unknown = unknown or value is None
            return None if unknown else not decides

        return connected

    @function.register
    def _(self, of: e.Not) -> Evaluate[At, In]:
        operand = self.function(of.operand)

        def opposite(at: At, rows: In) -> bool | None:
            value = operand(at, rows)
            return None if value is None else not value

        return opposite

    @function.register
    def _(self, of: e.Is) -> Evaluate[At, In]:
        operand = self.function(of.operand)
        wanted = {"TRUE": True, "FALSE": False}.get(of.test)
        return lambda at, rows: bool(operand(at, rows) is wanted)

    @function.register
    def _(self, of: e.Like) -> Evaluate[At, In]:
        operand, pattern, like = self.function(of.operand), self.function(of.pattern), like_patterns(of.escape)
        return lambda at, rows: like(operand(at, rows), pattern(at, rows))

    @function.register
    def _(self, of: e.Case) -> Evaluate[At, In]:
        whens = [(self.function(w.condition), self.function(w.result)) for w in of.whens]
        otherwise = self.function(of.otherwise)

        def case(at: At, rows: In) -> Any:
            for condition, result in whens:
                if condition(at, rows) is True:
                    return result(at, rows)
            return otherwise(at, rows)

        return case

    @function.register
    def _(self, of: e.Coalesce) -> Evaluate[At, In]:
        each = [self.function(item) for item in of.items]

        def coalesce(at: At, rows: In) -> Any:
            return next((v for v in (one(at, rows) for one in each) if v is not None), None)

        return coalesce

    @function.register
    def _(self, of: e.Extreme) -> Evaluate[At, In]:
        each, policy = [self.function(item) for item in of.items], self.policy

        def extreme(at: At, rows: In) -> Any:
            values = [one(at, rows) for one in each]
            known = [v for v in values if v is not None]
            if not known or (len(known) < len(values) and not of.skips_nulls):
                return None
            return reduce(lambda one, other: one if compare(of.op, one, other, policy) else other, known)

        return extreme
