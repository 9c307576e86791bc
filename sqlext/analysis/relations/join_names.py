"""Tell which side of a join an expression looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlext.dialect.ast.expressions import ColumnRef, Exists, Expr, InQuery, ScalarQuery
from sqlext.plan.scope import Scope, own_parts

LEFT, RIGHT = "left", "right"


@dataclass(frozen=True)
class JoinNames:
    """The names of both sides.

    Attributes:
        left, right: the scope of each side alone.
        side_of: returns the side of a column reference (``LEFT``, ``RIGHT``).
    """

    left: Scope
    right: Scope
    side_of: Callable[[ColumnRef], str]

    def sides_of(self, expr: Expr) -> frozenset[str]:
        """Return the sides that an expression looks at; one with a sub-query counts as of both."""
        parts = list(own_parts(expr))
        if any(isinstance(p, (Exists, InQuery, ScalarQuery)) for p in parts):
            return frozenset((LEFT, RIGHT))
        return frozenset(self.side_of(p) for p in parts if isinstance(p, ColumnRef))
