"""Tell what is known of the rows of both sides of a join with a static table, of what is known of a joined row.

UNNEST is such a join: its made rows are a side that is no table.

Columns of both sides may have one name, so here each goes by its relation too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlext.dialect.ast.expressions import Binary, ColumnRef, Expr, Paren, and_parts
from sqlext.plan.base import PlanNode
from sqlext.plan.lineage.tests import Range
from sqlext.plan.nodes import Aliased, Join, Project
from sqlext.plan.scope import Found, Scope
from sqlext.plan.unnest import Unnested

#: A physical column, and ``start``, ``end`` or ``time`` of a window.
_Key = tuple[str, str | None]
_Column = tuple[str, _Key]


class KnownColumn(NamedTuple):
    """What is known of a column.

    Attributes:
        alias: of the relation that it is of.
        column: the physical column, and ``start``, ``end`` or ``time`` of a window.
        value: a scalar of Arrow, or the window in which it lies.
    """

    alias: str
    column: _Key
    value: Any


class JoinedSide(NamedTuple):
    """A side of a join, and what is known of its rows.

    Attributes:
        plan: the side.
        facts: by column.
        told: whether anything is known: else all its rows count.
    """

    plan: PlanNode
    facts: Mapping[_Key, Any]
    told: bool


def is_null(value: Any) -> bool:
    """Whether what is known of a column is that it is NULL; in an outer join that may say that a row met nothing."""
    return not isinstance(value, Range) and not value.is_valid


def found_column(expr: Expr, scope: Scope) -> Found | None:
    """Return the column that an expression is, if it is one, with its relation."""
    while isinstance(expr, Paren):
        expr = expr.operand
    found = scope.find(expr) if isinstance(expr, ColumnRef) else None
    return found if found is not None and not found.path else None


def of_keys(keys: Sequence[tuple[Expr, Any]], scope: Scope) -> list[KnownColumn]:
    """Return what is known of columns by the values of expressions that are columns."""
    return [KnownColumn(*column, value) for expr, value in keys if (column := _named(expr, scope)) is not None]


def of_projection(node: Project, facts: Mapping[_Key, Any]) -> list[KnownColumn]:
    """Return what is known below a projection."""
    known: list[KnownColumn] = []
    for output in node.outputs:
        for (name, bound), value in facts.items():
            if name != output.physical:
                continue
            if output.handed_on is not None and output.relation is not None:
                known.append(KnownColumn(output.relation, (output.handed_on.physical, bound), value))
            elif output.expr is not None and bound is None:
                known += of_keys([(output.expr, value)], node.scope)
    return known


def sides_of(node: Join | Unnested, known: Sequence[KnownColumn]) -> Iterator[JoinedSide]:
    """Yield each side of a join, and of joins in it, with what is known of its rows and what must be equal.

    What is known of rows that UNNEST has made tells nothing of the row that it has made them of.
    """
    if isinstance(node, Unnested):
        own = [k for k in known if k.alias != node.alias]
        yield from (side._replace(told=side.told and len(own) == len(known)) for side in _side_of(node.input, own))
        return
    aliases = _aliases(node.left), _aliases(node.right)
    padded = node.kind in ("RIGHT", "FULL"), node.kind in ("LEFT", "FULL")
    sure = [k for k in known if not (padded[k.alias in aliases[1]] and is_null(k.value))]
    equal = list(_equal_columns(node))
    for number, side in enumerate((node.left, node.right)):
        own = [k for k in sure if k.alias in aliases[number]]
        met = ((pair[number], k.value) for pair in equal for k in sure if (k.alias, k.column) == pair[1 - number])
        own += [KnownColumn(*column, value) for column, value in met]
        yield from _side_of(side, own)


def _side_of(side: PlanNode, own: Sequence[KnownColumn]) -> Iterator[JoinedSide]:
    if isinstance(side, (Join, Unnested)):
        yield from sides_of(side, own)
    else:
        yield JoinedSide(side, {k.column: k.value for k in own}, bool(own))


def _equal_columns(node: Join) -> Iterator[tuple[_Column, _Column]]:
    """Yield columns of the left and the right side that must be equal."""
    for left_alias, left, right_alias, right in node.equal:
        yield (left_alias, (left, None)), (right_alias, (right, None))
    of_right = _aliases(node.right)
    compared = [(p.left, p.right) for p in and_parts(node.condition) if isinstance(p, Binary) and p.op == "="]
    for one, other in (*compared, *node.sought):
        first, second = _named(one, node.scope), _named(other, node.scope)
        if first is None or second is None or (first[0] in of_right) == (second[0] in of_right):
            continue
        yield (first, second) if second[0] in of_right else (second, first)


def _named(expr: Expr, scope: Scope) -> _Column | None:
    found = found_column(expr, scope)
    return None if found is None else (found.relation.alias, (found.column.physical, found.column.window_bound))


def _aliases(node: PlanNode) -> frozenset[str]:
    if isinstance(node, Join):
        return _aliases(node.left) | _aliases(node.right)
    if isinstance(node, Unnested):
        return _aliases(node.input) | {node.alias}
    return frozenset({node.alias}) if isinstance(node, Aliased) else frozenset()
