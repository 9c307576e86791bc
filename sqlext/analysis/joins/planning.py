"""Plan a join of two streams: its bounds, its output columns, and whether it takes rows back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlext.analysis.expressions.pairs import PairTrees
from sqlext.analysis.joins.bounds import JoinBounds, interval_bounds, window_bounds, without_arrivals
from sqlext.analysis.joins.columns import JoinColumns
from sqlext.analysis.joins.conditions import JoinConditions
from sqlext.analysis.relations.join_names import JoinNames
from sqlext.analysis.windows.sessions import session_rows
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.joins import Carried, JoinBound, JoinSide, StreamJoin
from sqlext.plan.panes import readable
from sqlext.plan.scope import ScopeRelation
from sqlext.source import Span
from sqlext_udfs.joins.specification import JoinKind

_LOST = {
    JoinBound.NONE: "a join without bounds of time gives rows whenever they match",
    JoinBound.ARRIVAL: "an interval join by processing time gives rows whenever they match",
    JoinBound.WINDOW: "a window join gives its rows when their window is over: window_time stays a time attribute",
    JoinBound.VERSION: "a version of the right side is older than the row that it belongs to",
    JoinBound.NEAREST: "a row of the right side has another time than the row that it belongs to",
}
#: Each left row comes out once, in its time, with one right row.
_BY_LEFT_ROW = (JoinBound.VERSION, JoinBound.NEAREST)


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
    conditions: JoinConditions
    alias: str
    ttl: tuple[int | None, int | None] = (None, None)
    bounds: JoinBounds | None = None
    used: frozenset[str] | None = None


def planned(parts: StreamJoinParts) -> tuple[nodes.PlanNode, list[ScopeRelation]]:
    """Return the plan of a join, under its alias, and its relations as the join gives them.

    Raises:
        SqlExtError: JOIN-001 for functions of both sides that an outer join cannot call, JOIN-002 for an interval join
            of rows that change, JOIN-003 for windows of processing time.
    """
    # A session's bounds are known when it ends: rows that are joined by them must wait in an operator until then.
    sources = session_rows(parts.sources[0]), session_rows(parts.sources[1])
    parts = replace(parts, sources=(readable(sources[0]), readable(sources[1])))
    bounds = parts.bounds or _bounds(parts)
    _check(parts, bounds)
    if bounds.bound is JoinBound.ARRIVAL:
        keys, comparisons = parts.conditions.keys, parts.conditions.comparisons
        keys, comparisons = (without_arrivals(of, parts.names) for of in (keys, comparisons))
        parts = replace(parts, conditions=replace(parts.conditions, keys=keys, comparisons=comparisons))
    trees = PairTrees(parts.names, parts.join.value)
    inner = parts.join is JoinKind.INNER
    # SQL filters the pairs of an inner join above the operator. The other kinds must know what matched before they
    # pad a row or leave it out, so the operator evaluates these conditions itself.
    asked = () if inner else tuple(map(trees.tree, parts.conditions.rest))
    columns = JoinColumns(parts.alias, parts.span, keeps_arrival=bounds.bound is JoinBound.ARRIVAL)
    sides, given = _sides(parts, bounds, columns)
    # As in Flink, a time to live is for regular joins alone; bounds of time end the state of all others.
    regular = bounds.bound is JoinBound.NONE
    node = StreamJoin(
        tuple(columns.columns),
        parts.sources,
        _retracts(parts, bounds),
        span=parts.span,
        join=parts.join,
        bounded=bounds.bound,
        left=replace(sides[0], ttl=parts.ttl[0] if regular else None, values=tuple(trees.values[0])),
        right=replace(sides[1], ttl=parts.ttl[1] if regular else None, values=tuple(trees.values[1])),
        equal=parts.conditions.keys,
        conditions=parts.conditions.comparisons,
        rest=parts.conditions.rest if inner else (),
        asked=asked,
        scope=replace(parts.names.left, relations=tuple(given)),
        hold=bounds.hold,
        windows=_windows(parts.join, bounds),
        match=bounds.match,
    )
    return nodes.Aliased(node.columns, node, parts.alias), given


def _bounds(parts: StreamJoinParts) -> JoinBounds:
    # Windows first: window_time may be equated as well, and would make it an interval join of length zero.
    found = window_bounds(parts.conditions.keys, parts.names, parts.sources, parts.span)
    pairs = (*parts.conditions.keys, *parts.conditions.comparisons)
    return found or interval_bounds(pairs, parts.names) or JoinBounds()


def _check(parts: StreamJoinParts, bounds: JoinBounds) -> None:
    # Flink's FlinkChangelogModeInferenceProgram lets interval and window joins consume inserts alone.
    by_interval = bounds.bound in (JoinBound.INTERVAL, JoinBound.ARRIVAL)
    if (by_interval or bounds.bound is JoinBound.WINDOW) and any(s.changelog for s in parts.sources):
        what = "an interval join" if by_interval else "a window join"
        raise SqlExtError(
            "JOIN-002",
            f"{what} cannot take rows that change after they were given out",
            span=parts.span,
            hint="compute with one of the times (CAST(t AS TIMESTAMP(3))) for a join without bounds of time",
        )


def _sides(
    parts: StreamJoinParts, bounds: JoinBounds, columns: JoinColumns
) -> tuple[tuple[JoinSide, JoinSide], list[ScopeRelation]]:
    join, conditions = parts.join, parts.conditions
    sides: list[JoinSide] = []
    given: list[ScopeRelation] = []
    for i, own in enumerate((conditions.left, conditions.right)):
        pads = (join.pads_left, join.pads_right)[i]
        # If the other side is padded, its unmatched rows come out with NULL in all columns of this one.
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
        # A row that fails a condition on its own side can go at once. Where the join gives unmatched rows of that
        # side, it must stay and come out alone.
        sides.append(JoinSide(scope, carried, () if pads else own, own if pads else (), time=time))
        given += relations
    return (sides[0], sides[1]), given


def _what_stays(bounds: JoinBounds, side: int, *, nullable: bool) -> tuple[str, str]:
    """Return why a side's time attributes are lost (empty: they are not), and which window stays all the same."""
    time = (bounds.left, bounds.right)[side]
    # Both rowtimes of an interval join stay time attributes, as the watermark behind it is held back (hold).
    if bounds.bound is JoinBound.INTERVAL or (bounds.bound in _BY_LEFT_ROW and side == 0):
        return "", ""
    keeps = time.column.physical if bounds.bound is JoinBound.WINDOW and time is not None and not nullable else ""
    return _LOST[bounds.bound], keeps


def _windows(join: JoinKind, bounds: JoinBounds) -> int | None:
    """Return of which source the windows are that the rows carry."""
    if bounds.bound in _BY_LEFT_ROW:
        return 0
    # A row of a FULL join may come from either side, so no single source has the windows of all rows.
    if bounds.bound is not JoinBound.WINDOW or join is JoinKind.FULL:
        return None
    return 1 if join is JoinKind.RIGHT else 0


def _retracts(parts: StreamJoinParts, bounds: JoinBounds) -> bool:
    """Whether rows are taken back: those that were alone until a match came, and those whose inputs are."""
    if bounds.bound is JoinBound.NONE:
        changing = any(s.changelog for s in parts.sources)
        # INNER and SEMI give a row when it has matched, which no later insert undoes.
        return changing or parts.join not in (JoinKind.INNER, JoinKind.SEMI)
    if bounds.match is not None:
        return bounds.match.updates
    return bounds.bound is JoinBound.VERSION and parts.sources[0].changelog
