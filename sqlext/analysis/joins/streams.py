"""Bind joins of two streams in FROM: their names and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlext.analysis.emit.nearest import without_nearest_emit
from sqlext.analysis.joins.conditions import NULL_SAFE, JoinConditions, compared, conditions_of
from sqlext.analysis.joins.full_using import with_common_columns
from sqlext.analysis.joins.planning import StreamJoinParts, planned
from sqlext.analysis.names.used import names_of, used_names
from sqlext.analysis.relations.binding import FromClause
from sqlext.analysis.relations.join_names import LEFT, RIGHT, JoinNames
from sqlext.analysis.relations.state_ttl import ttl_of
from sqlext.analysis.types.inference import infer_condition
from sqlext.dialect.ast.expressions import AllOf, ColumnRef, Expr, and_parts
from sqlext.dialect.ast.queries import Join
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.joins import USING, Pair
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext_udfs.joins.specification import JoinKind

#: The kinds of FROM; CROSS is an inner join without a condition.
_KINDS = {
    "INNER": JoinKind.INNER,
    "CROSS": JoinKind.INNER,
    "LEFT": JoinKind.LEFT,
    "RIGHT": JoinKind.RIGHT,
    "FULL": JoinKind.FULL,
    "LEFT SEMI": JoinKind.SEMI,
    "LEFT ANTI": JoinKind.ANTI,
}


def bind_stream_join(
    clause: FromClause, join: Join, sources: tuple[nodes.PlanNode, nodes.PlanNode], first: int, middle: int
) -> nodes.PlanNode:
    """Return the plan of a join of two streams; its columns replace those of both sides in the clause.

    Args:
        clause: has both sides' names: of the left side from ``first`` on, of the right from ``middle`` on.
        join: as it is written; ``using`` says the columns of NATURAL too.
        sources: left and right.
        first, middle: places in ``clause.relations``.

    Raises:
        SqlExtError: JOIN-... for what cannot be joined, NAME-... for what means nothing.
    """
    relations = clause.relations[first:middle], clause.relations[middle:]
    names = from_names(clause, *relations, join)
    if join.condition is not None:
        # Typed as it is written, before it is split: Flink's rules of comparison are about the whole condition.
        infer_condition(join.condition, _scope(clause, [*relations[0], *relations[1]]))
    conditions = conditions_of(join.condition, names)
    conditions = replace(conditions, keys=(*using_keys(join, names), *conditions.keys))
    kind = _KINDS[join.kind]
    if kind is JoinKind.INNER:
        # `FROM a, b WHERE ...` has its keys and bounds in WHERE. An outer join pads before WHERE is asked.
        conditions = with_where(conditions, clause.where, names)
    ttl = tuple(ttl_of(r, clause.hints, clause.env) for r in relations)
    parts = StreamJoinParts(
        join.span,
        kind,
        sources,
        relations,
        names,
        conditions,
        f"__j{middle}",
        (ttl[0], ttl[1]),
        used=used_by(clause, join, conditions),
    )
    node, given = planned(parts)
    clause.relations[first:] = given
    if kind is JoinKind.FULL and join.using:
        return with_common_columns(clause, node, join.using, first, (len(relations[0]), len(relations[1])))
    return node


def from_names(
    clause: FromClause, left: Sequence[ScopeRelation], right: Sequence[ScopeRelation], join: Join
) -> JoinNames:
    """Return the names of two sides in FROM: one that both sides have is ambiguous."""
    both = _scope(clause, [*left, *right])
    of_left = {r.alias for r in left}

    def side_of(ref: ColumnRef) -> str:
        return LEFT if both.find(ref).relation.alias in of_left else RIGHT

    scopes = [_scope(clause, [*r, *_using_relations(r, join)]) for r in (left, right)]
    return JoinNames(scopes[0], scopes[1], side_of)


def used_by(clause: FromClause, join: Join, conditions: JoinConditions) -> frozenset[str] | None:
    """Return the names of the columns that a join must give, None for all."""
    select = without_nearest_emit(clause.select, clause.env.mode) if clause.select is not None else None
    used = used_names(select, join) if select is not None else None
    used = used | clause.kept if used is not None else None
    # `rest` is a filter above the operator, so its columns must come out even if the SELECT does not read them.
    return used | names_of(conditions.rest) if used is not None else None


def with_where(conditions: JoinConditions, where: Expr | None, names: JoinNames) -> JoinConditions:
    """Return the conditions of an inner join with those of WHERE that it can ask: WHERE goes on asking them itself."""
    asked = (
        conditions_of(AllOf(where.span, tuple(_known(where, names))), names) if where is not None else JoinConditions()
    )
    known = {*conditions.keys, *conditions.comparisons}
    new = [p for p in (*asked.keys, *asked.comparisons) if p not in known]
    return replace(
        conditions,
        keys=(*conditions.keys, *(p for p in new if p.operator in ("=", NULL_SAFE))),
        comparisons=(*conditions.comparisons, *(p for p in new if p.operator not in ("=", NULL_SAFE))),
        left=(*conditions.left, *asked.left),
        right=(*conditions.right, *asked.right),
    )


def _known(where: Expr, names: JoinNames) -> Iterator[Expr]:
    """Yield the conjuncts of a WHERE whose names are those of a join: others are of other relations of FROM."""
    for part in and_parts(where):
        try:
            names.sides_of(part)
        except SqlExtError:
            continue
        yield part


def using_keys(join: Join, names: JoinNames) -> list[Pair]:
    """Return the keys that USING says.

    Raises:
        SqlExtError: JOIN-005 for columns that cannot be compared.
    """
    keys = []
    for name in join.using:
        ref = ColumnRef(join.span, (USING, name))
        pair = compared(ref, "=", ref, names)
        if pair is None:
            raise SqlExtError("JOIN-005", f"the columns `{name}` of both sides cannot be compared", span=join.span)
        keys.append(pair)
    return keys


def _using_relations(relations: Sequence[ScopeRelation], join: Join) -> list[ScopeRelation]:
    """Return relations by which a side finds its columns of USING, whoever else has such a name."""
    found = []
    for name in join.using:
        at = next(((r, c) for r in relations for c in r.columns if c.name == name), None)
        if at is None:
            raise SqlExtError("NAME-003", f"a side of the join has no column `{name}`", span=join.span)
        found.append(ScopeRelation(at[0].alias, (USING,), (at[1],), frozenset((name,))))
    return found


def _scope(clause: FromClause, relations: Sequence[ScopeRelation]) -> Scope:
    return replace(clause.scope(), relations=tuple(relations))
