"""Conditions of a join that are no comparison of both sides, as trees that the operator evaluates on pairs of rows.

What looks at one side alone is SQL's, in a column of that side. What combines both is logic, comparisons and ``+ - *``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlext.analysis.coercion import least_restrictive
from sqlext.analysis.literals import constant_of
from sqlext.analysis.operators import COMPARISONS, arithmetic_type
from sqlext.analysis.shapes import Shape, shape
from sqlext.analysis.stream_join_conditions import LEFT, RIGHT, JoinNames
from sqlext.analysis.typing import infer
from sqlext.dialect import expression_nodes as e
from sqlext.errors import SqlExtError
from sqlext.types import BOOLEAN, LogicalType
from sqlext.udfs.core import match_expressions as core

_SAME = {"==": "=", "!=": "<>"}
_ARITHMETIC = ("+", "-", "*")
_TESTS = ("NULL", "TRUE", "FALSE", "UNKNOWN")
_SIDES = (LEFT, RIGHT)


@dataclass
class PairTrees:
    """Makes trees of conditions.

    Attributes:
        names: those of both sides.
        join: the kind of join, for messages.
        values: of each side, what the trees look at, by the numbers in their cells.
    """

    names: JoinNames
    join: str
    values: tuple[list[e.Expr], list[e.Expr]] = field(default_factory=lambda: ([], []))
    _shapes: tuple[list[Shape], list[Shape]] = field(default_factory=lambda: ([], []))

    def tree(self, expr: e.Expr) -> core.Expression:
        """Return an expression as a tree.

        Raises:
            SqlExtError: JOIN-001 for what only SQL can compute, of rows of both sides.
        """
        if isinstance(expr, e.Paren):
            return self.tree(expr.operand)
        if isinstance(expr, e.Literal) and (constant := constant_of(expr)) is not None:
            return constant
        sides = self.names.sides_of(expr)
        if len(sides) < len(_SIDES):
            return self._cell(expr, 1 if sides == {RIGHT} else 0)
        if isinstance(expr, e.AllOf):
            return core.And(tuple(map(self.tree, expr.operands)))
        if isinstance(expr, e.Binary):
            return self._binary(expr)
        if isinstance(expr, e.Unary):
            return self._unary(expr)
        if isinstance(expr, e.IsTest) and expr.test in _TESTS:
            return _unless(core.Is(self.tree(expr.operand), expr.test), negated=expr.negated)
        if isinstance(expr, e.Between) and not expr.symmetric:
            bounds = ((">=", expr.low), ("<=", expr.high))
            inside = core.And(tuple(self._compared(op, expr.operand, bound, expr) for op, bound in bounds))
            return _unless(inside, negated=expr.negated)
        if isinstance(expr, e.InList):
            found = core.Or(tuple(self._compared("=", expr.operand, item, expr) for item in expr.items))
            return _unless(found, negated=expr.negated)
        raise self._refused(expr)

    def _cell(self, expr: e.Expr, side: int) -> core.Cell:
        scope = (self.names.left, self.names.right)[side]
        infer(expr, scope)
        shapes, own = self._shapes[side], shape(expr, scope)
        if own not in shapes:
            shapes.append(own)
            self.values[side].append(expr)
        return core.Cell(shapes.index(own), side)

    def _binary(self, expr: e.Binary) -> core.Expression:
        operator = _SAME.get(expr.op, expr.op)
        if operator in ("AND", "OR"):
            items = (self.tree(expr.left), self.tree(expr.right))
            return core.And(items) if operator == "AND" else core.Or(items)
        if operator in COMPARISONS:
            return self._compared(operator, expr.left, expr.right, expr)
        if operator in ("IS DISTINCT FROM", "IS NOT DISTINCT FROM", "<=>"):
            same = self._compared("<=>", expr.left, expr.right, expr)
            return _unless(same, negated=operator == "IS DISTINCT FROM")
        type_ = self._type(expr)
        if operator not in _ARITHMETIC or type_ is None or not type_.is_numeric:
            raise self._refused(expr)
        return core.Arithmetic(operator, self.tree(expr.left), self.tree(expr.right), _number(type_))

    def _unary(self, expr: e.Unary) -> core.Expression:
        if expr.op == "NOT":
            return core.Not(self.tree(expr.operand))
        type_ = self._type(expr.operand)
        if type_ is None or not type_.is_numeric:
            raise self._refused(expr)
        operand = self.tree(expr.operand)
        return core.Negate(operand, _number(type_)) if expr.op == "-" else operand

    def _compared(self, operator: str, left: e.Expr, right: e.Expr, whole: e.Expr) -> core.Expression:
        types = self._type(left), self._type(right)
        if None in types or not _comparable(*types):
            raise self._refused(whole)
        return core.Compare(operator, self.tree(left), self.tree(right))

    def _type(self, expr: e.Expr) -> LogicalType | None:
        """Return the type of an expression of both sides; each side's names mean something in its own scope alone."""
        if isinstance(expr, e.Paren):
            return self._type(expr.operand)
        sides = self.names.sides_of(expr)
        if len(sides) < len(_SIDES):
            return infer(expr, self.names.right if sides == {RIGHT} else self.names.left)
        if isinstance(expr, e.Binary) and expr.op in _ARITHMETIC:
            left, right = self._type(expr.left), self._type(expr.right)
            numeric = left is not None and right is not None and left.is_numeric and right.is_numeric
            return arithmetic_type(expr.op, left, right, self.names.left.mode) if numeric and left and right else None
        if isinstance(expr, e.Unary) and expr.op in ("+", "-"):
            return self._type(expr.operand)
        return BOOLEAN

    def _refused(self, expr: e.Expr) -> SqlExtError:
        return SqlExtError(
            "JOIN-001",
            f"a {self.join} join of two streams computes with both sides by comparisons, AND, OR, NOT and + - * alone",
            span=expr.span,
            hint="call functions on columns of one side alone, and CAST what they give where its type is not known",
        )


def _unless(expression: core.Expression, *, negated: bool) -> core.Expression:
    return core.Not(expression) if negated else expression


def _comparable(left: LogicalType | None, right: LogicalType | None) -> bool:
    """Whether the operator compares values of two types as SQL does."""
    if left is None or right is None:
        return False
    if "NULL" in (left.root, right.root) or (left.is_numeric and right.is_numeric) or (left.is_text and right.is_text):
        return True
    common = least_restrictive((left, right)) if left.root == right.root else None
    return common is not None and left.spark() == right.spark() and common.root not in ("MAP", "MULTISET")


def _number(type_: LogicalType) -> core.Number:
    return core.Number(type_.root, type_.precision or 0, type_.scale or 0)
