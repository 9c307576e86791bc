"""Types of expressions, as Flink's planner or Spark's analyser would infer them.

None means unknown: nothing is refused on an unknown type.
"""

from __future__ import annotations

from typing import Protocol

from sqlext.dialect.expression_nodes import ColumnRef, Expr
from sqlext.dialect.query_nodes import Query
from sqlext.types import LogicalType


class TypeEnv(Protocol):
    """What an expression's type depends on besides its text."""

    @property
    def mode(self) -> str:
        """``'spark'`` or ``'flink'`` (``SET 'sqlext.expressions'``)."""

    def column_type(self, ref: ColumnRef) -> LogicalType | None:
        """Return the type of a column or of a field path below it, or None."""

    def query_type(self, query: Query) -> LogicalType | None:
        """Return the type of the only column of a sub-query, or None."""


def infer(expr: Expr, env: TypeEnv) -> LogicalType | None:
    """Return the type of an expression, or None where it is not known.

    Raises:
        SqlExtError: TYPE-... where the types cannot be combined (Flink's rules, flink mode only),
            FUNC-001 for an unknown function, FUNC-002 for a wrong number of arguments.
    """
    raise NotImplementedError
