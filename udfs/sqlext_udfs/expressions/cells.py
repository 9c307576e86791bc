"""The columns that conditions on pairs of rows look at (``expressions.pairs``); needs no Arrow, as plans look too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import cast

from sqlext_udfs.expressions import trees as e


def cells(expression: e.Expression) -> Iterator[e.Cell]:
    """Yield the cells of an expression."""
    return _cells(expression)


def with_cells(expression: e.Expression, place: Callable[[e.Cell], int]) -> e.Expression:
    """Return an expression whose cells look at other places."""
    return cast("e.Expression", _with_cells(expression, place))


def _cells(part: object) -> Iterator[e.Cell]:
    if isinstance(part, e.Cell):
        yield part
    elif isinstance(part, tuple):
        for item in part:
            yield from _cells(item)
    elif is_dataclass(part):
        for name in fields(part):
            yield from _cells(getattr(part, name.name))


def _with_cells(part: object, place: Callable[[e.Cell], int]) -> object:
    if isinstance(part, e.Cell):
        return replace(part, value=place(part))
    if isinstance(part, tuple):
        return tuple(_with_cells(item, place) for item in part)
    if is_dataclass(part) and not isinstance(part, type):
        # By fields: a new kind of expression needs no rule here.
        return replace(part, **{f.name: _with_cells(getattr(part, f.name), place) for f in fields(part)})
    return part
