"""Bind the joins of FROM, and plan those with a static side.

With at most one stream, Spark joins each micro-batch with the static side.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.joins.as_of import bind_as_of_join
from sqlext.analysis.joins.full_using import with_common_columns
from sqlext.analysis.joins.streams import bind_stream_join
from sqlext.analysis.joins.temporal import bind_right, bind_temporal_join, time_of, versioned_table
from sqlext.analysis.ranking.top_n import limited
from sqlext.analysis.relations.binding import FromClause
from sqlext.analysis.types.inference import infer_condition
from sqlext.dialect.ast.expressions import Exists, InQuery, ScalarQuery
from sqlext.dialect.ast.queries import Join, Relation
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.panes import readable
from sqlext.plan.scope import ScopeRelation, own_parts

#: Kinds whose rows that match nothing come from that side: it must be the stream, as a static side would
#: have to know every row that is still to come.
_KEPT = {"LEFT": "left", "LEFT SEMI": "left", "LEFT ANTI": "left", "RIGHT": "right"}


def bind_join(clause: FromClause, join: Join) -> nodes.PlanNode:
    """Return the plan of a join.

    Raises:
        SqlExtError: JOIN-... for two streams that cannot be joined so, JOIN-018 for outer joins that keep the static
            side's rows, NAME-003 for USING columns that a side lacks.
    """
    first = len(clause.relations)
    left = _side(clause, join.left, padded=join.kind in ("RIGHT", "FULL"))
    middle = len(clause.relations)
    versioned = versioned_table(join.right)
    # Before the right side is bound, so that the time can only be a column of the left side.
    time = time_of(clause, versioned, first) if versioned is not None else None
    if versioned is not None:
        right = bind_right(clause, versioned, time)
    else:
        # Of an as-of join too: a row that WHERE does not want is not replaced by the next one.
        right = _side(clause, join.right, padded=join.kind in ("LEFT", "FULL") or join.as_of is not None)
    left, right = _with_ranges(clause, join, (left, right), first, middle)
    using = join.using or (_common_names(clause, first, middle) if join.natural else ())
    _merge(clause, join, using, first, middle)
    if left.streaming or right.streaming:
        _refuse_streams_in_condition(clause, join)
    if join.as_of is not None:
        return bind_as_of_join(clause, replace(join, using=using), (left, right), range(first, middle))
    if time is not None and time.column.is_rowtime:
        return bind_temporal_join(clause, replace(join, using=using), (left, right), time, range(first, middle))
    if left.streaming and right.streaming:
        return bind_stream_join(clause, replace(join, using=using), (left, right), first, middle)
    _check_kind(join, left, right)
    left, right = readable(left), _with_own_windows(clause, readable(right), middle)
    _null_extend(clause, join, first, middle)
    scope = replace(clause.scope(), relations=tuple(clause.relations[first:]))
    if join.condition is not None:
        infer_condition(join.condition, scope)
    columns = tuple(c for r in scope.relations for c in r.columns)
    pairs = tuple(_pair(clause, n, first, middle, join) for n in using)
    node = nodes.Join(columns, left, right, join.kind, scope, join.condition, pairs)
    if join.kind == "FULL" and using:
        sides = middle - first, len(clause.relations) - middle
        return with_common_columns(clause, node, using, first, sides)
    return node


def _with_ranges(
    clause: FromClause, join: Join, sides: tuple[nodes.PlanNode, nodes.PlanNode], first: int, middle: int
) -> tuple[nodes.PlanNode, nodes.PlanNode]:
    """Return both sides; the ranks of one have the range that WHERE gives, or ON where that drops rows of the side."""
    scope = clause.scope()
    given = [clause.where] if clause.where is not None and join.as_of is None else []
    both = [join.condition] if join.condition is not None and join.as_of is None else []
    relations = clause.relations[first:middle], clause.relations[middle:]
    drops = ("INNER", "RIGHT"), ("INNER", "LEFT")
    left, right = (
        limited(side, own, [*given, *(both if join.kind in kinds else [])], scope)
        for side, own, kinds in zip(sides, relations, drops, strict=True)
    )
    return left, right


def _with_own_windows(clause: FromClause, right: nodes.PlanNode, middle: int) -> nodes.PlanNode:
    """Return the right side with a window of another name than the left side's: groupings know it by its name alone."""
    taken = {c.physical for r in clause.relations[:middle] for c in r.columns if c.window_bound}
    if len(clause.relations) != middle + 1 or not isinstance(right, nodes.Aliased):
        return right
    relation = clause.relations[middle]
    same = {c.physical for c in relation.columns if c.window_bound} & taken
    if not same:
        return right
    names = {name: f"{name}_{middle}" for name in same}
    outputs = {
        c.physical: nodes.Output(names.get(c.physical, c.physical), None, c, relation.alias)
        for c in right.columns
        if c.physical
    }
    columns, known = (
        tuple(replace(c, physical=names.get(c.physical, c.physical)) for c in of)
        for of in (right.columns, relation.columns)
    )
    clause.relations[middle] = replace(relation, columns=known)
    scope = replace(clause.scope(), relations=(relation,))
    renamed = nodes.Project(columns, right, scope, tuple(outputs.values()))
    return nodes.Aliased(columns, renamed, right.alias)


def _refuse_streams_in_condition(clause: FromClause, join: Join) -> None:
    """Refuse sub-queries over a stream in ON: no step gives their values to the rows of a join."""
    bind = clause.scope().bind
    if join.condition is None or bind is None:
        return
    for part in own_parts(join.condition):
        if isinstance(part, (ScalarQuery, Exists, InQuery)) and bind(part.query).streaming:
            hint = "of an INNER join write it in WHERE; else join the sub-query of FROM"
            raise SqlExtError("JOIN-017", "a sub-query over a stream cannot stand in ON", span=part.span, hint=hint)


def require_condition(join: Join, mode: str) -> None:
    """Refuse a join without a condition under Flink's expressions; to Spark it is a CROSS JOIN.

    Flink: "INNER, LEFT, RIGHT or FULL join requires a condition".

    Raises:
        SqlExtError: JOIN-014.
    """
    plain = join.kind in ("INNER", "LEFT", "RIGHT", "FULL") and not join.comma and join.as_of is None
    if mode == "flink" and plain and join.condition is None and not join.using and not join.natural:
        message = f"{join.kind} JOIN needs ON, USING or NATURAL"
        raise SqlExtError("JOIN-014", message, span=join.span, hint="CROSS JOIN pairs all rows with all")


def _side(clause: FromClause, relation: Relation, *, padded: bool) -> nodes.PlanNode:
    """Return a side; joins in one that may come out as NULL do not look at WHERE, which may be true of NULL."""
    where = clause.where
    clause.where = None if padded else where
    try:
        return clause.bind(relation)
    finally:
        clause.where = where


def _check_kind(join: Join, left: nodes.PlanNode, right: nodes.PlanNode) -> None:
    if not left.streaming and not right.streaming:
        return
    side = _KEPT.get(join.kind)
    stream = "left" if left.streaming else "right"
    # Spark's UnsupportedOperationChecker refuses the same joins, but cannot say where they stand in the text.
    if join.kind == "FULL" or (side is not None and side != stream):
        raise SqlExtError(
            "JOIN-018",
            f"a {join.kind} JOIN cannot give the rows of a static table that match nothing in a stream",
            span=join.span,
            hint="whether they match is not known before the stream ends; keep the rows of the stream, or read both as "
            "streams (without 'scan.mode' = 'snapshot')",
        )


def _common_names(clause: FromClause, first: int, middle: int) -> tuple[str, ...]:
    left = [c.name for r in clause.relations[first:middle] for c in r.columns]
    right = {c.name for r in clause.relations[middle:] for c in r.columns}
    # SQL wants the common columns of NATURAL in the order of the left side.
    return tuple(dict.fromkeys(n for n in left if n in right))


def _pair(clause: FromClause, name: str, first: int, middle: int, join: Join) -> tuple[str, str, str, str]:
    sides: list[str] = []
    for relations in (clause.relations[first:middle], clause.relations[middle:]):
        found = next(((r.alias, c.physical) for r in relations for c in r.columns if c.name == name), None)
        if found is None:
            raise SqlExtError("NAME-003", f"a side of the join has no column `{name}`", span=join.span)
        sides += found
    return (sides[0], sides[1], sides[2], sides[3])


def _merge(clause: FromClause, join: Join, using: tuple[str, ...], first: int, middle: int) -> None:
    """Leave one column of each USING pair visible without a qualifier: that of the side whose rows are kept."""
    hidden = range(first, middle) if join.kind == "RIGHT" else range(middle, len(clause.relations))
    for i in hidden:
        relation = clause.relations[i]
        clause.relations[i] = replace(relation, merged=relation.merged | frozenset(using))


def _null_extend(clause: FromClause, join: Join, first: int, middle: int) -> None:
    sides = {"LEFT": [range(middle, len(clause.relations))], "RIGHT": [range(first, middle)]}
    if join.kind == "FULL":
        sides["FULL"] = [range(first, len(clause.relations))]
    for indexes in sides.get(join.kind, []):
        for i in indexes:
            clause.relations[i] = _nullable(clause.relations[i])


def _nullable(relation: ScopeRelation) -> ScopeRelation:
    return replace(
        relation,
        columns=tuple(replace(c, type=c.type.as_nullable() if c.type else None) for c in relation.columns),
    )
