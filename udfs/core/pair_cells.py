"""The columns that conditions on pairs of rows look at (``pair_conditions``); needs no Arrow, as plans look too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlext.udfs.core import match_expressions as e


def cells(expression: e.Expression) -> Iterator[e.Cell]:
    """Yield the cells of an expression."""
    if isinstance(expression, e.Cell):
        yield expression
    elif isinstance(expression, (e.And, e.Or)):
        for item in expression.items:
            yield from cells(item)
    elif isinstance(expression, (e.Compare, e.Arithmetic)):
        yield from cells(expression.left)
        yield from cells(expression.right)
    elif isinstance(expression, (e.Not, e.Is, e.Negate)):
        yield from cells(expression.operand)


def with_cells(expression: e.Expression, place: Callable[[e.Cell], int]) -> e.Expression:
    """Return an expression whose cells look at other places."""
    if isinstance(expression, e.Cell):
        return replace(expression, value=place(expression))
    if isinstance(expression, (e.And, e.Or)):
        return replace(expression, items=tuple(with_cells(i, place) for i in expression.items))
    if isinstance(expression, (e.Compare, e.Arithmetic)):
        left, right = (with_cells(side, place) for side in (expression.left, expression.right))
        return replace(expression, left=left, right=right)
    if isinstance(expression, (e.Not, e.Is, e.Negate)):
        return replace(expression, operand=with_cells(expression.operand, place))
    return expression
