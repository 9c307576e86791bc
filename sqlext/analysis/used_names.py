"""Which names a SELECT looks at: what it does not name need not be kept by a join."""

from __future__ import annotations

from sqlext.dialect.expression_nodes import ColumnRef, Node, Star
from sqlext.dialect.query_nodes import Join, Select, SubqueryRef


def used_names(select: Select) -> frozenset[str] | None:
    """Return the names in a SELECT and its sub-queries, in lower case; None if it may take any."""
    if select.emit is not None or any(isinstance(i.expr, Star) for i in select.items):  # a late table takes rows whole
        return None
    names: set[str] = set()
    pending: list[Node] = [select]
    while pending:
        node = pending.pop()
        if isinstance(node, ColumnRef):
            names.update(p.lower() for p in node.parts)
        elif isinstance(node, Join):
            if node.natural:
                return None
            names.update(u.lower() for u in node.using)
        elif isinstance(node, SubqueryRef) and node.lateral and any(isinstance(p, Star) for p in node.walk()):
            return None  # its FROM is joined to the left side, and gives all its columns
        pending += node.children()
    return frozenset(names)
