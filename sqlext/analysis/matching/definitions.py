"""Compile the conditions of DEFINE to trees that the operator evaluates.

SQL computes what looks at the row to be taken alone. ``expressions.rows`` compiles what combines rows; this module adds
COUNT, SUM, AVG, MIN and MAX.
"""

from __future__ import annotations

from sqlext.analysis.expressions.rows import COMPARISONS, RowTrees
from sqlext.analysis.matching.names import Names
from sqlext.analysis.matching.values import MatchValues
from sqlext.analysis.names.substitution import substitute
from sqlext.analysis.types.arithmetic import ARITHMETIC
from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.inference import infer
from sqlext.analysis.types.literals import constant_of
from sqlext.dialect.ast import expressions as e
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError
from sqlext.plan.matching import InputValue
from sqlext.plan.scope import own_parts
from sqlext.source import SourceText
from sqlext.types import BIGINT, DOUBLE, LogicalType
from sqlext_udfs.expressions import trees as core

_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")
#: Expressions of one row that are NULL where there is no row.
_STRICT = (e.ColumnRef, e.Literal, e.Paren, e.FieldAccess, e.Subscript, e.Cast, e.Interval)
#: Is NULL, as a value of a row, only where there is no row.
_TRUE = e.Literal(SourceText.of("TRUE").span(0, 4), "BOOLEAN", "TRUE")


class BoundDefinition(RowTrees):
    """Makes the condition of one variable.

    Args:
        names: what names mean.
        own: the variable.
        values: collects what conditions look at.
    """

    def __init__(self, names: Names, own: int, values: MatchValues) -> None:
        self.names = names
        self.own = own
        self.values = values
        self.scope = names.scope

    @property
    def mode(self) -> str:
        """``'spark'`` or ``'flink'``."""
        return self.scope.mode

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
            number = self.values.number(InputValue(navigated.of))
            return navigated.cell(number)
        known = self.values.mark()
        try:
            return self.combined(expr)
        except SqlExtError as error:
            self.values.forget(known)
            moved = self._of_one_row(expr) if error.code == "MATCH-014" else None
            if moved is None:
                raise
            return moved

    def _of_one_row(self, expr: e.Expr) -> core.Expression | None:
        """Return an expression of one navigated row, such as ``LAST(A.ts, 1) + INTERVAL '1' MINUTE``; else None.

        SQL computes it of each row, and the operator navigates to its result.
        """
        calls = self._navigating(expr)
        found = [self.names.navigation(call) for call in calls]
        values = [call.args[0] for call in calls]
        places = {n.cell(0) for n in found if n is not None}
        columns = [p for p in own_parts(expr) if isinstance(p, e.ColumnRef)]
        if (
            len(places) != 1
            or not all(map(self.names.is_single, values))
            or not all(_within(c, calls) for c in columns)
        ):
            return None
        # As text: what SQL computes is copied from where it is written.
        of_row = parse_expression_text(_spliced(expr, list(zip(calls, values, strict=True))), self.mode)
        if not self.names.is_single(of_row):
            return None
        place = next(n for n in found if n is not None)
        cell = place.cell(self.value(of_row))
        if all(_is_strict(p) for p in own_parts(of_row)):
            return cell
        there = place.cell(self.values.number(InputValue(_TRUE)))
        missing = core.Cell(self.value(of_row, absent=True), self.own)
        return core.Case((core.When(core.Is(there, "NULL"), missing),), cell)

    def _navigating(self, expr: e.Expr) -> list[e.Call]:
        """Return the calls of an expression that navigate; none of those within them."""
        found: list[e.Call] = []

        def rule(node: e.Node) -> e.Node | None:
            if not isinstance(node, e.Call) or self.names.navigation(node) is None:
                return None
            found.append(node)
            return node

        substitute(expr, rule)
        return found

    def _current(self, group: int) -> int:
        """Return a group; the last of all rows is the one that is to be taken."""
        return self.own if group == self.names.everything else group

    def value(self, expr: e.Expr, *, absent: bool = False) -> int:
        """Return the number of a value of one row; ``absent``: of a row that is not there."""
        return self.values.number(InputValue(self.names.over_row(expr), absent))

    def _of_other(self, expr: e.Expr, group: int) -> core.Expression:
        """Return a value of the last row of another variable, which may have none: then it is that of no columns."""
        cell = core.Cell(self.value(expr), group)
        if all(_is_strict(p) for p in own_parts(expr)):
            return cell
        there = core.Cell(self.values.number(InputValue(_TRUE)), group)
        # COALESCE(B.x, 0) is 0, not NULL, while B has no row: SQL computes it once more with NULL in all columns.
        missing = core.Cell(self.value(expr, absent=True), self.own)
        return core.Case((core.When(core.Is(there, "NULL"), missing),), cell)

    def connected(self, expr: e.Binary) -> tuple[core.Expression, ...]:
        """Return all that a chain of one operator connects."""
        return tuple(self.tree(x) for x in _chain(expr, expr.op))

    def call(self, call: e.Call) -> core.Expression:
        """Return a call as a tree: an aggregate over rows so far, or a function."""
        if is_aggregate(call, self.mode):
            return _aggregate(call, self)
        return super().call(call)

    def compared(self, op: str, left: e.Expr, right: e.Expr, whole: e.Node) -> core.Expression:
        """Return a comparison; a text that meets a number is read as one."""
        # Flink refuses = and <> of a text and a number, in any query.
        if self.mode == "spark" or op in ("<", "<=", ">", ">="):
            left, right = self._read_as(left, right), self._read_as(right, left)
        return super().compared(op, left, right, whole)

    def _read_as(self, expr: e.Expr, other: e.Expr) -> e.Expr:
        """Return a text as the number that Flink, and Spark, compare with another: BIGINT or DOUBLE."""
        own, number = self.type_of(expr), self.type_of(other)
        if own is None or number is None or not own.is_text or not number.is_numeric or number.root == "DECIMAL":
            return expr
        to = DOUBLE if number.is_approximate else BIGINT
        return parse_expression_text(f"CAST({expr.span.text} AS {to})", self.mode)

    # Types

    def alike(self, left: LogicalType | None, right: LogicalType | None) -> bool:
        """Whether the operator compares values of two types; where one is not known it is taken to."""
        kinds = {_kind(t) for t in (left, right) if t is not None and t.root != "NULL"}
        return len(kinds) <= 1 and "" not in kinds

    def type_of(self, expr: e.Expr) -> LogicalType | None:
        """Return the type of an expression."""
        return infer(self._typed(expr), self.scope)

    def _typed(self, expr: e.Expr) -> e.Expr:
        """Return an expression of the same type over one row: values of other rows have the types of this one's."""
        return self.names.over_row(self.names.without_navigation(expr))

    # What cannot be

    def refused(self, expr: e.Node) -> SqlExtError:
        """Return MATCH-014: the operator cannot compute this from several rows."""
        shown = expr.span.one_line
        return SqlExtError(
            "MATCH-014",
            f"{shown if len(shown) <= 60 else shown[:57] + '...'} cannot be computed from several rows of a match",
            span=expr.span,
            hint="compute it of one row each and compare: F(A.x) > LAST(F(B.x)); or check it in WHERE over MEASURES",
        )

    def unlike(self, left: e.Expr, right: e.Expr, whole: e.Node) -> SqlExtError:
        """Return MATCH-014 for values of which one must be converted first."""
        shown = " and ".join(t.flink() if t else "?" for t in (self.type_of(left), self.type_of(right)))
        return SqlExtError(
            "MATCH-014",
            f"values of different rows are compared as they are, not {shown}",
            span=whole.span,
            hint="CAST one to the type of the other",
        )

    def no_number(self, expr: e.Expr) -> SqlExtError:
        """Return MATCH-014 for what is calculated with, and is no number."""
        type_ = self.type_of(expr)
        return SqlExtError(
            "MATCH-014",
            f"values of different rows are calculated with where they are numbers, not {type_ or 'unknown'}",
            span=expr.span,
            hint="TIMESTAMPDIFF gives the time between two rows; CAST makes numbers",
        )


def _aggregate(call: e.Call, trees: BoundDefinition) -> core.Expression:
    """Return an aggregate as a tree.

    Raises:
        SqlExtError: MATCH-012 to MATCH-014 for one that the operator does not know.
    """
    if call.function not in _AGGREGATES or call.distinct or call.filter is not None or len(call.args) > 1:
        raise SqlExtError(
            "MATCH-014",
            f"{call.name} cannot be asked for in DEFINE like this",
            span=call.span,
            hint="DEFINE has COUNT, SUM, AVG, MIN and MAX of the rows so far, without DISTINCT and FILTER",
        )
    of = next((a for a in call.args if isinstance(a, e.Expr) and not isinstance(a, e.Star)), None)
    group = trees.names.only_group(call, call.function)
    if of is None:
        return core.Running("count", None, group)
    if not trees.names.is_single(of):
        raise SqlExtError("MATCH-013", f"{call.function} takes columns of one row", span=of.span)
    value = trees.value(of)
    if call.function in ("COUNT", "MIN", "MAX"):
        return core.Running(call.function.lower(), value, group)
    result = trees.number(call)
    if call.function == "SUM":
        return core.Running("sum", value, group, result)
    total = core.Running("sum", value, group, _exact(trees.type_of(of), result))
    return core.Arithmetic("/", total, core.Running("count", value, group), result)


# The division comes last, so the sum must not overflow in the narrower type of the result.
def _exact(of: LogicalType | None, result: core.Number) -> core.Number:
    """Return the type in which AVG sums up."""
    if of is None or of.is_approximate:
        return core.Number("DOUBLE")
    if of.root == "DECIMAL":
        return core.Number("DECIMAL", 38, of.scale or 0)
    return core.Number("BIGINT" if result.root in ("TINYINT", "SMALLINT", "INT", "BIGINT") else "DOUBLE")


def _kind(type_: LogicalType) -> str:
    """Return among which values the operator compares one; empty for those that it cannot."""
    if type_.is_numeric:
        return "number"
    if type_.is_text:
        return "text"
    if type_.root in ("BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "INTERVAL_DAY_TIME"):
        return type_.root
    return "bytes" if type_.root in ("BINARY", "VARBINARY") else ""


# With a loop: a generated condition may have more links than Python's recursion allows.
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


def _within(part: e.Node, calls: list[e.Call]) -> bool:
    return any(c.span.start <= part.span.start and part.span.end <= c.span.end for c in calls)


def _spliced(expr: e.Expr, edits: list[tuple[e.Call, e.Node]]) -> str:
    """Return the text of an expression with its calls replaced by what they navigate to."""
    text, end = "", expr.span.start
    for call, value in edits:
        text += f"{expr.span.source.text[end : call.span.start]}({value.span.text})"
        end = call.span.end
    return text + expr.span.source.text[end : expr.span.end]


def _is_strict(part: e.Node) -> bool:
    if isinstance(part, e.Binary):
        return part.op in ARITHMETIC or (part.op in COMPARISONS and part.op != "<=>")
    return isinstance(part, _STRICT) or (isinstance(part, e.Unary) and part.op in "+-")
