"""Collect the names that a SELECT uses: a join keeps no other columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlext.dialect.ast.expressions import ColumnRef, Node, Star
from sqlext.dialect.ast.queries import Join, Relation, Select


def used_names(select: Select, joined: Join | None = None) -> frozenset[str] | None:
    """Return the names in a SELECT and its sub-queries, in lower case; None if it may take any.

    Args:
        select: with that join in its FROM.
        joined: the conditions of this join, and of joins below it, do not count: they are asked before it gives rows.
    """
    if select.emit is not None or any(isinstance(i.expr, Star) for i in select.items):  # a late table takes rows whole
        return None
    names: set[str] = set()
    pending: list[Node] = [select]
    while pending:
        node = pending.pop()
        if joined is not None and isinstance(node, Join) and node.span == joined.span:
            pending += _relations(node)
            continue
        if isinstance(node, ColumnRef):
            # All parts: which one is the column, and which a qualifier or a field, is not resolved yet.
            names.update(p.lower() for p in node.parts)
        elif isinstance(node, Join):
            if node.natural:
                return None
            names.update(u.lower() for u in node.using)
        pending += node.children()
    return frozenset(names)


def names_of(expressions: Iterable[Node]) -> frozenset[str]:
    """Return the names in expressions, in lower case."""
    parts = (part for e in expressions for part in e.walk())
    return frozenset(p.lower() for ref in parts if isinstance(ref, ColumnRef) for p in ref.parts)


def _relations(join: Join) -> Iterator[Relation]:
    """Yield what a join joins, without the joins among it."""
    for side in (join.left, join.right):
        if isinstance(side, Join):
            yield from _relations(side)
        else:
            yield side
