"""Tell what a LATERAL sub-query that puts rows together asks of its left side: a key, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlext.analysis.names.substitution import substitute
from sqlext.dialect.ast.expressions import Binary, ColumnRef, Exists, Expr, InQuery, Node, ScalarQuery, and_parts
from sqlext.dialect.ast.queries import OrderItem, Query, SelectItem
from sqlext.errors import SqlExtError
from sqlext.plan.scope import Scope, own_parts

_Parts = tuple[Expr, ...]


@dataclass(frozen=True)
class Keys:
    """The WHERE of a LATERAL query, taken apart.

    Attributes:
        inner: what is equated with the left side, of columns of the query's own FROM.
        around: the conditions that equate it.
        own: the conditions on the query's own rows.
    """

    inner: _Parts
    around: _Parts
    own: _Parts

    def around_columns(self, columns: Sequence[ColumnRef]) -> _Parts:
        """Return the conditions with these columns in place of ``inner``."""
        of = dict(zip(map(id, self.inner), columns, strict=True))
        return tuple(substitute(part, lambda node: of.get(id(node))) for part in self.around)


def keys_of(where: Expr | None, inner: Scope) -> Keys | None:
    """Return the keys of a LATERAL query; None if there is none, or another condition on both sides.

    Args:
        where: of the query.
        inner: the names of its FROM.
    """
    keys: list[Expr] = []
    around: list[Expr] = []
    own: list[Expr] = []
    for part in and_parts(where):
        if is_own(part, inner):
            own.append(part)
            continue
        qualified = _qualified(part, inner)
        key = _key(qualified, inner)
        if key is None:
            return None
        keys.append(key)
        around.append(qualified)
    return Keys(tuple(keys), tuple(around), tuple(own)) if keys else None


def order_of(
    order: tuple[OrderItem, ...], items: tuple[SelectItem, ...], inner: Scope, query: Query
) -> tuple[OrderItem, ...]:
    """Return ORDER BY over the query's own rows; the alias of an item stands for the item.

    Raises:
        SqlExtError: LATERAL-002 if it looks at the left side.
    """
    named: dict[tuple[str, ...], Expr] = {(item.alias,): item.expr for item in items if item.alias}
    meant = tuple(
        replace(o, expr=named.get(o.expr.parts, o.expr)) if isinstance(o.expr, ColumnRef) else o for o in order
    )
    if not all(is_own(o.expr, inner) for o in meant):
        raise not_by_key(query)
    return meant


def not_by_key(query: Query) -> SqlExtError:
    """Return the refusal of what is no Top-N of a key."""
    return SqlExtError(
        "LATERAL-002",
        "ORDER BY and LIMIT of a LATERAL sub-query over a stream take the first rows of a key, this asks for more",
        span=query.span,
        hint="write WHERE inner.k = outer.k [AND conditions on inner] ORDER BY inner.x LIMIT n; else join, number the "
        "rows by ROW_NUMBER() OVER (PARTITION BY left key ORDER BY ...) and keep those up to n",
    )


def _key(part: Expr, inner: Scope) -> Expr | None:
    """Return the inner side of ``inner = outer``."""
    if not isinstance(part, Binary) or part.op != "=":
        return None
    for one, other in ((part.left, part.right), (part.right, part.left)):
        if _columns(one) and is_own(one, inner) and _columns(other) and not any(map(inner.has, _columns(other))):
            return one
    return None


def _qualified(expr: Expr, inner: Scope) -> Expr:
    """Return a condition whose inner columns are named with their relation: the left side may have such names too."""

    def rule(node: Node) -> Node | None:
        if not isinstance(node, ColumnRef) or len(node.parts) > 1 or not inner.has(node):
            return None
        relation = inner.find(node).relation
        return replace(node, parts=(*relation.qualifier[-1:], *node.parts))

    return substitute(expr, rule)


def is_own(expr: Node, inner: Scope) -> bool:
    """Whether an expression uses columns of the query's own FROM alone, and no sub-query."""
    queries = any(isinstance(p, (Exists, InQuery, ScalarQuery)) for p in own_parts(expr))
    return not queries and all(map(inner.has, _columns(expr)))


def _columns(expr: Node) -> list[ColumnRef]:
    return [p for p in own_parts(expr) if isinstance(p, ColumnRef)]
