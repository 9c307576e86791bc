"""Recognise the forms of LATERAL sub-queries that can be taken apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlext.analysis.grouping.group_by import is_grouped
from sqlext.analysis.over.calls import has_over
from sqlext.dialect.ast.queries import Join, Query, Relation, Select
from sqlext.errors import SqlExtError
from sqlext.plan.nodes import PlanNode
from sqlext.plan.scope import ScopeRelation


@dataclass(frozen=True, slots=True)
class Bound(Relation):
    """What stands in FROM and is bound already, and the relations in it."""

    node: PlanNode
    relations: tuple[ScopeRelation, ...] = ()


def row_wise(query: Query, mode: str, *, grouped: bool = False) -> Select:
    """Return the SELECT of a LATERAL query that makes its rows of one row to the left and one of its FROM at a time.

    Args:
        grouped: whether it may group; ORDER BY and LIMIT are not looked at.

    Raises:
        SqlExtError: LATERAL-003 for what else puts several rows together.
    """
    body = query.body
    if (
        not isinstance(body, Select)
        or query.ctes
        or body.distinct
        or body.qualify is not None
        or body.emit is not None
        or has_over(body)
        or (is_grouped(body, mode) and not grouped)
    ):
        raise not_row_wise(query)
    return body


def not_row_wise(query: Query) -> SqlExtError:
    """Return the refusal of a LATERAL query that puts several rows together."""
    return SqlExtError(
        "LATERAL-003",
        "a LATERAL sub-query that uses columns of its left side is SELECT ... [FROM ...] [WHERE ...] alone, or groups "
        "the rows of a key",
        span=query.span,
        hint="group by what `inner.k = outer.k` says, else group, number or unite the rows in the query above it",
    )


def behind(left: Bound, relation: Relation) -> Relation:
    """Return a FROM with another relation before its first one, which then sees that relation's columns.

    Raises:
        SqlExtError: LATERAL-004 for joins that keep rows of their right side, or that compare columns by name.
    """
    if not isinstance(relation, Join):
        return Join(relation.span, left, relation, "CROSS")
    # The left side is inside the join then: RIGHT and FULL would pad it, NATURAL and USING would compare its columns.
    if relation.kind in ("RIGHT", "FULL") or relation.natural or relation.using:
        raise SqlExtError(
            "LATERAL-004",
            "RIGHT, FULL, NATURAL and USING joins cannot stand in a LATERAL sub-query that uses its left side",
            span=relation.span,
            hint="write JOIN ... ON, or put the join into a sub-query of its own",
        )
    return replace(relation, left=behind(left, relation.left))
