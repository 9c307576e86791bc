"""Compile conditions of a join that are no comparison of both sides to trees over pairs of rows.

SQL computes what looks at one side alone, in a column of that side; ``rows`` compiles what combines both.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlext.analysis.expressions.rows import RowTrees, divides
from sqlext.analysis.relations.join_names import LEFT, RIGHT, JoinNames
from sqlext.analysis.types.coercion import least_restrictive
from sqlext.analysis.types.inference import infer
from sqlext.analysis.types.literals import constant_of
from sqlext.dialect.ast import expressions as e
from sqlext.dialect.ast.queries import Query
from sqlext.errors import SqlExtError
from sqlext.plan.scope import Shape, shape
from sqlext.types import LogicalType
from sqlext_udfs.expressions import trees as core

_SIDES = (LEFT, RIGHT)


@dataclass
class PairTrees(RowTrees):
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
            return self._of_one(expr, 1 if sides == {RIGHT} else 0)
        if isinstance(expr, e.AllOf):
            return core.And(tuple(map(self.tree, expr.operands)))
        return self.combined(expr)

    def _of_one(self, expr: e.Expr, side: int) -> core.Expression:
        """Return what looks at one side: SQL computes it for all rows, so a division is left to the pairs that ask."""
        if divides(expr):
            try:
                return self.combined(expr)
            except SqlExtError:  # only SQL can
                pass
        return self._cell(expr, side)

    def _cell(self, expr: e.Expr, side: int) -> core.Cell:
        scope = (self.names.left, self.names.right)[side]
        infer(expr, scope)
        shapes, own = self._shapes[side], shape(expr, scope)
        # What means the same is one column of the side, however often conditions look at it.
        if own not in shapes:
            shapes.append(own)
            self.values[side].append(expr)
        return core.Cell(shapes.index(own), side)

    def connected(self, expr: e.Binary) -> tuple[core.Expression, ...]:
        """Return both sides: fingerprints of queries have chains as they are written."""
        return self.tree(expr.left), self.tree(expr.right)

    def type_of(self, expr: e.Expr) -> LogicalType | None:
        """Return the type of an expression of both sides, None if it is not known."""
        # Both scopes at once, as the sides of a combined expression may have columns of one name.
        return infer(expr, _BothSides(self.names))

    def alike(self, left: LogicalType | None, right: LogicalType | None) -> bool:
        """Whether the operator compares values of two types as SQL does; types that are not known are not sure to."""
        if left is None or right is None:
            return False
        both_are = any(all(getattr(t, family) for t in (left, right)) for family in ("is_numeric", "is_text"))
        if "NULL" in (left.root, right.root) or both_are:
            return True
        common = least_restrictive((left, right)) if left.root == right.root else None
        return common is not None and left.spark() == right.spark() and common.root not in ("MAP", "MULTISET")

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
