"""Replace nodes inside parsed expressions.

A replacement keeps the span of what it replaces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar

from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.ast.queries import Query

N = TypeVar("N", bound=Node)


def substitute(node: N, rule: Callable[[Node], Node | None]) -> N:
    """Return ``node`` with every sub-node that ``rule`` answers for replaced; sub-queries are left alone."""
    found = rule(node)
    if found is not None:
        return found  # type: ignore[return-value]
    changes: dict[str, Any] = {}
    for f in fields(node):
        value = getattr(node, f.name)
        changed = _value(value, rule)
        if changed is not value:
            changes[f.name] = changed
    return replace(node, **changes) if changes else node


def _value(value: Any, rule: Callable[[Node], Node | None]) -> Any:
    if isinstance(value, Node):
        return value if isinstance(value, Query) else substitute(value, rule)
    if isinstance(value, tuple) and value:
        # What did not change stays the same object: types and sub-queries are remembered by its id.
        items = tuple(_value(v, rule) for v in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value
