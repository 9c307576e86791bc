"""Random expressions over columns of values at the edges of their types."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from recorded_flink import Strs

from sqlext.analysis.expressions.rows import RowTrees
from sqlext.analysis.types.literals import constant_of
from sqlext.dialect.ast import expressions as e
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError
from sqlext.types import BIGINT, BOOLEAN, DOUBLE, FLOAT, INT, STRING, LogicalType, decimal
from sqlext_udfs.expressions import trees
from sqlext_udfs.expressions.columns import Column, Expression
from sqlext_udfs.expressions.functions import INSTANT
from sqlext_udfs.expressions.numbers import Policy
from sqlext_udfs.expressions.typed import Typed

_WIDE = Decimal(10) ** 37
_DECIMALS = [None, *map(Decimal, ("0", "1", "-1", "0.05", "99999999.99", "-12345678.91"))]
_DOUBLES = [None, 0.0, -0.0, 1.0, -2.5, 1e308, math.nan, math.inf, -math.inf, 9007199254740993.0]
_INTS = [None, 0, 1, -1, 7, 2**31 - 1, -(2**31)]
#: Column -> its types in SQL and in Arrow, and values.
COLUMNS: dict[str, tuple[LogicalType, pa.DataType, list[Any]]] = {
    "t": (LogicalType("TINYINT"), pa.int8(), [None, 0, 1, -1, 127, -128]),
    "i": (INT, pa.int32(), _INTS),
    "j": (INT, pa.int32(), _INTS),
    "b": (BIGINT, pa.int64(), [None, 0, 1, -3, 2**63 - 1, -(2**63), 9007199254740993]),
    "f": (FLOAT, pa.float32(), [None, 0.0, 1.5, -3.0, math.nan, math.inf, 3e38]),
    "d": (DOUBLE, pa.float64(), _DOUBLES),
    "x": (DOUBLE, pa.float64(), _DOUBLES),
    "m": (decimal(10, 2), pa.decimal128(10, 2), _DECIMALS),
    "n": (decimal(38, 10), pa.decimal128(38, 10), [*_DECIMALS, Decimal("9" * 28 + "." + "9" * 10), Decimal("1E-10")]),
    "o": (decimal(38, 0), pa.decimal128(38, 0), [None, Decimal(0), Decimal(3), -_WIDE, 9 * _WIDE, Decimal(10**19)]),
    "s": (STRING, pa.string(), [None, "", "a", "ab", "a%", "ä€𝄞"]),
    "r": (STRING, pa.string(), [None, "", "a", "b", "%b"]),
    "q": (BOOLEAN, pa.bool_(), [None, True, False]),
    "u": (LogicalType("TIMESTAMP_LTZ", 6), INSTANT, [None, 0, -1, 1_700_000_000_123_456]),
    "v": (LogicalType("TIMESTAMP_LTZ", 6), INSTANT, [None, 0, 999, 253_402_300_799_999_999]),
}
COUNT = 10
NAMES = list(COLUMNS)


class ColumnTrees(RowTrees):
    """Trees over the columns: a cell is a column by its place."""

    def __init__(self, scope: Strs) -> None:
        self.scope = scope

    @property
    def mode(self) -> str:
        return self.scope.mode

    def tree(self, expr: e.Expr) -> trees.Expression:
        if isinstance(expr, e.Paren):
            return self.tree(expr.operand)
        if isinstance(expr, e.Literal) and (constant := constant_of(expr)) is not None:
            return constant
        if isinstance(expr, e.ColumnRef):
            return trees.Cell(NAMES.index(expr.parts[-1]), 0)
        return self.combined(expr)

    def type_of(self, expr: e.Expr) -> LogicalType | None:
        return self.scope.type_of(expr)

    def alike(self, left: LogicalType | None, right: LogicalType | None) -> bool:
        return left is not None and right is not None

    def connected(self, expr: e.Binary) -> tuple[trees.Expression, ...]:
        return self.tree(expr.left), self.tree(expr.right)

    def refused(self, expr: e.Node) -> SqlExtError:
        return SqlExtError("JOIN-001", "refused")


_LITERALS = st.sampled_from(["0", "1", "2", "3", "0.5", "2147483647", "9223372036854775807", "12345678901.1234567"])
_COLUMNS = st.sampled_from(["t", "i", "j", "b", "f", "d", "x", "m", "n", "o"])


def _numbers(conditions: st.SearchStrategy[str]) -> st.SearchStrategy[str]:

    def more(of: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.builds("({} {} {})".format, of, st.sampled_from("+-*/%"), of),
            st.builds("(- {})".format, of),
            st.builds("CASE WHEN {} THEN {} ELSE {} END".format, conditions, of, of),
            st.builds("COALESCE({}, {})".format, of, of),
            st.builds("NULLIF({}, {})".format, of, of),
            st.builds("IF({}, {}, {})".format, conditions, of, of),
            st.builds("ABS({})".format, of),
            st.builds("{}({}, {})".format, st.sampled_from(["GREATEST", "LEAST"]), of, of),
        )

    return st.recursive(st.one_of(_COLUMNS, _COLUMNS, _LITERALS), more, max_leaves=4)


def _conditions() -> st.SearchStrategy[str]:
    compare = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
    texts, times = st.sampled_from(["s", "r", "'a'"]), st.sampled_from(["u", "v"])
    plain = st.one_of(
        st.just("q"),
        st.builds("({} {} {})".format, texts, compare, texts),
        st.builds("({} {} {})".format, times, compare, times),
        st.builds("({} LIKE {})".format, texts, st.sampled_from(["r", "'a%'", "'_'", "s"])),
    )
    numbers = st.deferred(lambda: _numbers(plain))

    def more(of: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.builds("({} AND {})".format, of, of),
            st.builds("({} OR {})".format, of, of),
            st.builds("(NOT {})".format, of),
            st.builds("({} IS {})".format, of, st.sampled_from(["NULL", "NOT NULL", "TRUE", "NOT FALSE"])),
        )

    compared = st.builds("({} {} {})".format, numbers, compare, numbers)
    # Spark computes what is BETWEEN for all rows, also behind an AND that has decided: it must not fail.
    safe = st.one_of(
        _COLUMNS, st.builds("{}({}, {})".format, st.sampled_from(["COALESCE", "NULLIF"]), _COLUMNS, _COLUMNS)
    )
    inside = st.builds("({} BETWEEN {} AND {})".format, safe, numbers, numbers)
    return st.recursive(st.one_of(compared, compared, inside, plain), more, max_leaves=4)


ROWS = st.fixed_dictionaries(
    {name: st.lists(st.sampled_from(of), min_size=COUNT, max_size=COUNT) for name, (_, _, of) in COLUMNS.items()}
)
TEXTS = st.lists(_conditions() | _numbers(_conditions()), min_size=40, max_size=40, unique=True)


TYPES = {name: of for name, (of, _, _) in COLUMNS.items()}


def parsed(text: str, scope: Strs) -> e.Expr:
    """Return a text as SQL has it."""
    return parse_expression_text(text, scope.mode)


def tree(text: str, scope: Strs) -> trees.Expression:
    """Return a text as a tree, whose cells are columns by their places.

    Raises:
        SqlExtError: for what does not mean anything.
    """
    return ColumnTrees(scope).tree(parsed(text, scope))


def policy(scope: Strs) -> Policy:
    """Return the rules of a mode."""
    return Policy("the test", wraps=scope.mode == "flink")


def typed(text: str, scope: Strs) -> Expression:
    """Return a text as an expression over the columns."""
    cells = [Column(of, name=name) for name, (_, of, _) in COLUMNS.items()]
    return Typed(lambda cell: cells[cell.value], policy(scope)).expression(tree(text, scope))
