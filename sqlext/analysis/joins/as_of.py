"""Bind ``a ASOF JOIN b MATCH_CONDITION (a.t >= b.t)``: each row meets the right row that is nearest in time.

The syntax is Spark's (4.3), and that of Snowflake. ``TOLERANCE`` and ``NEAREST(a.t, b.t)`` are ours.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.emit.nearest import nearest_emit
from sqlext.analysis.joins.bounds import JoinBounds
from sqlext.analysis.joins.conditions import JoinConditions, conditions_of
from sqlext.analysis.joins.planning import StreamJoinParts, planned
from sqlext.analysis.joins.streams import from_names, used_by, using_keys
from sqlext.analysis.relations.binding import FromClause
from sqlext.analysis.relations.join_names import LEFT, RIGHT, JoinNames
from sqlext.analysis.types.inference import infer
from sqlext.analysis.types.literals import interval_millis
from sqlext.dialect.ast.expressions import Binary, Call, Expr, Paren
from sqlext.dialect.ast.queries import AsOf, Join
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.joins import JoinBound, JoinTime, NearestMatch
from sqlext.plan.scope import Found
from sqlext_udfs.joins.specification import JoinKind, Nearest

_KINDS = {"INNER": JoinKind.INNER, "LEFT": JoinKind.LEFT}
_FLIPPED = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
_FORM = "MATCH_CONDITION (left.time >= right.time), also with >, <= or <, or NEAREST(left.time, right.time)"


def bind_as_of_join(
    clause: FromClause, join: Join, sources: tuple[nodes.PlanNode, nodes.PlanNode], places: range
) -> nodes.PlanNode:
    """Return the plan of an as-of join; its columns replace those of both sides in the clause.

    Args:
        clause: has both sides' names: of the left side from ``places.start`` on, of the right from ``places.stop`` on.
        join: as it is written; ``using`` says the columns of NATURAL too.
        sources: left and right.
        places: of the left side's relations.

    Raises:
        SqlExtError: JOIN-009 for another kind of join, JOIN-019 for a MATCH_CONDITION that compares no rowtimes,
            JOIN-020 for ON that is no equality, JOIN-021 for sides that cannot be joined so, JOIN-022 for a tolerance
            that is missing or no duration, EMIT-123 for an EMIT that is none of joins.
    """
    assert join.as_of is not None
    kind = _KINDS.get(join.kind)
    if kind is None:
        raise SqlExtError("JOIN-009", f"an as-of join is INNER or LEFT, not {join.kind}", span=join.span)
    _check_sides(join, sources)
    relations = clause.relations[places.start : places.stop], clause.relations[places.stop :]
    names = from_names(clause, *relations, join)
    left, right, nearest = _matched(join.as_of, names)
    match = _with_emit(NearestMatch(nearest, _tolerance(join.as_of)), clause, sources[0])
    if match.nearest.looks_ahead and match.tolerance is None and sources[0].streaming:
        raise SqlExtError(
            "JOIN-022",
            f"a row that looks ahead ({nearest.value}) would wait without end for one that is later",
            span=join.as_of.span,
            hint="say how far ahead: MATCH_CONDITION (...) TOLERANCE INTERVAL '1' MINUTE",
        )
    if join.condition is not None:
        infer(join.condition, replace(clause.scope(), relations=(*relations[0], *relations[1])))
    conditions = _conditions(join, names)
    times = [JoinTime(found.column, found.relation.alias) for found in (left, right)]
    parts = StreamJoinParts(
        join.span,
        kind,
        sources,
        relations,
        names,
        conditions,
        f"__j{places.stop}",
        bounds=JoinBounds(JoinBound.NEAREST, times[0], times[1], match.waits, match),
        used=used_by(clause, join, conditions),
    )
    node, given = planned(parts)
    clause.relations[places.start :] = given
    return node


def _check_sides(join: Join, sources: tuple[nodes.PlanNode, nodes.PlanNode]) -> None:
    if sources[0].streaming != sources[1].streaming:
        static = join.right if sources[0].streaming else join.left
        raise SqlExtError(
            "JOIN-021",
            "an as-of join takes two streams, or two tables that are read once",
            span=static.span,
            hint="read both as streams (without 'scan.mode' = 'snapshot'), or SET 'execution.runtime-mode' = 'batch'",
        )
    for side, source in zip((join.left, join.right), sources, strict=True):
        if source.changelog:
            raise SqlExtError(
                "JOIN-021",
                "an as-of join cannot take rows that change after they were given out",
                span=side.span,
                hint="FOR SYSTEM_TIME AS OF joins with the versions of a key",
            )


def _with_emit(match: NearestMatch, clause: FromClause, left: nodes.PlanNode) -> NearestMatch:
    """Return the match with what EMIT says; of rows that are read once there is one result."""
    emit = nearest_emit(clause.select, clause.env.mode)
    if emit is None or not left.streaming:
        return match
    return replace(match, early=emit.early, lateness=emit.lateness, emit=emit.text)


def _matched(as_of: AsOf, names: JoinNames) -> tuple[Found, Found, Nearest]:
    """Return the rowtime of the left side, that of the right side, and which right row is met."""
    first, operator, second = _compared(as_of)
    sides = set(names.sides_of(first)), set(names.sides_of(second))
    if sides == ({RIGHT}, {LEFT}):
        first, second, operator = second, first, _FLIPPED.get(operator, operator)
    elif sides != ({LEFT}, {RIGHT}):
        message = "MATCH_CONDITION compares a rowtime of the left side with one of the right side"
        raise SqlExtError("JOIN-019", message, span=as_of.condition.span, hint=_FORM)
    left, right = names.left.bare(first), names.right.bare(second)
    for expr, found in ((first, left), (second, right)):
        if found is None or not found.column.is_rowtime:
            raise SqlExtError(
                "JOIN-019",
                f"`{expr.span.one_line}` is no rowtime",
                span=expr.span,
                hint="a column with a WATERMARK on its table, as it is",
            )
    assert left is not None
    assert right is not None
    # The wall clock of a TIMESTAMP and the instant of a TIMESTAMP_LTZ are no fixed distance apart.
    if (
        left.column.type is not None
        and right.column.type is not None
        and left.column.type.root != right.column.type.root
    ):
        message = f"MATCH_CONDITION compares {left.column.type.root} with {right.column.type.root}"
        raise SqlExtError("JOIN-019", message, span=as_of.condition.span, hint="two rowtimes of one type")
    return left, right, Nearest(operator)


def _compared(as_of: AsOf) -> tuple[Expr, str, Expr]:
    condition = as_of.condition
    while isinstance(condition, Paren):
        condition = condition.operand
    if isinstance(condition, Binary) and condition.op in _FLIPPED:
        return condition.left, condition.op, condition.right
    if isinstance(condition, Call) and condition.name.upper() == Nearest.EITHER.value and len(condition.args) == 2:
        first, second = condition.args
        if isinstance(first, Expr) and isinstance(second, Expr):
            return first, Nearest.EITHER.value, second
    message = "MATCH_CONDITION is one comparison of two times"
    raise SqlExtError("JOIN-019", message, span=condition.span, hint=_FORM)


def _tolerance(as_of: AsOf) -> int | None:
    if as_of.tolerance is None:
        return None
    found = interval_millis(as_of.tolerance)
    if found is None or found < 0:
        raise SqlExtError(
            "JOIN-022",
            "TOLERANCE takes an interval of days to seconds that is not negative",
            span=as_of.tolerance.span,
            hint="TOLERANCE INTERVAL '10' SECOND",
        )
    return found


def _conditions(join: Join, names: JoinNames) -> JoinConditions:
    found = conditions_of(join.condition, names)
    others = [p.left for p in found.comparisons] + list(found.rest)
    if others:
        # Of rows that fail such a condition the next nearest would be met: a search among all rows of the key.
        raise SqlExtError(
            "JOIN-020",
            "ON of an as-of join takes equalities, and conditions on one side",
            span=others[0].span,
            hint="ask in WHERE, which leaves out joined rows",
        )
    return replace(found, keys=(*using_keys(join, names), *found.keys))
