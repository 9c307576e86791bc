"""Find comparisons that are never true, whatever the row."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError

_COMPARISONS = ("=", "<>", "!=", "<", "<=", ">", ">=")
#: Those that are not true of a value and itself. NaN differs from itself in Flink, so ``<>`` may be meant.
_STRICT = ("<", ">")
#: What tells NULL where an operator is written.
_TESTS = {"=": "IS NULL", "<>": "IS NOT NULL", "!=": "IS NOT NULL"}


def never_true(node: e.Node) -> Iterator[SqlExtError]:
    """Yield WARN-010 for each comparison in a statement, or another node, that is never true."""
    for part in node.walk():
        found = _reason(part)
        if found is not None:
            why, hint = found
            yield SqlExtError("WARN-010", f"`{part.span.one_line}` is never true: {why}", span=part.span, hint=hint)


def _reason(node: e.Node) -> tuple[str, str] | None:
    """Return why a node is never true and what to write; None if it may be."""
    match node:
        case e.Binary(op=op, left=left, right=right) if op in _COMPARISONS:
            return _of_comparison(op, left, right)
        case e.InList(items=items, negated=True) if any(map(_is_null, items)):
            return "a value that is not in the list is compared with its NULL too", "leave NULL out of the list"
        case e.InList(operand=operand, items=items, negated=False) if all(map(_is_null, items)):
            return _of_null(operand, "IS NULL")
        case e.Between(operand=operand, low=low, high=high, negated=False):
            return _of_range(operand, low, high, symmetric=node.symmetric)
        case e.Like(operand=operand, pattern=pattern) if _is_null(pattern):
            return _of_null(operand, "IS NOT NULL" if node.negated else "IS NULL")
        case e.When(condition=condition) if _is_null(condition):
            return "a comparison with NULL is NULL", "CASE WHEN x IS NULL THEN ..."
    return None


def _of_comparison(op: str, left: e.Expr, right: e.Expr) -> tuple[str, str] | None:
    if _is_null(left) or _is_null(right):
        return _of_null(left if _is_null(right) else right, _TESTS.get(op, "IS NULL"))
    same = isinstance(left, e.ColumnRef) and isinstance(right, e.ColumnRef) and left.parts == right.parts
    if same and op in _STRICT:
        return "both sides are the same column", "compare it with another one"
    return None


def _of_range(operand: e.Expr, low: e.Expr, high: e.Expr, *, symmetric: bool) -> tuple[str, str] | None:
    if _is_null(low) or _is_null(high):
        return _of_null(operand, "IS NULL")
    first, last = _number(low), _number(high)
    if not symmetric and first is not None and last is not None and first > last:
        return "the first bound is greater than the second", f"BETWEEN {high.span.one_line} AND {low.span.one_line}"
    return None


def _of_null(other: e.Expr, test: str) -> tuple[str, str]:
    return "a comparison with NULL is NULL", f"{other.span.one_line} {test}"


def _is_null(node: e.Expr) -> bool:
    while isinstance(node, (e.Paren, e.Cast)):
        node = node.operand
    return isinstance(node, e.Literal) and node.kind == "NULL"


def _number(node: e.Expr) -> Decimal | None:
    if isinstance(node, e.Unary) and node.op == "-":
        found = _number(node.operand)
        return None if found is None else -found
    if not isinstance(node, e.Literal) or node.kind != "NUMBER":
        return None
    try:
        return Decimal(node.value)
    except ArithmeticError:  # with a suffix, as 1L
        return None
