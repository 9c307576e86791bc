"""How the tests of the dialect look at trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from sqlext.dialect.ast.expressions import ColumnRef, Literal, Star
from sqlext.source import Span
from sqlext.types import LogicalType

_PLACES = (
    "span",
    "name_span",
    "type_span",
    "key_span",
    "value_span",
    "late_span",
    "places",
    "name_spans",
    "column_spans",
    "option_places",
    "argument_places",
)


def render(value: Any) -> str:
    """Return a tree without its places: ``Binary(+, a, 1)``; fields at their default are left out."""
    if isinstance(value, ColumnRef):
        return ".".join(value.parts)
    if isinstance(value, Literal):
        return repr(value.value) if value.kind == "STRING" else f"{value.kind} {value.value}".removeprefix("NUMBER ")
    if isinstance(value, Star):
        return ".".join((*value.qualifier, "*"))
    if isinstance(value, Span):
        return f"<{value.text}>"
    if isinstance(value, LogicalType):
        return str(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(map(render, value)) + "]"
    if dataclasses.is_dataclass(value):
        return f"{type(value).__name__}({', '.join(_fields(value))})"
    return str(value)


def _fields(node: Any) -> list[str]:
    parts = []
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if field.name in _PLACES or value == field.default:
            continue
        required = field.default is dataclasses.MISSING
        parts.append(render(value) if required else f"{field.name}={render(value)}")
    return parts


@pytest.fixture(scope="session")
def shape() -> Callable[[Any], str]:
    """Return the function that renders a tree without its places."""
    return render
