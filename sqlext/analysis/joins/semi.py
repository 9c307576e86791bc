"""Bind ``IN``, ``EXISTS`` and their negations in WHERE as semi and anti joins.

They are over a stream, or correlated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlext.analysis.joins.conditions import JoinConditions, compared, conditions_of, row_items
from sqlext.analysis.joins.planning import StreamJoinParts, planned
from sqlext.analysis.names.substitution import substitute
from sqlext.analysis.names.used import used_names
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.relations.join_names import LEFT, RIGHT, JoinNames
from sqlext.analysis.relations.outputs import OutputBuilder
from sqlext.analysis.relations.state_ttl import ttl_of
from sqlext.analysis.types.calls import is_aggregate
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import (
    AllOf,
    Binary,
    Call,
    ColumnRef,
    Exists,
    Expr,
    InQuery,
    Node,
    Paren,
    ScalarQuery,
    Star,
    Unary,
    and_parts,
)
from sqlext.dialect.ast.queries import Query, Select
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.joins import Pair
from sqlext.plan.scope import Found, Scope, ScopeRelation, own_parts
from sqlext_udfs.joins.specification import JoinKind

_ALIAS = "__s{}"


@dataclass(frozen=True)
class SubQueryTest:
    """A condition on a sub-query: ``operand IN query``, or EXISTS where there is no operand."""

    expr: Expr
    query: Query
    operand: Expr | None
    negated: bool


@dataclass(frozen=True)
class Inside:
    """A sub-query's rows.

    Attributes:
        node: the relation.
        scope: its names.
        items: what it selects.
        where: what it asks of its rows and of those of the query around it.
        correlated: whether it names columns of the query around it.
    """

    node: nodes.PlanNode
    scope: Scope
    items: tuple[Expr, ...]
    where: Expr | None = None
    correlated: bool = False


def with_semi_joins(block: Block, binding: Binding) -> Block:
    """Return a SELECT without the conditions of its WHERE on sub-queries over a stream, and a FROM that fulfils them.

    Raises:
        SqlExtError: JOIN-... for what cannot be joined, and what the sub-queries raise.
    """
    select, node, scope = block.select, block.node, block.scope
    used = used_names(select)
    left: list[Expr] = []
    plain = tuple(p for p in and_parts(select.where) if is_plain_condition(p))
    for i, part in enumerate(and_parts(select.where)):
        test = sub_query_test(part)
        inside = inside_of(binding, test.query) if test is not None else None
        if test is not None and inside is not None and not inside.node.streaming and inside.correlated:
            node = _by_spark(test, inside, node, scope, _ALIAS.format(i))
            continue
        # What is left may still become a column (joins.sub_queries); checked_items refuses the others with JOIN-017.
        if test is None or inside is None or not inside.node.streaming or not node.streaming:
            left.append(part)
            continue
        names = names_around(scope, inside.scope)
        if test.operand is not None:
            infer(test.operand, scope)
        else:
            _check_names(inside, scope)
        parts = StreamJoinParts(
            part.span,
            JoinKind.ANTI if test.negated else JoinKind.SEMI,
            (node, inside.node),
            (scope.relations, inside.scope.relations),
            names,
            _conditions(test, inside, names, plain),
            _ALIAS.format(i),
            (
                ttl_of(scope.relations, select.hints, binding.env),
                ttl_of(inside.scope.relations, select.hints, binding.env),
            ),
            used=used,
        )
        plain = ()  # what comes out fulfils it, or is not asked for
        node, relations = planned(parts)
        scope = replace(scope, relations=tuple(relations))
    if select.where is None or node is block.node:
        return block
    where = AllOf(select.where.span, tuple(left)) if left else None
    return Block(replace(select, where=where), node, scope)


def sub_query_test(expr: Expr, *, negated: bool = False) -> SubQueryTest | None:
    if isinstance(expr, Paren):
        return sub_query_test(expr.operand, negated=negated)
    if isinstance(expr, Unary) and expr.op == "NOT":
        return sub_query_test(expr.operand, negated=not negated)
    if isinstance(expr, Exists):
        return SubQueryTest(expr, expr.query, None, negated)
    if isinstance(expr, InQuery):
        return SubQueryTest(expr, expr.query, expr.operand, negated != expr.negated)
    return None


def inside_of(binding: Binding, query: Query) -> Inside:
    """Return the rows of a sub-query: as they are, or those of its FROM if it names columns of the query around it."""
    try:
        # Only an attempt tells whether it is correlated: a name that is unknown inside may be one around it.
        node = binding.bind_inside(query)
    except SqlExtError as error:
        if error.code not in ("NAME-002", "NAME-003") or not _is_plain(query, binding.env.mode):
            raise
        return _correlated(binding, query)
    alias = "__in"
    items = tuple(ColumnRef(query.span, (alias, f"__{i}")) for i in range(len(node.columns)))
    columns = tuple(c.renamed(f"__{i}") for i, c in enumerate(node.columns))
    scope = Scope((ScopeRelation(alias, (alias,), columns),), binding.env.mode, binding.env.zone)
    return Inside(nodes.Aliased(columns, node, alias), scope, items)


def _correlated(binding: Binding, query: Query) -> Inside:
    select = query.body
    assert isinstance(select, Select)
    assert select.from_ is not None
    relations = binding.from_clause()
    node = relations.bind(select.from_)
    scope = relations.scope()
    items: list[Expr] = []
    for item in select.items:
        if isinstance(item.expr, Star):
            items += [ColumnRef(item.span, (*r.qualifier[-1:], c.name)) for r in scope.relations for c in r.columns]
        else:
            items.append(item.expr)
    return Inside(node, scope, tuple(items), select.where, correlated=True)


def _by_spark(test: SubQueryTest, inside: Inside, node: nodes.PlanNode, scope: Scope, alias: str) -> nodes.PlanNode:
    """Return the rows that fulfil EXISTS or IN over a static relation: a semi or anti join of Spark's.

    The relation's columns get names of their own, as its tables may be called as those around it are.
    """
    builder, names = OutputBuilder(inside.scope), dict[tuple[str, str], str]()
    for relation in inside.scope.relations:
        for column in relation.columns:
            names[relation.alias, column.name] = f"{alias}_{len(names)}"
            builder.add(names[relation.alias, column.name], None, Found(relation, column, ()))

    def rule(part: Node) -> Node | None:
        if not isinstance(part, ColumnRef) or not inside.scope.has(part):
            return None
        found = inside.scope.find(part)
        return ColumnRef(part.span, (alias, names[found.relation.alias, found.column.name], *found.path))

    rows = nodes.Project(tuple(builder.columns), inside.node, inside.scope, tuple(builder.outputs))
    known = ScopeRelation(alias, (alias,), rows.columns)
    both = replace(scope, relations=(*scope.relations, known))
    condition = substitute(inside.where, rule) if inside.where is not None else None
    items = (substitute(i, rule) for i in inside.items)
    sought = tuple(zip(sought_operands(test, inside), items, strict=True)) if test.operand is not None else ()
    for asked in (condition, *(Binary(test.expr.span, "=", *pair) for pair in sought)):
        if asked is not None:
            infer(asked, both)
    # NOT IN does not hold where a comparison is unknown, so its anti join takes unknown as found (unknown_counts).
    kind = "LEFT ANTI" if test.negated else "LEFT SEMI"
    right = nodes.Aliased(rows.columns, rows, alias)
    return nodes.Join(node.columns, node, right, kind, both, condition, sought=sought, unknown_counts=test.negated)


def sought_operands(test: SubQueryTest, inside: Inside) -> tuple[Expr, ...]:
    """Return what is looked for.

    Raises:
        SqlExtError: NAME-007 if the sub-query has not as many columns.
    """
    operands = row_items(test.operand) if test.operand is not None else ()
    if len(operands) != len(inside.items):
        message = f"{len(operands)} values are looked for in a sub-query of {len(inside.items)} columns"
        raise SqlExtError("NAME-007", message, span=test.expr.span)
    return operands


def _is_plain(query: Query, mode: str) -> bool:
    """Whether a sub-query's rows are those of its FROM for which WHERE holds, one by one."""
    select = query.body
    if not isinstance(select, Select) or select.from_ is None or query.ctes or query.limit or query.offset:
        return False
    grouped = select.group_by or select.having or select.qualify
    calls = (p for i in select.items for p in own_parts(i.expr) if isinstance(p, Call))
    return not grouped and not any(is_aggregate(c, mode) or c.over is not None for c in calls)


def is_plain_condition(expr: Expr) -> bool:
    return not any(isinstance(p, (Exists, InQuery, ScalarQuery)) for p in own_parts(expr))


def names_around(outer: Scope, inner: Scope) -> JoinNames:
    def side_of(ref: ColumnRef) -> str:
        # As in SQL, a name of the sub-query hides the same name of the query around it.
        if inner.has(ref):
            return RIGHT
        outer.find(ref)
        return LEFT

    return JoinNames(outer, inner, side_of)


def _check_names(inside: Inside, around: Scope) -> None:
    """Check that what EXISTS selects is there, although nobody looks at it."""
    for item in inside.items:
        for part in own_parts(item):
            if isinstance(part, ColumnRef) and not inside.scope.has(part):
                around.find(part)


def _conditions(test: SubQueryTest, inside: Inside, names: JoinNames, plain: tuple[Expr, ...]) -> JoinConditions:
    """Return what the sub-query asks, and of left rows what WHERE asks besides: others need not be kept."""
    conditions = conditions_of(inside.where, names)
    conditions = replace(conditions, left=(*conditions.left, *plain))
    if test.operand is None:
        return conditions
    operands = sought_operands(test, inside)
    pairs = tuple(sought_pair(o, i, test, names) for o, i in zip(operands, inside.items, strict=True))
    # A NULL may be equal to anything, so NOT IN cannot look its matches up by key: each pair is compared.
    if not test.negated:
        return replace(conditions, keys=(*conditions.keys, *pairs))
    return replace(conditions, comparisons=(*conditions.comparisons, *(replace(p, null_aware=True) for p in pairs)))


def sought_pair(operand: Expr, item: Expr, test: SubQueryTest, names: JoinNames) -> Pair:
    pair = compared(operand, "=", item, names)
    if pair is None:
        message = "the values of IN and of its sub-query are of types that cannot be compared"
        raise SqlExtError("JOIN-005", message, span=test.expr.span, hint="CAST one of them")
    return pair
