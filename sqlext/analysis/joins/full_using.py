"""Compute the common columns of FULL JOIN with USING or NATURAL: their side depends on the row."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.relations.binding import FromClause
from sqlext.analysis.relations.extended import extended
from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.plan import nodes
from sqlext.plan.scope import ScopeRelation

_LEFT, _RIGHT = "__left", "__right"


def with_common_columns(
    clause: FromClause, node: nodes.PlanNode, using: tuple[str, ...], first: int, sides: tuple[int, int]
) -> nodes.PlanNode:
    """Return a full join with the columns of USING computed: they come first, as in Flink; a qualifier reaches others.

    Args:
        clause: has the names of the join from ``first`` on; they become those of what is returned.
        node: the join.
        using: the common columns.
        first: the place of the first relation of the join.
        sides: how many relations each side of the join has.
    """
    relations = tuple(clause.relations[first:])
    left, right = relations[: sides[0]], relations[sides[0] :]
    common = [n for n in using if _holder(left, n) is not None and _holder(right, n) is not None]
    both = [
        # The user's qualifiers cannot be used: a side may be a join of several relations, or have no name at all.
        replace(found, qualifier=(qualifier,), merged=frozenset())
        for name in common
        for found, qualifier in ((_only(left, name), _LEFT), (_only(right, name), _RIGHT))
    ]
    scope = replace(clause.scope(), relations=(*relations, *both))
    computed = [(name, _coalesced(name, scope.mode)) for name in common]
    alias = f"__u{first}"
    made, known, columns = extended(node, relations, computed, scope, alias)
    merged = [replace(r, merged=r.merged | frozenset(using)) for r in known]
    # Without a qualifier, as only the bare name means the common column.
    clause.relations[first:] = [ScopeRelation(alias, (), columns), *merged]
    return made


def _coalesced(name: str, mode: str) -> Expr:
    quoted = "`" + name.replace("`", "``") + "`"
    return parse_expression_text(f"COALESCE({_LEFT}.{quoted}, {_RIGHT}.{quoted})", mode, f"USING ({name})")


def _holder(relations: tuple[ScopeRelation, ...], name: str) -> ScopeRelation | None:
    return next((r for r in relations if any(c.name == name for c in r.columns)), None)


def _only(relations: tuple[ScopeRelation, ...], name: str) -> ScopeRelation:
    """Return the relation that has a column, with that column alone."""
    holder = _holder(relations, name)
    assert holder is not None
    return replace(holder, columns=tuple(c for c in holder.columns if c.name == name)[:1])
