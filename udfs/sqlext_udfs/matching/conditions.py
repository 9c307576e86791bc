"""Conditions of DEFINE as functions of a match in the making.

A condition is asked with the link of the row that is to be taken: that row counts as one of its variable already.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import reduce, singledispatchmethod
from typing import Any

from sqlext_udfs.expressions import trees as e
from sqlext_udfs.expressions.like import like_pattern
from sqlext_udfs.expressions.numbers import calculate, compare, fit
from sqlext_udfs.matching.links import Link, Rows

Evaluate = Callable[[Link, Rows], Any]


class Conditions:
    """Makes functions of expressions.

    Args:
        wraps: as ``MatchSpecification.wraps``.
    """

    def __init__(self, *, wraps: bool) -> None:
        self._wraps = wraps
        self._totals: dict[e.Running, int] = {}

    @singledispatchmethod
    def function(self, expression: e.Expression) -> Evaluate:
        """Return the function that gives an expression's value; None is NULL."""
        raise TypeError(f"{type(expression).__name__} is no expression")

    @function.register
    def _(self, of: e.Cell) -> Evaluate:
        value, group, shift = of.value, of.group, of.shift
        if not of.first and not of.offset and not shift:

            def current(link: Link, rows: Rows) -> Any:
                found = link.last[group]
                return None if found is None else rows.value(value, found.row)

            return current

        def navigated(link: Link, rows: Rows) -> Any:
            found = link.find(group, first=of.first, offset=of.offset)
            return None if found is None else rows.value(value, found.row + shift)

        return navigated

    @function.register
    def _(self, of: e.Constant) -> Evaluate:
        value = Decimal(str(of.value)) if of.decimal else of.value
        return lambda link, rows: value

    @function.register
    def _(self, of: e.Compare) -> Evaluate:
        left, right, op, largest = self.function(of.left), self.function(of.right), of.op, not self._wraps
        return lambda link, rows: compare(op, left(link, rows), right(link, rows), nan_is_largest=largest)

    @function.register
    def _(self, of: e.Arithmetic) -> Evaluate:
        left, right, op, result, wraps = self.function(of.left), self.function(of.right), of.op, of.result, self._wraps
        return lambda link, rows: calculate(op, left(link, rows), right(link, rows), result, wraps=wraps)

    @function.register
    def _(self, of: e.Negate) -> Evaluate:
        operand, result, wraps = self.function(of.operand), of.result, self._wraps

        def negated(link: Link, rows: Rows) -> Any:
            value = operand(link, rows)
            return None if value is None else fit(-value, result, wraps=wraps)

        return negated

    @function.register
    def _(self, of: e.And) -> Evaluate:
        return self._connected(of.items, decides=False)

    @function.register
    def _(self, of: e.Or) -> Evaluate:
        return self._connected(of.items, decides=True)

    def _connected(self, items: tuple[e.Expression, ...], *, decides: bool) -> Evaluate:
        """Return AND or OR: the value that decides if one item has it, else NULL if one is NULL, else the other."""
        each = [self.function(item) for item in items]

        def connected(link: Link, rows: Rows) -> bool | None:
            unknown = False
            for one in each:
                value: bool | None = one(link, rows)
                if value is decides:
                    return decides
                unknown = unknown or value is None
            return None if unknown else not decides

        return connected

    @function.register
    def _(self, of: e.Not) -> Evaluate:
        operand = self.function(of.operand)

        def opposite(link: Link, rows: Rows) -> bool | None:
            value = operand(link, rows)
            return None if value is None else not value

        return opposite

    @function.register
    def _(self, of: e.Is) -> Evaluate:
        operand = self.function(of.operand)
        wanted = {"TRUE": True, "FALSE": False}.get(of.test)
        return lambda link, rows: bool(operand(link, rows) is wanted)

    @function.register
    def _(self, of: e.Like) -> Evaluate:
        operand, pattern, escape = self.function(of.operand), self.function(of.pattern), of.escape
        known: dict[str, re.Pattern[str]] = {}

        def like(link: Link, rows: Rows) -> bool | None:
            value, text = operand(link, rows), pattern(link, rows)
            if value is None or text is None:
                return None
            if text not in known:
                known[text] = like_pattern(text, escape)
            return known[text].fullmatch(value) is not None

        return like

    @function.register
    def _(self, of: e.Case) -> Evaluate:
        whens = [(self.function(w.condition), self.function(w.result)) for w in of.whens]
        otherwise = self.function(of.otherwise)

        def case(link: Link, rows: Rows) -> Any:
            for condition, result in whens:
                if condition(link, rows) is True:
                    return result(link, rows)
            return otherwise(link, rows)

        return case

    @function.register
    def _(self, of: e.Coalesce) -> Evaluate:
        each = [self.function(item) for item in of.items]

        def coalesce(link: Link, rows: Rows) -> Any:
            return next((v for v in (one(link, rows) for one in each) if v is not None), None)

        return coalesce

    @function.register
    def _(self, of: e.Extreme) -> Evaluate:
        each, largest = [self.function(item) for item in of.items], not self._wraps

        def extreme(link: Link, rows: Rows) -> Any:
            values = [one(link, rows) for one in each]
            known = [v for v in values if v is not None]
            if not known or (len(known) < len(values) and not of.skips_nulls):
                return None
            return reduce(
                lambda one, other: one if compare(of.op, one, other, nan_is_largest=largest) else other, known
            )

        return extreme

    @function.register
    def _(self, of: e.Running) -> Evaluate:
        number = self._totals.setdefault(of, len(self._totals))
        step, group, value, result, wraps = _STEPS[of.function], of.group, of.value, of.result, self._wraps
        start = 0 if of.function == "count" else None

        def running(link: Link, rows: Rows) -> Any:
            pending: list[Link] = []
            at = link.last[group]
            while at is not None and number not in at.totals:
                pending.append(at)
                at = at.previous(group)
            total = start if at is None else at.totals[number]
            while pending:
                at = pending.pop()
                more = True if value is None else rows.value(value, at.row)
                total = total if more is None else step(total, more)
                at.totals[number] = total
            return total if result is None else fit(total, result, wraps=wraps)

        return running


_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "count": lambda total, value: total + 1,
    "sum": lambda total, value: value if total is None else total + value,
    "min": lambda total, value: value if total is None or value < total else total,
    "max": lambda total, value: value if total is None or value > total else total,
}
