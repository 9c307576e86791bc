"""Bind joins whose right side sees the left: UNNEST, table functions, LATERAL sub-queries.

A LATERAL sub-query is taken apart: its FROM is joined to the left side, its WHERE and its columns are computed above.
Flink: docs sql/queries/joins, "Array, Multiset and Map Expansion", "Table Function", "Lateral Join".
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.grouping.group_by import is_grouped
from sqlext.analysis.names.stars import left_out
from sqlext.analysis.names.used import names_of, used_names
from sqlext.analysis.ranking.first_rows import first_rows
from sqlext.analysis.relations.binding import Block, FromClause
from sqlext.analysis.unnest.forms import Bound, behind, not_row_wise, row_wise
from sqlext.analysis.unnest.keys import is_own, keys_of, not_by_key, order_of
from sqlext.analysis.unnest.sources import made_columns, source_of
from sqlext.analysis.windows.sessions import session_rows
from sqlext.dialect.ast.expressions import AllOf, ColumnRef, Expr, Literal, Paren, Star
from sqlext.dialect.ast.queries import GroupBy, Join, Query, Select, SelectItem, SubqueryRef, TableFunction, Unnest
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.columns import PlanColumn
from sqlext.plan.panes import readable
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.plan.unnest import Unnested
from sqlext.source import Span

_KEY = "__key{}"
_KINDS = ("CROSS", "INNER", "LEFT")


def bind_lateral(clause: FromClause, join: Join) -> nodes.PlanNode:
    """Return the plan of a join whose right side is made anew for each row of the left one.

    Raises:
        SqlExtError: LATERAL-001 for another kind of join than CROSS, INNER and LEFT ... ON TRUE; what ``row_wise``,
            ``behind`` and ``source_of`` raise.
    """
    right = join.right
    if isinstance(right, SubqueryRef) and _stands_alone(clause, right):
        plain = replace(right, lateral=False)
        return clause.bind(plain if isinstance(join.left, Bound) else replace(join, right=plain))
    condition = None if _is_true(join.condition) else join.condition
    if join.kind not in _KINDS or join.natural or join.using or (join.kind == "LEFT" and condition is not None):
        raise SqlExtError(
            "LATERAL-001",
            "UNNEST, table functions and LATERAL stand behind CROSS JOIN, [INNER] JOIN and LEFT JOIN ... ON TRUE",
            span=join.span,
        )
    first = len(clause.relations)
    left = session_rows(readable(clause.bind(join.left)))
    if isinstance(right, SubqueryRef):
        node = _query(clause, left, right, first, outer=join.kind == "LEFT")
    else:
        assert isinstance(right, (Unnest, TableFunction))
        node = _unnested(clause, left, right, first, outer=join.kind == "LEFT")
    return node if condition is None else _where(clause, node, condition, first)


def _stands_alone(clause: FromClause, right: SubqueryRef) -> bool:
    """Whether a LATERAL sub-query uses no column of its left side: then it is an ordinary one."""
    try:
        clause.binding.bind(right.query)
    except SqlExtError as error:
        if error.code in ("NAME-002", "NAME-003"):
            return False
        raise
    return True


def _is_true(condition: Expr | None) -> bool:
    while isinstance(condition, Paren):
        condition = condition.operand
    return condition is None or (isinstance(condition, Literal) and condition.value.upper() == "TRUE")


def _unnested(
    clause: FromClause, left: nodes.PlanNode, right: Unnest | TableFunction, first: int, *, outer: bool
) -> nodes.PlanNode:
    scope = _scope(clause, first)
    # A table function sees the left side by the word LATERAL alone.
    sees = scope if isinstance(right, Unnest) or right.lateral else replace(scope, relations=())
    source = source_of(right, sees, clause.env)
    named = clause.aliased(
        nodes.OneRow(made_columns(source, right, clause.env, outer=outer)), right.alias, (), right.span
    )
    # `aliased` is called for its checks of names and for the relation; its node is not used.
    made = tuple(replace(c, physical=p) for c, p in zip(named.columns, _physical(named.columns), strict=True))
    clause.relations[-1] = replace(clause.relations[-1], columns=made)
    columns = (*(c for r in scope.relations for c in r.columns), *made)
    return Unnested(columns, left, source, scope, named.alias, made, outer)


def _physical(columns: tuple[PlanColumn, ...]) -> list[str]:
    taken: list[str] = []
    for column in columns:
        name, i = column.name, 1
        while name in taken:
            name, i = f"{column.name}_{i}", i + 1
        taken.append(name)
    return taken


def _query(clause: FromClause, left: nodes.PlanNode, right: SubqueryRef, first: int, *, outer: bool) -> nodes.PlanNode:
    select = _row_by_row(clause, right.query)
    if outer and (select.from_ is not None or select.where is not None):
        raise SqlExtError(
            "LATERAL-005",
            "LEFT JOIN LATERAL (SELECT ... FROM ...) that uses columns of its left side is not supported",
            span=right.span,
            hint="write LEFT JOIN table ON condition, or LEFT JOIN UNNEST(...) ON TRUE",
        )
    middle = len(clause.relations)
    node = _joined(clause, left, select, first)
    inner = tuple(_reachable(r) for r in clause.relations[middle:])
    del clause.relations[middle:]
    below = _selected(clause, node, first, inner, replace(select, items=_without_stars(select, inner)))
    made = _numbered(below.columns[sum(len(r.columns) for r in clause.relations[first:]) :])
    named = clause.aliased(nodes.OneRow(made), right.alias, (), right.span)
    clause.relations[-1] = replace(clause.relations[-1], alias=below.alias)
    return replace(below, columns=(*below.columns[: -len(made)], *named.columns))


def _row_by_row(clause: FromClause, query: Query) -> Select:
    """Return a LATERAL query as one that makes its rows of one row to the left and one of its FROM at a time."""
    if isinstance(query.body, Select) and is_grouped(query.body, clause.env.mode):
        return _of_groups(clause, query)
    select = row_wise(query, clause.env.mode)
    limited = query.order_by or query.limit is not None or query.offset is not None
    return _of_first_rows(clause, query, select) if limited else select


def _of_first_rows(clause: FromClause, query: Query, select: Select) -> Select:
    """Return a LATERAL query without ORDER BY and LIMIT: its FROM has the first rows of each key alone.

    The key is what its WHERE equates with columns of the left side.

    Raises:
        SqlExtError: LATERAL-002 where the left side says more than a key.
    """
    inner = clause.binding.from_clause()
    node = inner.bind(select.from_) if select.from_ is not None else nodes.OneRow(())
    keys = keys_of(select.where, inner.scope())
    if keys is None or query.limit is None or not node.streaming:
        raise not_by_key(query)
    where = AllOf(query.span, keys.own) if keys.own else None
    used = used_names(select)
    if used is not None:  # the state of a Top-N holds no others
        named = used | names_of([o.expr for o in query.order_by])
        inner.relations = [
            replace(r, columns=tuple(c for c in r.columns if c.name.lower() in named)) for r in inner.relations
        ]
    rows = _selected(inner, readable(node), 0, (), Select(query.span, (), where=where), f"__n{len(clause.relations)}")
    ordered = replace(query, order_by=order_of(query.order_by, select.items, inner.scope(), query))
    top = first_rows(ordered, rows, inner.scope(), keys.inner)
    bound = Bound(query.span, nodes.Aliased(top.columns, top, rows.alias), tuple(inner.relations))
    return replace(select, from_=bound, where=AllOf(query.span, keys.around))


def _of_groups(clause: FromClause, query: Query) -> Select:
    """Return a LATERAL query without aggregates: its FROM has the groups of each key.

    A key without rows has no group, also without GROUP BY, as in Flink.

    Raises:
        SqlExtError: LATERAL-003 where the left side says more than a key, or the query does more than group.
    """
    select = row_wise(query, clause.env.mode, grouped=True)
    inner = clause.binding.from_clause()
    node = inner.bind(select.from_) if select.from_ is not None else nodes.OneRow(())
    keys = keys_of(select.where, inner.scope())
    computed = (*select.items, *((select.having,) if select.having is not None else ()))
    limited = query.order_by or query.limit is not None or query.offset is not None
    if keys is None or limited or not all(is_own(node, inner.scope()) for node in computed):
        raise not_row_wise(query)
    name = f"__n{len(clause.relations)}"
    named = [replace(i, alias=i.alias or _natural(i.expr) or f"EXPR${n}") for n, i in enumerate(select.items)]
    by = select.group_by.items if select.group_by is not None else ()
    grouped = replace(
        select,
        items=(*named, *(SelectItem(k.span, k, _KEY.format(i)) for i, k in enumerate(keys.inner))),
        where=AllOf(query.span, keys.own) if keys.own else None,
        group_by=GroupBy(query.span, (*by, *keys.inner)),
        from_=None,
    )
    rows = clause.binding.bind_block(Block(grouped, node, inner.scope()))
    relation = ScopeRelation(name, (name,), rows.columns)
    bound = Bound(query.span, nodes.Aliased(rows.columns, readable(rows), name), (relation,))
    items = tuple(SelectItem(i.span, ColumnRef(i.span, (name, str(i.alias))), i.alias) for i in named)
    around = keys.around_columns([ColumnRef(k.span, (name, _KEY.format(i))) for i, k in enumerate(keys.inner)])
    return Select(query.span, items, from_=bound, where=AllOf(query.span, around))


def _natural(expr: Expr) -> str | None:
    return expr.parts[-1] if isinstance(expr, ColumnRef) else None


def _joined(clause: FromClause, left: nodes.PlanNode, select: Select, first: int) -> nodes.PlanNode:
    """Return the FROM of a LATERAL query joined to the left side."""
    if select.from_ is None:
        return left
    bound = Bound(select.span, left, tuple(clause.relations[first:]))
    del clause.relations[first:]
    around, kept = clause.where, clause.kept
    # Joins of streams look at these.
    clause.where = select.where
    clause.kept = kept | names_of([*select.items, *([select.where] if select.where is not None else [])])
    node = clause.bind(behind(bound, select.from_))
    clause.where, clause.kept = around, kept
    return node


def _where(clause: FromClause, node: nodes.PlanNode, condition: Expr, first: int) -> nodes.PlanNode:
    return _selected(clause, node, first, (), Select(condition.span, (), where=condition))


def _selected(
    clause: FromClause,
    node: nodes.PlanNode,
    first: int,
    inner: tuple[ScopeRelation, ...],
    select: Select,
    alias: str = "",
) -> nodes.Aliased:
    """Return all columns of the relations bound so far, then the items of ``select``, as one relation.

    What those relations are called stays; the text has one alias for all of them. ``inner``: further relations that
    ``select`` may name, and before the others.
    """
    known = tuple(_reachable(r) for r in clause.relations[first:])
    hidden = frozenset(c.name for r in inner for c in r.columns)
    scope = replace(clause.scope(), relations=(*(replace(r, merged=r.merged | hidden) for r in known), *inner))
    items = (*_references(known, select.span), *select.items)
    plan = clause.binding.bind_block(Block(replace(select, items=items, from_=None), node, scope))
    alias, place = alias or f"__l{first}", 0
    for i, relation in enumerate(clause.relations[first:], first):
        columns = plan.columns[place : place + len(relation.columns)]
        clause.relations[i] = replace(relation, alias=alias, columns=columns)
        place += len(columns)
    return nodes.Aliased(plan.columns, plan, alias)


def _reachable(relation: ScopeRelation) -> ScopeRelation:
    """Return a relation whose columns can be named: one without a name gets its alias."""
    return relation if relation.qualifier else replace(relation, qualifier=(relation.alias,))


def _references(relations: tuple[ScopeRelation, ...], span: Span) -> list[SelectItem]:
    return [SelectItem(span, ColumnRef(span, (*r.qualifier, c.name)), c.name) for r in relations for c in r.columns]


def _without_stars(select: Select, relations: tuple[ScopeRelation, ...]) -> tuple[SelectItem, ...]:
    """Return the items of a LATERAL query; its ``*`` are the columns of its own FROM."""
    items: list[SelectItem] = []
    for item in select.items:
        if not isinstance(item.expr, Star):
            items.append(item)
            continue
        qualifier = item.expr.qualifier
        meant = tuple(r for r in relations if not qualifier or r.answers_to(qualifier, fold=False))
        if not meant:
            raise SqlExtError("NAME-002", f"there is no `{'.'.join(qualifier) or '*'}` here", span=item.span)
        without = left_out(item.expr, [c.name for r in meant for c in r.columns])
        items += [i for i in _references(meant, item.span) if i.alias not in without]
    return tuple(items)


def _numbered(columns: tuple[PlanColumn, ...]) -> tuple[PlanColumn, ...]:
    """Return the columns of a LATERAL query; those without a name are called by their place in it."""
    return tuple(c.renamed(f"EXPR${i}") if c.name.startswith("EXPR$") else c for i, c in enumerate(columns))


def _scope(clause: FromClause, first: int) -> Scope:
    return replace(clause.scope(), relations=tuple(clause.relations[first:]))
