"""Joins of two streams in FROM, and what all joins of two streams have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlext.analysis.changelogs import readable
from sqlext.analysis.scope import Scope, ScopeRelation
from sqlext.analysis.session_rows import session_rows
from sqlext.analysis.stream_join_bounds import Bounds, interval_bounds, window_bounds
from sqlext.analysis.stream_join_columns import JoinColumns
from sqlext.analysis.stream_join_conditions import (
    LEFT,
    RIGHT,
    Conditions,
    JoinNames,
    and_parts,
    compared,
    comparisons_of,
    conditions_of,
    pair_of,
)
from sqlext.analysis.stream_join_ttl import ttl_of
from sqlext.analysis.typing import infer
from sqlext.analysis.used_names import names_of, used_names
from sqlext.dialect.expression_nodes import ColumnRef, Expr
from sqlext.dialect.query_nodes import Join
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.stream_join import USING, Carried, JoinBound, JoinSide, Pair, StreamJoin
from sqlext.source import Span
from sqlext.udfs.core.join_specification import JoinKind

if TYPE_CHECKING:
    from sqlext.analysis.relations import RelationBinder

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
_LOST = {
    JoinBound.NONE: "a join without bounds of time gives rows whenever they match",
    JoinBound.WINDOW: "a window join gives its rows when their window is over: window_time stays a time attribute",
    JoinBound.VERSION: "a version of the right side is older than the row that it belongs to",
}


@dataclass(frozen=True)
class StreamJoinParts:
    """Two streams and how they are joined.

    Attributes:
        span: of the join.
        join: which rows come out.
        sources: left and right.
        relations: the names in each.
        names: both sides' names in the condition.
        conditions: what must hold.
        alias: of the relation that the join becomes.
        ttl: of each side, ms.
        bounds: None where the conditions say them.
        used: names of the columns that anybody looks at; None for all.
    """

    span: Span
    join: JoinKind
    sources: tuple[nodes.PlanNode, nodes.PlanNode]
    relations: tuple[Sequence[ScopeRelation], Sequence[ScopeRelation]]
    names: JoinNames
    conditions: Conditions
    alias: str
    ttl: tuple[int | None, int | None] = (None, None)
    bounds: Bounds | None = None
    used: frozenset[str] | None = None


def bind_stream_join(
    binder: RelationBinder, join: Join, sources: tuple[nodes.PlanNode, nodes.PlanNode], first: int, middle: int
) -> nodes.PlanNode:
    """Return the plan of a join of two streams; its columns replace those of both sides in the binder.

    Args:
        binder: has both sides' names: of the left side from ``first`` on, of the right from ``middle`` on.
        join: as it is written; ``using`` says the columns of NATURAL too.
        sources: left and right.
        first, middle: places in ``binder.relations``.

    Raises:
        SqlExtError: JOIN-... for what cannot be joined, NAME-... for what means nothing.
    """
    relations = binder.relations[first:middle], binder.relations[middle:]
    names = from_names(binder, *relations, join)
    if join.condition is not None:
        infer(join.condition, _scope(binder, [*relations[0], *relations[1]]))
    conditions = conditions_of(join.condition, names)
    conditions = replace(conditions, keys=(*_using_keys(join, names), *conditions.keys))
    kind = _KINDS[join.kind]
    if kind is JoinKind.INNER:
        conditions = with_where(conditions, binder.where, names)
    if kind is JoinKind.FULL and join.using:
        message = "FULL JOIN ... USING of streams: which side a column is of depends on the row"
        raise SqlExtError("JOIN-004", message, span=join.span, hint="write ON, and COALESCE of both columns")
    ttl = tuple(ttl_of(r, binder.hints, binder.env) for r in relations)
    parts = StreamJoinParts(
        join.span,
        kind,
        sources,
        relations,
        names,
        conditions,
        f"__j{middle}",
        (ttl[0], ttl[1]),
        used=used_by(binder, join, conditions),
    )
    node, given = planned(parts)
    binder.relations[first:] = given
    return node


def from_names(
    binder: RelationBinder, left: Sequence[ScopeRelation], right: Sequence[ScopeRelation], join: Join
) -> JoinNames:
    """Return the names of two sides in FROM: one that both sides have is ambiguous."""
    both = _scope(binder, [*left, *right])
    of_left = {r.alias for r in left}

    def side_of(ref: ColumnRef) -> str:
        return LEFT if both.find(ref).relation.alias in of_left else RIGHT

    scopes = [_scope(binder, [*r, *_using_relations(r, join)]) for r in (left, right)]
    return JoinNames(scopes[0], scopes[1], side_of)


def used_by(binder: RelationBinder, join: Join, conditions: Conditions) -> frozenset[str] | None:
    """Return the names of the columns that a join must give, None for all."""
    used = used_names(binder.select, join) if binder.select is not None else None
    return used | names_of(conditions.rest) if used is not None else None


def planned(parts: StreamJoinParts) -> tuple[nodes.PlanNode, list[ScopeRelation]]:
    """Return the plan of a join, under its alias, and its relations as the join gives them.

    Raises:
        SqlExtError: JOIN-001 for conditions that an outer join cannot ask, JOIN-002 for an interval join of rows that
            change, JOIN-003 for windows of processing time.
    """
    sources = session_rows(parts.sources[0]), session_rows(parts.sources[1])
    parts = replace(parts, sources=(readable(sources[0]), readable(sources[1])))
    bounds = parts.bounds or _bounds(parts)
    _check(parts, bounds)
    columns = JoinColumns(parts.alias, parts.span)
    sides, given = _sides(parts, bounds, columns)
    regular = bounds.bound is JoinBound.NONE
    node = StreamJoin(
        tuple(columns.columns),
        parts.sources,
        _retracts(parts, bounds),
        span=parts.span,
        join=parts.join,
        bounded=bounds.bound,
        left=replace(sides[0], ttl=parts.ttl[0] if regular else None),
        right=replace(sides[1], ttl=parts.ttl[1] if regular else None),
        equal=parts.conditions.keys,
        conditions=parts.conditions.comparisons,
        rest=parts.conditions.rest,
        scope=replace(parts.names.left, relations=tuple(given)),
        hold=bounds.hold,
        windows=_windows(parts.join, bounds),
    )
    return nodes.Aliased(node.columns, node, parts.alias), given


def _bounds(parts: StreamJoinParts) -> Bounds:
    found = window_bounds(parts.conditions.keys, parts.names, parts.sources, parts.span)
    pairs = (*parts.conditions.keys, *parts.conditions.comparisons)
    return found or interval_bounds(pairs, parts.names) or Bounds()


def _check(parts: StreamJoinParts, bounds: Bounds) -> None:
    if parts.conditions.rest and parts.join is not JoinKind.INNER:
        raise SqlExtError(
            "JOIN-001",
            f"a {parts.join.value} join of two streams can only compare what one side says with what the other says",
            span=parts.conditions.rest[0].span,
            hint="write it as comparisons connected by AND, each with one side's columns on each side of the operator",
        )
    if bounds.bound is JoinBound.INTERVAL and any(s.changelog for s in parts.sources):
        raise SqlExtError(
            "JOIN-002",
            "an interval join cannot take rows that change after they were given out",
            span=parts.span,
            hint="compute with one of the times (CAST(t AS TIMESTAMP(3))) for a join without bounds of time",
        )


def _sides(
    parts: StreamJoinParts, bounds: Bounds, columns: JoinColumns
) -> tuple[tuple[JoinSide, JoinSide], list[ScopeRelation]]:
    join, conditions = parts.join, parts.conditions
    sides: list[JoinSide] = []
    given: list[ScopeRelation] = []
    for i, own in enumerate((conditions.left, conditions.right)):
        pads = (join.pads_left, join.pads_right)[i]
        nullable = join.pairs and (join.pads_right, join.pads_left)[i]
        time = (bounds.left, bounds.right)[i]
        relations: tuple[ScopeRelation, ...] = ()
        carried: tuple[Carried, ...] = ()
        if i == 0 or join.pairs:
            lost, keeps = _what_stays(bounds, i, nullable=nullable)
            relations, carried = columns.side(
                parts.relations[i], lost=lost, keeps=keeps, nullable=nullable, used=parts.used
            )
        scope = (parts.names.left, parts.names.right)[i]
        sides.append(JoinSide(scope, carried, () if pads else own, own if pads else (), time))
        given += relations
    return (sides[0], sides[1]), given


def _what_stays(bounds: Bounds, side: int, *, nullable: bool) -> tuple[str, str]:
    """Return why a side's time attributes are lost (empty: they are not), and which window stays all the same."""
    time = (bounds.left, bounds.right)[side]
    if bounds.bound is JoinBound.INTERVAL or (bounds.bound is JoinBound.VERSION and side == 0):
        return "", ""
    keeps = time.column.physical if bounds.bound is JoinBound.WINDOW and time is not None and not nullable else ""
    return _LOST[bounds.bound], keeps


def _windows(join: JoinKind, bounds: Bounds) -> int | None:
    """Return of which source the windows are that the rows carry."""
    if bounds.bound is JoinBound.VERSION:
        return 0
    if bounds.bound is not JoinBound.WINDOW or join is JoinKind.FULL:
        return None
    return 1 if join is JoinKind.RIGHT else 0


def _retracts(parts: StreamJoinParts, bounds: Bounds) -> bool:
    """Whether rows are taken back: those that were alone until a match came, and those whose inputs are."""
    if bounds.bound is JoinBound.NONE:
        changing = any(s.changelog for s in parts.sources)
        return changing or parts.join not in (JoinKind.INNER, JoinKind.SEMI)
    return bounds.bound is JoinBound.VERSION and parts.sources[0].changelog


def with_where(conditions: Conditions, where: Expr | None, names: JoinNames) -> Conditions:
    """Return the conditions with the comparisons of both sides that WHERE asks: it goes on asking them itself.

    Below an outer join too: a row that such a comparison keeps from the join has NULL there, and WHERE is not true.
    """
    pairs = list(_asked(where, names))
    known = {*conditions.keys, *conditions.comparisons}
    new = [p for p in dict.fromkeys(pairs) if p not in known]
    keys = tuple(p for p in new if p.operator == "=")
    others = tuple(p for p in new if p.operator not in ("=", "IS NOT DISTINCT FROM"))
    return replace(conditions, keys=(*conditions.keys, *keys), comparisons=(*conditions.comparisons, *others))


def _asked(where: Expr | None, names: JoinNames) -> Iterator[Pair]:
    for part in and_parts(where):
        try:
            sides = names.sides_of(part)
        except SqlExtError:  # a name of another relation of FROM
            continue
        pairs = [pair_of(c, names) for c in comparisons_of(part)] if len(sides) == 2 else []
        yield from (p for p in pairs if p is not None)


def _using_keys(join: Join, names: JoinNames) -> list[Pair]:
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


def _scope(binder: RelationBinder, relations: Sequence[ScopeRelation]) -> Scope:
    return replace(binder.scope(), relations=tuple(relations))
