"""Tell which expressions can fail for some rows: those whose failure makes a row a dead letter.

Other functions can fail too. For these a row still fails its query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum

from sqlext.analysis.types.decimals import BIGINT_DIGITS, INTEGER_DIGITS
from sqlext.dialect.ast import expressions as e
from sqlext.dialect.ast.queries import Query
from sqlext.types import LogicalType

TypeOf = Callable[[e.Expr], "LogicalType | None"]


class RowFailure(Enum):
    """How an expression fails: the code of the error, and what it is called."""

    CAST = "RUN-046", "the value cannot be cast"
    TIME = "RUN-046", "the text is no such time"
    DIVISION = "RUN-040", "division by zero"
    OVERFLOW = "RUN-041", "the number is too large for its type"
    ELEMENT = "RUN-048", "the array has no such element"
    PYTHON = "RUN-047", "the Python function raised"

    @property
    def code(self) -> str:
        """The code of the error."""
        return self.value[0]

    @property
    def why(self) -> str:
        """What is wrong with the row."""
        return self.value[1]


#: Spark's functions that read a time of a text, and fail where it is none.
TIMES = ("TO_TIMESTAMP", "TO_DATE")
DIVIDES = ("/", "%", "DIV")
_ADDS = ("+", "-", "*")


def failure_of(node: e.Node, type_of: TypeOf, mode: str) -> RowFailure | None:
    """Return how a node itself can fail, whatever its operands do; None if it cannot.

    Args:
        type_of: the type of an expression, None if it is unknown.
        mode: whose meaning expressions have, ``spark`` or ``flink``.
    """
    if isinstance(node, e.Cast):
        return None if node.try_ or not judged(type_of(node.operand), node.type) else RowFailure.CAST
    if isinstance(node, e.Binary):
        return _of_arithmetic(node, type_of, mode)
    if isinstance(node, e.Subscript) and mode == "spark":
        of = type_of(node.operand)
        return RowFailure.ELEMENT if of is not None and of.root == "ARRAY" else None
    if isinstance(node, e.Call) and node.python is not None:
        return RowFailure.PYTHON
    if isinstance(node, e.Call) and mode == "spark" and node.function in TIMES and node.args:
        return RowFailure.TIME
    return None


def first_failing(expr: e.Node, type_of: TypeOf, mode: str) -> e.Node | None:
    """Return the first part of an expression that can fail, None if nothing in it can."""
    return next((node for node in parts(expr) if failure_of(node, type_of, mode) is not None), None)


def parts(node: e.Node) -> Iterator[e.Node]:
    """Yield a node and what it is computed from for the row, operands first; the bodies of lambdas are left out."""
    for child in node.children():
        if not isinstance(child, (Query, e.Lambda)):
            yield from parts(child)
    yield node


def _of_arithmetic(node: e.Binary, type_of: TypeOf, mode: str) -> RowFailure | None:
    if node.op not in (*DIVIDES, *_ADDS):
        return None
    left, right = type_of(node.left), type_of(node.right)
    if left is None or right is None or not (left.is_numeric and right.is_numeric):
        return None
    inexact = left.is_approximate or right.is_approximate
    if node.op in DIVIDES:  # Flink divides inexact numbers by zero, to Infinity
        return None if (inexact and mode == "flink") or _is_not_zero(node.right) else RowFailure.DIVISION
    return None if inexact or mode == "flink" else RowFailure.OVERFLOW  # Flink's integers wrap around


def _is_not_zero(node: e.Expr) -> bool:
    """Whether this is a number as written, with a digit before its exponent or suffix that is no zero."""
    return isinstance(node, e.Literal) and node.kind == "NUMBER" and _NOT_ZERO.match(node.value) is not None


_NOT_ZERO = re.compile(r"[0.]*[1-9]")
_NESTED = ("ARRAY", "MAP", "ROW", "MULTISET")
_MOMENTS = ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ")
#: How many digits the integers have.
_DIGITS = {**INTEGER_DIGITS, "BIGINT": BIGINT_DIGITS["flink"]}
_WIDER = ("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE")


def judged(from_: LogicalType | None, to: LogicalType) -> bool:
    """Whether a cast may have no result, and NULL in place of it tells that.

    Of arrays, maps and rows the parts would be NULL, which tells nothing: such a cast fails its query.
    """
    return to.root not in _NESTED and not always_fits(from_, to)


def always_fits(from_: LogicalType | None, to: LogicalType) -> bool:
    """Whether a cast has a result for every value."""
    if from_ is None:
        return False
    if to.is_text or from_.as_nullable() == to.as_nullable() or {from_.root, to.root} <= {*_MOMENTS}:
        return True
    if to.root == "DECIMAL" and from_.root in ("DECIMAL", *_DIGITS):
        digits, scale = (
            (from_.precision or 0, from_.scale or 0) if from_.root == "DECIMAL" else (_DIGITS[from_.root], 0)
        )
        whole = (to.precision or 0) - (to.scale or 0)
        return (to.scale or 0) >= scale and whole >= digits - scale
    if from_.root in _WIDER and to.root in _WIDER:
        return _WIDER.index(from_.root) <= _WIDER.index(to.root)
    return from_.is_numeric and to.is_approximate
