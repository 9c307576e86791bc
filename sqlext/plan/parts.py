"""Walk the parts of an expression that belong to its own SELECT. Sub-queries have scopes of their own."""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.ast.queries import Query


def own_parts(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, depth first, without the insides of sub-queries."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending += [child for child in current.children() if not isinstance(child, Query)]
