"""Compile expressions over several rows to trees that operators evaluate (``sqlext_udfs.expressions``).

SQL computes what looks at one row alone. What combines rows is logic, comparisons, arithmetic, CASE, LIKE and functions
(``calls``). DEFINE (``matching.definitions``) and the conditions of joins (``pairs``) each say what a row is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import singledispatchmethod

from sqlext.analysis.expressions.calls import call_tree
from sqlext.analysis.types import decimals
from sqlext.analysis.types.arithmetic import ARITHMETIC, beside_decimal
from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError
from sqlext.plan.scope import own_parts
from sqlext.types import STRING, LogicalType
from sqlext_udfs.expressions import trees as core

#: By how they are written, what the operators call them.
COMPARISONS = {"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "<=>"}
_DIVISIONS = ("/", "%", "DIV")
_TESTS = ("NULL", "TRUE", "FALSE", "UNKNOWN")


def divides(expr: e.Expr) -> bool:
    """Return whether an expression divides by what may be zero: a condition before it may keep it from doing so."""
    return any(isinstance(p, e.Binary) and p.op in _DIVISIONS and not _is_fixed(p.right) for p in own_parts(expr))


def _is_fixed(divisor: e.Expr) -> bool:
    return isinstance(divisor, e.Literal) and divisor.value.strip("0.") != ""


class RowTrees(ABC):
    """Makes trees of expressions."""

    @property
    @abstractmethod
    def mode(self) -> str:
        """``'spark'`` or ``'flink'``."""

    @abstractmethod
    def tree(self, expr: e.Expr) -> core.Expression:
        """Return an expression as a tree."""

    @abstractmethod
    def type_of(self, expr: e.Expr) -> LogicalType | None:
        """Return the type of an expression, None if it is not known."""

    @abstractmethod
    def alike(self, left: LogicalType | None, right: LogicalType | None) -> bool:
        """Whether the operator compares values of two types as SQL does."""

    @abstractmethod
    def connected(self, expr: e.Binary) -> tuple[core.Expression, ...]:
        """Return what AND or OR connects."""

    @abstractmethod
    def refused(self, expr: e.Node) -> SqlExtError:
        """Return the error for what the operator cannot compute."""

    def unlike(self, left: e.Expr, right: e.Expr, whole: e.Node) -> SqlExtError:
        """Return the error for values of which one must be converted first."""
        return self.refused(whole)

    def no_number(self, expr: e.Expr) -> SqlExtError:
        """Return the error for what is calculated with, and is no number."""
        return self.refused(expr)

    def call(self, call: e.Call) -> core.Expression:
        """Return a call as a tree."""
        return call_tree(call, self)

    def compared(self, op: str, left: e.Expr, right: e.Expr, whole: e.Node) -> core.Expression:
        """Return a comparison of two values that are kept alike."""
        if not self.alike(self.type_of(left), self.type_of(right)):
            raise self.unlike(left, right, whole)
        return core.Compare(op, *self._fitted((left, right), [self._compared_as(x) for x in (left, right)]))

    def _compared_as(self, expr: e.Expr) -> LogicalType | None:
        type_ = self.type_of(expr)
        return beside_decimal(expr, type_) if type_ else None

    def merged(self, whole: e.Node, branches: tuple[e.Expr, ...]) -> tuple[core.Expression, ...]:
        """Return the branches of an expression, values that compare, as trees of one type."""
        self._require_alike(whole, branches)
        return self._fitted(branches, list(map(self.type_of, branches)))

    def _fitted(self, exprs: tuple[e.Expr, ...], types: list[LogicalType | None]) -> tuple[core.Expression, ...]:
        common = decimals.merged(types)
        made = [self.tree(x) for x in exprs]
        if common is None:
            return tuple(made)
        precision, scale = common.precision or 0, common.scale or 0
        to = core.Number("DECIMAL", precision, scale)
        return tuple(core.Fitted(m, to) if _scale(t) > scale else m for m, t in zip(made, types, strict=True))

    def _require_alike(self, whole: e.Node, branches: tuple[e.Expr, ...]) -> None:
        first, *others = branches
        for other in others:
            if not self.alike(self.type_of(first), self.type_of(other)):
                raise self.unlike(first, other, whole)

    def number(self, expr: e.Expr) -> core.Number:
        """Return the numeric type of an expression."""
        type_ = self.type_of(expr)
        if type_ is None or not type_.is_numeric:
            raise self.no_number(expr)
        return core.Number(type_.root, type_.precision or 0, type_.scale or 0)

    @singledispatchmethod
    def combined(self, expr: e.Expr) -> core.Expression:
        """Return an expression that looks at several rows as a tree."""
        raise self.refused(expr)

    @combined.register
    def _(self, expr: e.Binary) -> core.Expression:
        if expr.op in ("AND", "OR"):
            items = self.connected(expr)
            return core.And(items) if expr.op == "AND" else core.Or(items)
        if expr.op in COMPARISONS:
            return self.compared(COMPARISONS[expr.op], expr.left, expr.right, expr)
        if expr.op in ("IS DISTINCT FROM", "IS NOT DISTINCT FROM"):
            same = self.compared("<=>", expr.left, expr.right, expr)
            return _unless(same, negated=expr.op == "IS DISTINCT FROM")
        if expr.op in ARITHMETIC:
            # The tree divides in the type of the result, and that of DIV is BIGINT.
            op = "/" if expr.op == "DIV" else expr.op
            return core.Arithmetic(op, self.tree(expr.left), self.tree(expr.right), self.number(expr))
        raise self.refused(expr)

    @combined.register
    def _(self, expr: e.Unary) -> core.Expression:
        if expr.op == "NOT":
            return core.Not(self.tree(expr.operand))
        if expr.op == "-":
            return core.Negate(self.tree(expr.operand), self.number(expr))
        if expr.op == "+":
            return self.tree(expr.operand)
        raise self.refused(expr)

    @combined.register
    def _(self, expr: e.IsTest) -> core.Expression:
        if expr.test not in _TESTS:
            raise self.refused(expr)
        return _unless(core.Is(self.tree(expr.operand), expr.test), negated=expr.negated)

    @combined.register
    def _(self, expr: e.Between) -> core.Expression:
        test = self._between(expr, expr.low, expr.high)
        if expr.symmetric:
            # The values decide which bound is the lower one, so both orders are asked.
            test = core.Or((test, self._between(expr, expr.high, expr.low)))
        return _unless(test, negated=expr.negated)

    def _between(self, expr: e.Between, low: e.Expr, high: e.Expr) -> core.Expression:
        above = self.compared(">=", expr.operand, low, expr)
        return core.And((above, self.compared("<=", expr.operand, high, expr)))

    @combined.register
    def _(self, expr: e.InList) -> core.Expression:
        value, *items = self.merged(expr, (expr.operand, *expr.items))
        test = core.Or(tuple(core.Compare("=", value, item) for item in items))
        return _unless(test, negated=expr.negated)

    @combined.register
    def _(self, expr: e.Like) -> core.Expression:
        # Without ESCAPE, a backslash escapes in Spark and is a character like any other in Flink.
        escape = "" if self.mode == "flink" else "\\"
        if isinstance(expr.escape, e.Literal) and len(expr.escape.value) == 1:
            escape = expr.escape.value
        elif expr.escape is not None:
            raise self.refused(expr)
        if expr.op != "LIKE" or not all(self.alike(self.type_of(x), STRING) for x in (expr.operand, expr.pattern)):
            raise self.refused(expr)
        test = core.Like(self.tree(expr.operand), self.tree(expr.pattern), escape)
        return _unless(test, negated=expr.negated)

    @combined.register
    def _(self, expr: e.Case) -> core.Expression:
        otherwise = () if expr.otherwise is None else (expr.otherwise,)
        results = self.merged(expr, (*(w.result for w in expr.whens), *otherwise))
        whens = tuple(core.When(self._when(expr, w), result) for w, result in zip(expr.whens, results, strict=False))
        return core.Case(whens, results[-1] if otherwise else core.Constant(None))

    def _when(self, case: e.Case, when: e.When) -> core.Expression:
        if case.operand is None:
            return self.tree(when.condition)
        return self.compared("=", case.operand, when.condition, when.condition)

    @combined.register
    def _(self, expr: e.Call) -> core.Expression:
        return self.call(expr)


def _scale(of: LogicalType | None) -> int:
    return of.scale or 0 if of is not None and of.root == "DECIMAL" else 0


def _unless(test: core.Expression, *, negated: bool) -> core.Expression:
    return core.Not(test) if negated else test
