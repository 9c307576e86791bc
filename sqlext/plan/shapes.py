"""Compare expressions by structure and by what their names mean, not by their text."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sqlext.dialect.ast.expressions import Call, ColumnRef, Node, Paren
from sqlext.dialect.ast.queries import Query
from sqlext.plan.scope import Scope
from sqlext.source import Span

Shape = tuple[Any, ...]


def shape(node: Node, scope: Scope) -> Shape:
    """Return a value that is equal for expressions that mean the same in ``scope``."""
    if isinstance(node, Paren):
        return shape(node.operand, scope)
    if isinstance(node, Query):
        return ("query", node.span.text)
    if isinstance(node, ColumnRef):
        if not scope.has(node):  # a parameter of a lambda
            return ("name", node.parts)
        found = scope.find(node)
        return ("column", found.relation.alias, found.column.physical, found.column.part, found.path)
    values = [type(node).__name__]
    for f in fields(node):
        value = getattr(node, f.name)
        if f.name == "name" and isinstance(node, Call):
            value = node.function
        values.append(_value(value, scope))
    return tuple(values)


def _value(value: Any, scope: Scope) -> Any:
    if isinstance(value, Node):
        return shape(value, scope)
    if isinstance(value, tuple):
        return tuple(_value(v, scope) for v in value)
    return None if isinstance(value, Span) else value
