"""Bind ``JOIN t FOR SYSTEM_TIME AS OF x``: each row meets the version that was in force at its time.

By a rowtime of the left side both sides are streams, and the right one gives versions (``joins.versions``). By
processing time the right side is a table that each micro-batch reads anew: a join with a static table.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.joins.bounds import JoinBounds
from sqlext.analysis.joins.conditions import NULL_SAFE, JoinConditions, conditions_of
from sqlext.analysis.joins.planning import StreamJoinParts, planned
from sqlext.analysis.joins.streams import from_names, used_by, with_where
from sqlext.analysis.joins.versions import Versions, versions_of
from sqlext.analysis.relations.binding import FromClause
from sqlext.analysis.relations.join_names import JoinNames
from sqlext.analysis.types.inference import infer_condition
from sqlext.connectors.registry import known
from sqlext.dialect.ast.expressions import ColumnRef, Expr, Literal
from sqlext.dialect.ast.queries import Hint, Join, ParenRelation, Relation, TableRef
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.columns import Time
from sqlext.plan.joins import JoinBound, JoinTime, Pair
from sqlext.plan.scope import Found, Scope
from sqlext_catalog.model import Table
from sqlext_udfs.joins.specification import JoinKind

_KINDS = {"INNER": JoinKind.INNER, "CROSS": JoinKind.INNER, "LEFT": JoinKind.LEFT}
_SNAPSHOT = Hint("OPTIONS", (("scan.mode", "snapshot"),))


def versioned_table(relation: Relation) -> TableRef | None:
    """Return a relation as a table with FOR SYSTEM_TIME AS OF, None if it is none."""
    while isinstance(relation, ParenRelation) and relation.alias is None:
        relation = relation.relation
    return relation if isinstance(relation, TableRef) and relation.system_time is not None else None


def time_of(clause: FromClause, ref: TableRef, first: int) -> Found | None:
    """Return the time attribute of the left side that a table is asked by; None for a constant.

    Raises:
        SqlExtError: JOIN-007 for anything else.
    """
    assert ref.system_time is not None
    # A constant asks for the table as it was then (scans.tables), which is no temporal join.
    if isinstance(ref.system_time, Literal):
        return None
    scope = replace(clause.scope(), relations=tuple(clause.relations[first:]))
    found = scope.bare(ref.system_time)
    if found is None or found.column.time is None:
        raise SqlExtError(
            "JOIN-007",
            "FOR SYSTEM_TIME AS OF takes a time attribute of the left side, or a literal",
            span=ref.system_time.span,
            hint="a column with a WATERMARK on its table, or PROCTIME()",
        )
    return found


def bind_right(clause: FromClause, ref: TableRef, time: Found | None) -> nodes.PlanNode:
    """Return the table of a temporal join; what time it is asked for is not yet in it.

    Raises:
        SqlExtError: JOIN-008 for a table that cannot be looked up by processing time.
    """
    plain = replace(ref, system_time=None)
    if time is None:
        return clause.bind(ref)
    if time.column.time is Time.ROWTIME:
        return clause.bind(plain)
    table = clause.env.catalog.lookup(ref.parts)
    connector = known(table) if isinstance(table, Table) else None
    # A lookup sees the table as it is now. Without the hint a table that can be a stream would be read as one.
    anew = connector is not None and connector.read_anew
    node = clause.bind(replace(plain, hints=(_SNAPSHOT, *ref.hints)) if anew else plain)
    if node.streaming:
        raise SqlExtError(
            "JOIN-008",
            "FOR SYSTEM_TIME AS OF processing time needs a table that can be looked up, and this one is a stream",
            span=ref.span,
            hint="use a delta table, one with 'scan.mode' = 'snapshot', or a rowtime of the left side",
        )
    return node


def bind_temporal_join(
    clause: FromClause, join: Join, sources: tuple[nodes.PlanNode, nodes.PlanNode], time: Found, places: range
) -> nodes.PlanNode:
    """Return the plan of a temporal join by event time; its columns replace those of both sides in the clause.

    Args:
        clause: has both sides' names: of the left side from ``places.start`` on, of the right from ``places.stop`` on.
        join: as it is written.
        sources: left and right.
        time: the rowtime of the left side.
        places: of the left side's relations.

    Raises:
        SqlExtError: JOIN-009 for another kind of join, JOIN-010 and JOIN-011 for sides that are no stream of versions,
            JOIN-012 if its primary key is not equated.
    """
    # Flink's StreamExecTemporalJoin has INNER and LEFT alone.
    kind = _KINDS.get(join.kind)
    if kind is None:
        raise SqlExtError("JOIN-009", f"a temporal join is INNER or LEFT, not {join.kind}", span=join.span)
    if not sources[0].streaming:
        message = "a temporal join by event time needs a stream on its left side"
        raise SqlExtError("JOIN-011", message, span=join.left.span)
    relations = clause.relations[places.start : places.stop], clause.relations[places.stop :]
    versions = versions_of(sources[1], join.right.span)
    names = from_names(clause, *relations, join)
    if join.condition is not None:
        both = (*relations[0], *relations[1])
        infer_condition(join.condition, replace(clause.scope(), relations=tuple(both)))
    conditions = conditions_of(join.condition, names)
    if kind is JoinKind.INNER:
        conditions = with_where(conditions, clause.where, names)
    alias = relations[1][0].alias
    parts = StreamJoinParts(
        join.span,
        kind,
        (sources[0], versions.node),
        relations,
        names,
        _by_key(conditions, versions, names, join),
        f"__j{places.stop}",
        bounds=JoinBounds(
            JoinBound.VERSION, JoinTime(time.column, time.relation.alias), JoinTime(versions.time, alias)
        ),
        used=used_by(clause, join, conditions),
    )
    node, given = planned(parts)
    clause.relations[places.start :] = given
    return node


def _by_key(conditions: JoinConditions, versions: Versions, names: JoinNames, join: Join) -> JoinConditions:
    """Return conditions with the primary key alone as key: all others are asked of the version that it finds."""
    keys = [p for p in conditions.keys if _physical(p.right, names.right) in versions.keys]
    missing = set(versions.keys) - {_physical(p.right, names.right) for p in keys}
    if missing:
        raise SqlExtError(
            "JOIN-012",
            f"a temporal join must equate the whole primary key of its right side: {', '.join(sorted(missing))}",
            span=join.condition.span if join.condition is not None else join.span,
            hint="ON l.k = r.k for each column of the key",
        )
    others = [p for p in conditions.keys if p not in keys]
    # The operator's comparisons are never true of NULL, so this one can only be a key.
    unequal = [p for p in others if p.operator == NULL_SAFE]
    if unequal:
        message = "IS NOT DISTINCT FROM in a temporal join is for the primary key alone"
        raise SqlExtError("JOIN-001", message, span=unequal[0].left.span)
    true = parse_expression_text("TRUE", names.left.mode, "the condition on the right side")
    # These must not filter the versions: without a version that fails, the one before it would seem in force.
    asked = [Pair(true, "=", e) for e in conditions.right]
    return replace(conditions, keys=tuple(keys), comparisons=(*conditions.comparisons, *others, *asked), right=())


def _physical(expr: Expr, scope: Scope) -> str:
    found = scope.bare(expr) if isinstance(expr, ColumnRef) else None
    return found.column.physical if found is not None else ""
