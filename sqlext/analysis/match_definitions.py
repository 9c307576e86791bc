"""DEFINE: conditions as trees that the operator evaluates, over values that SQL computes of single rows.

What looks at the row that is to be taken alone is SQL's, whatever stands in it. What combines rows is a tree of what
the operator knows: comparisons, arithmetic, logic, CASE, LIKE, COUNT, SUM, AVG, MIN, MAX.
"""

from __future__ import annotations

from functools import singledispatchmethod

from sqlext.analysis.literals import constant_of
from sqlext.analysis.match_calls import call_tree, not_over_rows
from sqlext.analysis.match_names import Names
from sqlext.analysis.match_values import Values
from sqlext.analysis.operators import ARITHMETIC
from sqlext.analysis.parts import own_parts
from sqlext.analysis.typing import infer
from sqlext.dialect import expression_nodes as e
from sqlext.errors import SqlExtError
from sqlext.plan.match import RowValue
from sqlext.source import SourceText
from sqlext.types import LogicalType
from sqlext.udfs.core import match_expressions as core

_COMPARISONS = {"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "<=>"}
#: Expressions of one row that are NULL where there is no row.
_STRICT = (e.ColumnRef, e.Literal, e.Paren, e.FieldAccess, e.Subscript, e.Cast, e.Interval)
#: Is NULL, as a value of a row, only where there is no row.
_TRUE = e.Literal(SourceText.of("TRUE").span(0, 4), "BOOLEAN", "TRUE")


class Definition:
    """Makes the condition of one variable.

    Args:
        names: what names mean.
        own: the variable.
        values: collects what conditions look at.
    """

    def __init__(self, names: Names, own: int, values: Values) -> None:
        self.names = names
        self.own = own
        self.values = values
        self.scope = names.scope

    def condition(self, expr: e.Expr) -> core.Expression:
        """Return a condition as a tree.

        Raises:
            SqlExtError: MATCH-012 to MATCH-014 for what cannot be said over several rows, MATCH-015 if it is no
                condition, and what its parts raise.
        """
        type_ = infer(self._typed(expr), self.scope)
        if type_ is not None and type_.root not in ("BOOLEAN", "NULL"):
            raise SqlExtError("MATCH-015", f"a condition of DEFINE is BOOLEAN, this is {type_.flink()}", span=expr.span)
        return self.tree(expr)

    def tree(self, expr: e.Expr) -> core.Expression:
        """Return an expression as a tree."""
        if isinstance(expr, e.Paren):
            return self.tree(expr.operand)
        if isinstance(expr, e.Literal) and (constant := constant_of(expr)) is not None:
            return constant
        if self.names.is_single(expr):
            groups = {self._current(g) for g in self.names.groups_in(expr)}
            if groups <= {self.own}:
                return core.Cell(self.value(expr), self.own)
            if len(groups) == 1:
                return self._of_other(expr, groups.pop())
        navigated = self.names.navigation(expr)
        if navigated is not None:
            number = self.values.number(RowValue(navigated.of))
            return navigated.cell(number)
        return self._combined(expr)

    def _current(self, group: int) -> int:
        """Return a group; the last of all rows is the one that is to be taken."""
        return self.own if group == self.names.everything else group

    def value(self, expr: e.Expr, *, absent: bool = False) -> int:
        """Return the number of a value of one row; ``absent``: of a row that is not there."""
        return self.values.number(RowValue(self.names.over_row(expr), absent))

    def _of_other(self, expr: e.Expr, group: int) -> core.Expression:
        """Return a value of the last row of another variable, which may have none: then it is that of no columns."""
        cell = core.Cell(self.value(expr), group)
        if all(_is_strict(p) for p in own_parts(expr)):
            return cell
        there = core.Cell(self.values.number(RowValue(_TRUE)), group)
        missing = core.Cell(self.value(expr, absent=True), self.own)
        return core.Case((core.When(core.Is(there, "NULL"), missing),), cell)

    # What combines rows

    @singledispatchmethod
    def _combined(self, expr: e.Expr) -> core.Expression:
        raise not_over_rows(expr)

    @_combined.register
    def _(self, expr: e.Binary) -> core.Expression:
        if expr.op in ("AND", "OR"):
            items = tuple(self.tree(x) for x in _chain(expr, expr.op))
            return core.And(items) if expr.op == "AND" else core.Or(items)
        if expr.op in _COMPARISONS:
            return self.compared(_COMPARISONS[expr.op], expr.left, expr.right, expr)
        if expr.op in ("IS DISTINCT FROM", "IS NOT DISTINCT FROM"):
            same = self.compared("<=>", expr.left, expr.right, expr)
            return same if expr.op == "IS NOT DISTINCT FROM" else core.Not(same)
        if expr.op in ARITHMETIC:
            op = "/" if expr.op == "DIV" else expr.op
            return core.Arithmetic(op, self.tree(expr.left), self.tree(expr.right), self.number(expr))
        raise not_over_rows(expr)

    @_combined.register
    def _(self, expr: e.Unary) -> core.Expression:
        if expr.op == "NOT":
            return core.Not(self.tree(expr.operand))
        if expr.op == "-":
            return core.Negate(self.tree(expr.operand), self.number(expr))
        if expr.op == "+":
            return self.tree(expr.operand)
        raise not_over_rows(expr)

    @_combined.register
    def _(self, expr: e.IsTest) -> core.Expression:
        if expr.test not in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            raise not_over_rows(expr)
        test = core.Is(self.tree(expr.operand), expr.test)
        return core.Not(test) if expr.negated else test

    @_combined.register
    def _(self, expr: e.Between) -> core.Expression:
        test = self._between(expr, expr.low, expr.high)
        if expr.symmetric:
            test = core.Or((test, self._between(expr, expr.high, expr.low)))
        return core.Not(test) if expr.negated else test

    def _between(self, expr: e.Between, low: e.Expr, high: e.Expr) -> core.Expression:
        above = self.compared(">=", expr.operand, low, expr)
        return core.And((above, self.compared("<=", expr.operand, high, expr)))

    @_combined.register
    def _(self, expr: e.InList) -> core.Expression:
        test = core.Or(tuple(self.compared("=", expr.operand, item, expr) for item in expr.items))
        return core.Not(test) if expr.negated else test

    @_combined.register
    def _(self, expr: e.Like) -> core.Expression:
        escape = "" if self.scope.mode == "flink" else "\\"
        if expr.escape is not None:
            if not isinstance(expr.escape, e.Literal) or len(expr.escape.value) != 1:
                raise not_over_rows(expr)
            escape = expr.escape.value
        if expr.op != "LIKE":
            raise not_over_rows(expr)
        test = core.Like(self.tree(expr.operand), self.tree(expr.pattern), escape)
        return core.Not(test) if expr.negated else test

    @_combined.register
    def _(self, expr: e.Case) -> core.Expression:
        whens = []
        for when in expr.whens:
            if expr.operand is None:
                condition = self.tree(when.condition)
            else:
                condition = self.compared("=", expr.operand, when.condition, when.condition)
            whens.append(core.When(condition, self.tree(when.result)))
        otherwise = core.Constant(None) if expr.otherwise is None else self.tree(expr.otherwise)
        return core.Case(tuple(whens), otherwise)

    @_combined.register
    def _(self, expr: e.Call) -> core.Expression:
        return call_tree(expr, self)

    # Types

    def compared(self, op: str, left: e.Expr, right: e.Expr, whole: e.Node) -> core.Expression:
        """Return a comparison of two values that are kept alike.

        Raises:
            SqlExtError: MATCH-014 if one must be converted first.
        """
        kinds = [_kind(t) for t in (self.type_of(left), self.type_of(right)) if t is not None and t.root != "NULL"]
        if len(set(kinds)) > 1 or "" in kinds:
            shown = " and ".join(t.flink() if t else "?" for t in (self.type_of(left), self.type_of(right)))
            raise SqlExtError(
                "MATCH-014",
                f"values of different rows are compared as they are, not {shown}",
                span=whole.span,
                hint="CAST one to the type of the other",
            )
        return core.Compare(op, self.tree(left), self.tree(right))

    def type_of(self, expr: e.Expr) -> LogicalType | None:
        """Return the type of an expression."""
        return infer(self._typed(expr), self.scope)

    def _typed(self, expr: e.Expr) -> e.Expr:
        """Return an expression of the same type over one row: values of other rows have the types of this one's."""
        return self.names.over_row(self.names.without_navigation(expr))

    def number(self, expr: e.Expr) -> core.Number:
        """Return the numeric type of an expression.

        Raises:
            SqlExtError: MATCH-014 if it is no number.
        """
        type_ = self.type_of(expr)
        if type_ is None or not type_.is_numeric:
            raise SqlExtError(
                "MATCH-014",
                f"values of different rows are calculated with where they are numbers, not {type_ or 'unknown'}",
                span=expr.span,
                hint="TIMESTAMPDIFF gives the time between two rows; CAST makes numbers",
            )
        return core.Number(type_.root, type_.precision or 0, type_.scale or 0)


def _kind(type_: LogicalType) -> str:
    """Return among which values the operator compares one; empty for those that it cannot."""
    if type_.is_numeric:
        return "number"
    if type_.is_text:
        return "text"
    if type_.root in ("BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "INTERVAL_DAY_TIME"):
        return type_.root
    return "bytes" if type_.root in ("BINARY", "VARBINARY") else ""


def _chain(expr: e.Expr, op: str) -> list[e.Expr]:
    """Return the operands of a chain of one operator."""
    found: list[e.Expr] = []
    pending = [expr]
    while pending:
        current = pending.pop()
        if isinstance(current, e.Binary) and current.op == op:
            pending += [current.right, current.left]
        else:
            found.append(current)
    return found


def _is_strict(part: e.Node) -> bool:
    if isinstance(part, e.Binary):
        return part.op in ARITHMETIC or (part.op in _COMPARISONS and part.op != "<=>")
    return isinstance(part, _STRICT) or (isinstance(part, e.Unary) and part.op in "+-")
