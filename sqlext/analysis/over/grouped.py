"""Split a SELECT that has OVER or sub-queries above GROUP BY.

``ROW_NUMBER() OVER (ORDER BY SUM(v) DESC) ... GROUP BY k``, and ``HAVING COUNT(*) > (SELECT ...)``. The lower SELECT
groups, the upper one has the calls with OVER and the sub-queries.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.names.substitution import substitute
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.dialect.ast.expressions import (
    Call,
    ColumnRef,
    Exists,
    Expr,
    FieldAccess,
    Frame,
    InQuery,
    Literal,
    Node,
    Paren,
    ScalarQuery,
    Star,
)
from sqlext.dialect.ast.queries import NamedWindow, Select, SelectItem
from sqlext.plan.nodes import Aliased
from sqlext.plan.scope import Scope, ScopeRelation, Shape, own_parts, shape

_NAME, _GROUPS = "__g{}", "__g"


def with_groups_below(block: Block, binding: Binding) -> Block:
    """Return a block over the groups of a SELECT, which then has its calls with OVER and its sub-queries alone."""
    grouped, outer = _split(block.select, block.scope)
    below = binding.bind_block(replace(block, select=grouped))
    relation = ScopeRelation(_GROUPS, (), below.columns)
    return Block(outer, Aliased(below.columns, below, _GROUPS), replace(block.scope, relations=(relation,)))


def _split(select: Select, scope: Scope) -> tuple[Select, Select]:
    """Return the SELECT that groups, and the one over its result that has the calls with OVER.

    Args:
        select: with GROUP BY or aggregates, and OVER.
        scope: of its FROM.
    """
    inner: list[SelectItem] = []
    names: dict[Shape, str] = {}

    def column(expr: Expr) -> ColumnRef:
        of = shape(expr, scope)
        if of not in names:
            names[of] = _NAME.format(len(inner))
            inner.append(SelectItem(expr.span, expr, names[of]))
        return ColumnRef(expr.span, (names[of],))

    def rule(node: Node) -> Node | None:
        # The offsets of frames and of LAG must stay literals; as columns of the lower SELECT they would be refused.
        if isinstance(node, (Frame, Literal)):
            return node
        plain = isinstance(node, Expr) and not isinstance(node, Star) and not _is_above(node)
        return column(node) if plain and isinstance(node, Expr) else None

    items = tuple(
        replace(item, expr=substitute(item.expr, rule), alias=item.alias or _natural(item.expr, place))
        for place, item in enumerate(select.items)
    )
    windows = tuple(NamedWindow(w.span, w.name, substitute(w.over, rule)) for w in select.windows)
    qualify = substitute(select.qualify, rule) if select.qualify is not None else None
    # A condition on groups with sub-queries is one on rows above; any other stays.
    above = select.having is not None and _is_above(select.having)
    where = substitute(select.having, rule) if select.having is not None and above else None
    grouped = replace(select, items=tuple(inner), windows=(), qualify=None, having=None if above else select.having)
    outer = replace(
        select,
        items=items,
        windows=windows,
        qualify=qualify,
        from_=None,
        where=where,
        group_by=None,
        having=None,
        # EMIT stays with the lower SELECT, which has the groups.
        emit=None,
    )
    return grouped, outer


def _is_above(expr: Node) -> bool:
    return any(
        isinstance(p, (ScalarQuery, Exists, InQuery)) or (isinstance(p, Call) and p.over is not None)
        for p in own_parts(expr)
    )


def _natural(expr: Expr, place: int) -> str | None:
    """Return the name that an item has by itself where the lower SELECT computes all of it."""
    if isinstance(expr, Paren):
        return _natural(expr.operand, place)
    if isinstance(expr, ColumnRef):
        return expr.parts[-1]
    if isinstance(expr, FieldAccess):
        return expr.name
    return None if isinstance(expr, Star) or _is_above(expr) else f"EXPR${place}"
