"""Conditions of a join that are no comparison of both sides, as trees that the operator evaluates on pairs of rows.

What looks at one side alone is SQL's, in a column of that side. What combines both is logic, comparisons, arithmetic,
CASE, LIKE and the functions of ``pair_calls``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlext.analysis.coercion import least_restrictive
from sqlext.analysis.literals import constant_of
from sqlext.analysis.operators import ARITHMETIC, COMPARISONS
from sqlext.analysis.pair_calls import call_tree
from sqlext.analysis.shapes import Shape, shape
from sqlext.analysis.stream_join_conditions import LEFT, RIGHT, JoinNames
from sqlext.analysis.typing import infer
from sqlext.dialect import expression_nodes as e
from sqlext.dialect.query_nodes import Query
from sqlext.errors import SqlExtError
from sqlext.types import LogicalType
from sqlext.udfs.core import match_expressions as core

_SAME = {"==": "=", "!=": "<>"}
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

    @property
    def mode(self) -> str:
        """``'spark'`` or ``'flink'``."""
        return self.names.left.mode

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
            inside = core.And(tuple(self.compared(op, expr.operand, bound, expr) for op, bound in bounds))
            return _unless(inside, negated=expr.negated)
        if isinstance(expr, e.InList):
            found = core.Or(tuple(self.compared("=", expr.operand, item, expr) for item in expr.items))
            return _unless(found, negated=expr.negated)
        if isinstance(expr, e.Like):
            return self._like(expr)
        if isinstance(expr, e.Case):
            return self._case(expr)
        if isinstance(expr, e.Call):
            return call_tree(expr, self)
        raise self.refused(expr)

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
            return self.compared(operator, expr.left, expr.right, expr)
        if operator in ("IS DISTINCT FROM", "IS NOT DISTINCT FROM", "<=>"):
            same = self.compared("<=>", expr.left, expr.right, expr)
            return _unless(same, negated=operator == "IS DISTINCT FROM")
        if operator not in ARITHMETIC:
            raise self.refused(expr)
        operator = "/" if operator == "DIV" else operator
        return core.Arithmetic(operator, self.tree(expr.left), self.tree(expr.right), self.number(expr))

    def _unary(self, expr: e.Unary) -> core.Expression:
        if expr.op == "NOT":
            return core.Not(self.tree(expr.operand))
        number, operand = self.number(expr), self.tree(expr.operand)
        return core.Negate(operand, number) if expr.op == "-" else operand

    def _like(self, expr: e.Like) -> core.Expression:
        escape = "" if self.mode == "flink" else "\\"
        if isinstance(expr.escape, e.Literal) and len(expr.escape.value) == 1:
            escape = expr.escape.value
        elif expr.escape is not None:
            raise self.refused(expr)
        texts = [self.type_of(part) for part in (expr.operand, expr.pattern)]
        if expr.op != "LIKE" or not all(t is not None and t.is_text for t in texts):
            raise self.refused(expr)
        return _unless(core.Like(self.tree(expr.operand), self.tree(expr.pattern), escape), negated=expr.negated)

    def _case(self, expr: e.Case) -> core.Expression:
        otherwise = () if expr.otherwise is None else (expr.otherwise,)
        self.require_alike(expr, (*(w.result for w in expr.whens), *otherwise))
        whens = tuple(core.When(self._when(expr, when), self.tree(when.result)) for when in expr.whens)
        return core.Case(whens, self.tree(otherwise[0]) if otherwise else core.Constant(None))

    def _when(self, case: e.Case, when: e.When) -> core.Expression:
        if case.operand is None:
            return self.tree(when.condition)
        return self.compared("=", case.operand, when.condition, when.condition)

    def compared(self, operator: str, left: e.Expr, right: e.Expr, whole: e.Node) -> core.Expression:
        """Return a comparison.

        Raises:
            SqlExtError: JOIN-001 if one value must be converted in a way that only SQL knows.
        """
        if not _comparable(self.type_of(left), self.type_of(right)):
            raise self.refused(whole)
        return core.Compare(operator, self.tree(left), self.tree(right))

    def require_alike(self, whole: e.Node, branches: tuple[e.Expr, ...]) -> None:
        """Check that branches of an expression are values that compare.

        Raises:
            SqlExtError: JOIN-001 if not.
        """
        types = [self.type_of(branch) for branch in branches]
        if not all(_comparable(types[0], other) for other in types):
            raise self.refused(whole)

    def number(self, expr: e.Expr) -> core.Number:
        """Return the numeric type of an expression.

        Raises:
            SqlExtError: JOIN-001 if it is no number.
        """
        type_ = self.type_of(expr)
        if type_ is None or not type_.is_numeric:
            raise self.refused(expr)
        return core.Number(type_.root, type_.precision or 0, type_.scale or 0)

    def type_of(self, expr: e.Expr) -> LogicalType | None:
        """Return the type of an expression of both sides, None if it is not known."""
        return infer(expr, _BothSides(self.names))

    def refused(self, expr: e.Node) -> SqlExtError:
        """Return JOIN-001: the operator cannot compute this."""
        return SqlExtError(
            "JOIN-001",
            f"a {self.join} join of two streams cannot compute this of rows of both sides",
            span=expr.span,
            hint="it has comparisons, logic, arithmetic, CASE, LIKE, COALESCE, NULLIF, IF, ABS, GREATEST, LEAST and "
            "TIMESTAMPDIFF; call others on columns of one side alone, and CAST what has no known type",
        )


@dataclass(frozen=True)
class _BothSides:
    """Types of columns, each as its own side has it."""

    names: JoinNames

    @property
    def mode(self) -> str:
        return self.names.left.mode

    def column_type(self, ref: e.ColumnRef) -> LogicalType | None:
        side = self.names.right if self.names.side_of(ref) == RIGHT else self.names.left
        return side.column_type(ref)

    def query_type(self, query: Query) -> LogicalType | None:
        return None


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
