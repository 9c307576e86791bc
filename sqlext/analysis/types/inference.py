"""Infer the type of any expression, as Flink's planner or Spark's analyser would.

None means unknown: nothing is refused on an unknown type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from sqlext.analysis.types import arithmetic, calls, constructors, literals
from sqlext.analysis.types.operands import need_condition
from sqlext.dialect.ast import expressions as e
from sqlext.dialect.ast.queries import Query
from sqlext.errors import SqlExtError
from sqlext.types import BOOLEAN, LogicalType


class TypeEnv(Protocol):
    """What an expression's type depends on besides its text."""

    @property
    def mode(self) -> str:
        """``'spark'`` or ``'flink'`` (``SET 'sqlext.expressions'``)."""

    def column_type(self, ref: e.ColumnRef) -> LogicalType | None:
        """Return the type of a column or of a field path below it, or None."""

    def query_type(self, query: Query) -> LogicalType | None:
        """Return the type of the only column of a sub-query, or None."""


class TypeInference:
    """Infers types in one environment and remembers them per node: ask one object for all of a query."""

    def __init__(self, env: TypeEnv) -> None:
        self.env = env
        self.mode = env.mode
        self._known: dict[int, tuple[e.Node, LogicalType | None]] = {}
        self._parameters: dict[str, LogicalType | None] = {}

    def type_of(self, expr: e.Node) -> LogicalType | None:
        """Return the type of an expression, or None where it is not known.

        Raises:
            SqlExtError: as :func:`infer`.
        """
        key = id(expr)
        if key not in self._known:
            # The node is kept too, so that its id is not given to another one.
            self._known[key] = (expr, _RULES.get(type(expr), _unknown)(expr, self))
        return self._known[key][1]

    @contextmanager
    def within(self, parameters: Mapping[str, LogicalType | None]) -> Iterator[None]:
        """Let expressions use the parameters of a lambda beside those around it, by their names in lower case."""
        around = self._parameters
        self._parameters = {**around, **parameters}
        try:
            yield
        finally:
            self._parameters = around

    def parameter_type(self, name: str) -> LogicalType | None:
        """Return the type of a parameter, None where it is not known."""
        return self._parameters.get(name.lower())


def infer(expr: e.Expr, env: TypeEnv) -> LogicalType | None:
    """Return the type of an expression, or None where it is not known.

    Raises:
        SqlExtError: TYPE-... where the types cannot be combined (Flink's rules, flink mode only),
            FUNC-001 for an unknown function, FUNC-002 for a wrong number of arguments.
    """
    return TypeInference(env).type_of(expr)


def infer_condition(expr: e.Expr, env: TypeEnv) -> LogicalType | None:
    """Return the type of what decides on rows, as WHERE, HAVING and ON do.

    Raises:
        SqlExtError: as :func:`infer`, and TYPE-003 if it is not BOOLEAN.
    """
    types = TypeInference(env)
    type_ = types.type_of(expr)
    need_condition(expr, type_)
    return type_


def _unknown(expr: e.Node, types: TypeInference) -> LogicalType | None:
    return None


def _column(expr: e.ColumnRef, types: TypeInference) -> LogicalType | None:
    return types.env.column_type(expr)


def _parameter(expr: e.Parameter, types: TypeInference) -> LogicalType | None:
    return types.parameter_type(expr.name)


def _lambda(expr: e.Lambda, types: TypeInference) -> LogicalType | None:
    message = "a lambda stands in the parentheses of a function that takes one"
    raise SqlExtError("FUNC-002", message, span=expr.span, hint="TRANSFORM(items, x -> x + 1) has one")


def _paren(expr: e.Paren, types: TypeInference) -> LogicalType | None:
    return types.type_of(expr.operand)


def _named_argument(expr: e.NamedArgument, types: TypeInference) -> LogicalType | None:
    return types.type_of(expr.value)


def _query(expr: e.ScalarQuery, types: TypeInference) -> LogicalType | None:
    type_ = types.env.query_type(expr.query)
    # A scalar sub-query without a row is NULL, even if its column is NOT NULL.
    return type_.as_nullable() if type_ else None


def _exists(expr: e.Exists, types: TypeInference) -> LogicalType | None:
    return BOOLEAN.not_null()


def _in_query(expr: e.InQuery, types: TypeInference) -> LogicalType | None:
    types.type_of(expr.operand)
    return BOOLEAN


def _all_of(expr: e.AllOf, types: TypeInference) -> LogicalType | None:
    for operand in expr.operands:
        types.type_of(operand)
    return BOOLEAN


def _subscript(expr: e.Subscript, types: TypeInference) -> LogicalType | None:
    """Refuse a literal index that no array has, as Flink's planner does."""
    type_, index = types.type_of(expr.operand), expr.index
    if (
        types.mode == "flink"
        and type_
        and type_.root == "ARRAY"
        and isinstance(index, e.Literal)
        and index.value == "0"
    ):
        raise SqlExtError("TYPE-001", "arrays count from 1: there is no element 0", span=index.span)
    return constructors.subscript_type(expr, types)


_RULES: dict[type[e.Node], Callable[[Any, TypeInference], LogicalType | None]] = {
    e.ColumnRef: _column,
    e.Parameter: _parameter,
    e.Paren: _paren,
    e.Lambda: _lambda,
    e.NamedArgument: _named_argument,
    e.ScalarQuery: _query,
    e.Exists: _exists,
    e.AllOf: _all_of,
    e.InQuery: _in_query,
    e.ListComparison: arithmetic.list_comparison_type,
    e.QueryComparison: arithmetic.query_comparison_type,
    e.Call: calls.call_type,
    e.Literal: literals.literal_type,
    e.Interval: literals.interval_type,
    e.Cast: constructors.cast_type,
    e.Unary: arithmetic.unary_type,
    e.Binary: arithmetic.binary_type,
    e.Difference: arithmetic.difference_type,
    e.Between: arithmetic.between_type,
    e.InList: arithmetic.in_list_type,
    e.Like: arithmetic.like_type,
    e.IsTest: arithmetic.is_test_type,
    e.Case: constructors.case_type,
    e.RowValue: constructors.row_type,
    e.ArrayValue: constructors.array_type,
    e.MapValue: constructors.map_type,
    e.Subscript: _subscript,
    e.FieldAccess: constructors.field_type,
}
