"""Bind the select list: expand stars, name the items, and check what holds for every SELECT."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.analysis.joins.sub_queries import misplaced_sub_query
from sqlext.analysis.names.stars import left_out, with_fields
from sqlext.analysis.over.aggregations import misplaced
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.inference import infer, infer_condition
from sqlext.analysis.windows.group_windows import NAMES
from sqlext.dialect.ast.expressions import (
    Call,
    ColumnRef,
    Exists,
    Expr,
    FieldAccess,
    InQuery,
    Literal,
    Paren,
    ScalarQuery,
    Star,
)
from sqlext.dialect.ast.queries import Select, SelectItem
from sqlext.errors import SqlExtError
from sqlext.plan.columns import unique_names
from sqlext.plan.nodes import OneRow
from sqlext.plan.scope import Found, Scope, ScopeRelation, own_parts
from sqlext.source import Span

#: What asks about the keys of a grouping.
_OF_GROUPS = frozenset({"GROUPING", "GROUPING_ID", "GROUP_ID"})


@dataclass(frozen=True)
class Item:
    """An item of the select list, stars expanded: an expression, or a column found by a star."""

    name: str
    expr: Expr | None
    found: Found | None
    span: Span


def checked_items(block: Block, binding: Binding) -> list[Item]:
    """Return the items of a SELECT.

    Raises:
        SqlExtError: NAME-... and TYPE-... for wrong expressions, TYPE-020 for a NULL without type, WINDOW-009 for an
            aggregate in WHERE, JOIN-017 and OVER-... for sub-queries and calls that cannot stand where they do.
    """
    items = _items(block)
    select = block.select
    expressions = [i.expr for i in items if i.expr is not None]
    conditions = [e for e in (select.where, select.having) if e is not None]
    for expr in expressions:
        infer(expr, block.scope)
    for expr in conditions:
        # Spark's parser casts what HAVING says, and that alone.
        casts = expr is select.having and binding.env.mode == "spark"
        (infer if casts else infer_condition)(expr, block.scope)
    for expr in (*expressions, *conditions):
        _check_parts(expr, block, binding)
    for expr in expressions:
        # Calcite: "Illegal use of 'NULL'".
        if binding.env.mode == "flink" and isinstance(expr, Literal) and expr.kind == "NULL":
            raise SqlExtError("TYPE-020", "NULL has no type here", span=expr.span, hint="CAST(NULL AS STRING)")
    for part in own_parts(select.where) if select.where is not None else ():
        if isinstance(part, Call) and is_aggregate(part, binding.env.mode):
            hint = "write the condition behind GROUP BY, as HAVING"
            raise SqlExtError("WINDOW-009", f"{part.name} cannot stand in WHERE", span=part.span, hint=hint)
    return items


def _check_parts(expr: Expr, block: Block, binding: Binding) -> None:
    for part in own_parts(expr):
        if isinstance(part, (InQuery, Exists, ScalarQuery)) and binding.bind_inside(part.query).streaming:
            raise misplaced_sub_query(part)
        if isinstance(part, Call) and part.function in _OF_GROUPS and block.select.group_by is None:
            message = f"{part.function} asks about the items of GROUP BY, and there is none"
            raise SqlExtError("NAME-010", message, span=part.span, hint="add GROUP BY, or leave it out")
        # selects.over has taken out those that operators compute, and over static rows Spark computes the rest.
        if isinstance(part, Call) and part.over is not None and block.node.streaming:
            raise misplaced(part)


def _items(block: Block) -> list[Item]:
    items: list[Item] = []
    for i, item in enumerate(block.select.items):
        if isinstance(item.expr, Star):
            items += _expand(item.expr, block.scope)
            continue
        found = block.scope.bare(item.expr)
        items.append(Item(own_name(item, i), item.expr, found, item.span))
    return items


def own_name(item: SelectItem, place: int) -> str:
    """Return the name that an item has by itself; one without any is called after its place in the list."""
    return item.alias or _natural_name(item.expr) or f"EXPR${place}"


def repeated_item(select: Select, binding: Binding) -> Item | None:
    """Return the first item that is written, not a star's, with the name of an earlier column of the result."""
    clause = binding.from_clause(select)
    node = clause.bind(select.from_) if select.from_ is not None else OneRow(())
    scope = clause.scope()
    items = _items(Block(with_fields(select, scope), node, scope))
    names = unique_names(item.name for item in items)
    return next((i for i, name in zip(items, names, strict=True) if i.expr is not None and i.name != name), None)


def _expand(star: Star, scope: Scope) -> list[Item]:
    relations: tuple[ScopeRelation, ...] = scope.relations
    if star.qualifier:
        relations = tuple(r for r in relations if r.answers_to(star.qualifier, scope.mode == "spark"))
        if not relations:
            raise SqlExtError("NAME-002", f"there is no `{'.'.join(star.qualifier)}` here", span=star.span)
    if not relations:
        raise SqlExtError("NAME-003", "* needs a FROM", span=star.span)
    columns = [
        (r, c)
        for r in relations
        for c in r.columns
        # * gives a column of USING once, t.* all columns of t. The columns of a group window are not the user's.
        if c.name not in NAMES and (star.qualifier or c.name not in r.merged)
    ]
    without = left_out(star, [c.name for _, c in columns])
    return [Item(c.name, None, Found(r, c, ()), star.span) for r, c in columns if c.name not in without]


def _natural_name(expr: Expr) -> str | None:
    if isinstance(expr, Paren):
        return _natural_name(expr.operand)
    if isinstance(expr, ColumnRef):
        return None if expr.parts[-1] in NAMES else expr.parts[-1]
    return expr.name if isinstance(expr, FieldAccess) else None
