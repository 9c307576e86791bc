"""Join sub-queries that are values to FROM: each becomes a column there.

They are over a stream, or correlated. A scalar sub-query is one row, or one row per key with ``k = outer.k``: a LEFT
JOIN. ``EXISTS`` tells whether the keys match. So does ``IN`` where unknown counts as false: under AND and OR of WHERE,
and of the conditions of CASE and IF.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlext.analysis.grouping.group_by import is_grouped
from sqlext.analysis.grouping.set_operations import distinct_rows
from sqlext.analysis.joins.conditions import JoinConditions, conditions_of
from sqlext.analysis.joins.planning import StreamJoinParts, planned
from sqlext.analysis.joins.semi import inside_of, names_around, sought_operands, sought_pair, sub_query_test
from sqlext.analysis.names.substitution import substitute
from sqlext.analysis.names.used import used_names
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.relations.extended import extended
from sqlext.analysis.relations.outputs import OutputBuilder
from sqlext.analysis.relations.state_ttl import ttl_of
from sqlext.analysis.types.calls import is_aggregate
from sqlext.dialect.ast.expressions import (
    AllOf,
    Binary,
    Call,
    Case,
    ColumnRef,
    Exists,
    Expr,
    InQuery,
    Literal,
    Node,
    Paren,
    ScalarQuery,
    When,
)
from sqlext.dialect.ast.queries import GroupBy, Query, Select, SelectItem
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.joins import Pair
from sqlext.plan.panes import readable
from sqlext.plan.scope import Scope, ScopeRelation, own_parts
from sqlext_udfs.joins.specification import JoinKind

_T = TypeVar("_T")
SubQuery = ScalarQuery | Exists | InQuery
_VALUE, _KEY = "__value", "__key{}"


@dataclass(frozen=True)
class _Joined:
    """What is joined for a sub-query.

    Attributes:
        node: its rows: keys, and the value of a scalar one.
        keys: what is equated, the right side by name of a column of ``node``.
        value: what it is worth beside a row, over the columns of ``node``; ``{}`` stands for their qualifier.
    """

    node: nodes.PlanNode
    keys: tuple[Pair, ...]
    value: str


def with_sub_queries(block: Block, binding: Binding) -> Block:
    """Return a SELECT without such sub-queries in its WHERE and select list, and a FROM with their values.

    Those that cannot be joined stay where they are (``misplaced_sub_query``), and those that Spark can compute.

    Raises:
        SqlExtError: JOIN-016 for what a sub-query asks that no key says.
    """
    return _Values(block, binding).joined()


def has_values_of_streams(select: Select, binding: Binding) -> bool:
    """Whether the select list or HAVING of a SELECT that groups has sub-queries over a stream.

    Such ones are joined to the groups. They know no column of the query around them.

    Raises:
        SqlExtError: JOIN-017 for one that does, or within an aggregate.
    """
    exprs = [i.expr for i in select.items] + ([select.having] if select.having is not None else [])
    found = False
    for part in (p for e in exprs for p in own_parts(e) if isinstance(p, (ScalarQuery, Exists, InQuery))):
        try:
            streaming = binding.bind_inside(part.query).streaming
        except SqlExtError as error:
            raise (misplaced_sub_query(part) if error.code in ("NAME-002", "NAME-003") else error) from None
        inside = (p for e in exprs for p in own_parts(e) if isinstance(p, Call) and is_aggregate(p, binding.env.mode))
        if streaming and any(part is p for call in inside for p in own_parts(call)):
            raise misplaced_sub_query(part)
        found |= streaming
    return found


def misplaced_sub_query(part: SubQuery) -> SqlExtError:
    """Return the refusal of a sub-query over a stream where it cannot be joined."""
    return SqlExtError(
        "JOIN-017",
        "a sub-query over a stream cannot stand here",
        span=part.span,
        hint="over a stream: EXISTS and aggregates without GROUP BY, beside groups without columns from around them; "
        "IN under AND and OR of WHERE, HAVING and WHEN; compute what is below in a sub-query of FROM",
    )


class _Values:
    def __init__(self, block: Block, binding: Binding) -> None:
        self.binding = binding
        self.select = block.select
        self.node = block.node
        self.scope = block.scope
        self.used = used_names(block.select)
        # By id of the node: the same text at two places is two sub-queries, each with a join of its own.
        self.columns: dict[int, tuple[str, str]] = {}

    def joined(self) -> Block:
        """Return the SELECT, its FROM and what its names mean."""
        select = self.select
        grouped = is_grouped(select, self.scope.mode)
        for part, monotone in _sub_queries(select.where, monotone=True):
            self._join(part, monotone=monotone)
        # Beside GROUP BY a joined value would be a column that is not grouped by; checked_items refuses it (JOIN-017).
        for item in () if grouped else select.items:
            for part, monotone in _sub_queries(item.expr, monotone=False):
                self._join(part, monotone=monotone)
        if not self.columns:
            return Block(select, self.node, self.scope)
        items = tuple(replace(i, expr=substitute(i.expr, self._value)) for i in select.items)
        where = substitute(select.where, self._value) if select.where is not None else None
        return Block(replace(select, items=items, where=where), self.node, self.scope)

    def _value(self, node: Node) -> Node | None:
        column = self.columns.get(id(node))
        return ColumnRef(node.span, column) if column is not None else None

    def _join(self, part: SubQuery, *, monotone: bool) -> None:
        """Join a sub-query, if it is over a stream and can stand where it does."""
        made = self._scalar(part) if isinstance(part, ScalarQuery) else self._mark(part, monotone=monotone)
        if made is None:
            return
        # It would be a LEFT JOIN of static rows with a stream, which JOIN-018 refuses in FROM.
        if made.node.streaming and not self.node.streaming:
            raise misplaced_sub_query(part)
        number = len(self.columns)
        alias, qualifier = f"__v{number}", f"__value{number}"
        right = ScopeRelation(alias, (qualifier,), made.node.columns)
        keys = tuple(replace(k, right=ColumnRef(k.right.span, (qualifier, _name(k.right)))) for k in made.keys)
        below = nodes.Aliased(made.node.columns, made.node, alias)
        joined = self._static(below, right, keys) if not below.streaming else self._stream(part, below, right, keys)
        node, own, last = joined
        text = made.value.format(qualifier)
        value = parse_expression_text(text, self.scope.mode, "the value of a sub-query")
        around = replace(self.scope, relations=(*own, last))
        self.node, known, columns = extended(node, own, [(qualifier, value)], around, f"__x{number}")
        # A qualifier alone reaches it: * does not.
        added = ScopeRelation(f"__x{number}", (qualifier,), columns, frozenset((qualifier,)))
        self.scope = replace(self.scope, relations=(*known, added))
        self.columns[id(part)] = (qualifier, qualifier)

    def _static(
        self, below: nodes.Aliased, right: ScopeRelation, keys: tuple[Pair, ...]
    ) -> tuple[nodes.PlanNode, list[ScopeRelation], ScopeRelation]:
        """Return FROM joined with static rows by Spark, its relations, and that of these rows."""
        own = list(self.scope.relations)
        both = replace(self.scope, relations=(*own, right))
        columns = tuple(c for r in both.relations for c in r.columns)
        sought = tuple((k.left, k.right) for k in keys)
        left = readable(self.node)
        return nodes.Join(columns, left, readable(below), "LEFT", both, sought=sought), own, right

    def _stream(
        self, part: SubQuery, below: nodes.Aliased, right: ScopeRelation, keys: tuple[Pair, ...]
    ) -> tuple[nodes.PlanNode, list[ScopeRelation], ScopeRelation]:
        """Return FROM joined with rows of a stream, its relations, and that of these rows."""
        number = len(self.columns)
        inner = Scope((right,), self.scope.mode, self.scope.zone)
        names = {c.name.lower() for c in right.columns}
        parts = StreamJoinParts(
            part.span,
            JoinKind.LEFT,
            (self.node, below),
            (self.scope.relations, (right,)),
            names_around(self.scope, inner),
            JoinConditions(keys=keys),
            f"__w{number}",
            (
                ttl_of(self.scope.relations, self.select.hints, self.binding.env),
                ttl_of((right,), (), self.binding.env),
            ),
            # Values of earlier sub-queries are columns of FROM by now, and must come through this join too.
            used=self.used | names | self._earlier() if self.used is not None else None,
        )
        node, given = planned(parts)
        return node, given[:-1], given[-1]

    def _earlier(self) -> set[str]:
        return {name for column in self.columns.values() for name in column}

    def _scalar(self, part: ScalarQuery) -> _Joined | None:
        """Return the one row of a sub-query, or with equalities in its WHERE that name columns around it one a key."""
        select = part.query.body
        if not _is_one_row(part.query, self.scope.mode):
            return self._other(part)
        assert isinstance(select, Select)
        try:
            node = self.binding.bind_inside(part.query)
        except SqlExtError as error:
            if error.code not in ("NAME-002", "NAME-003") or select.from_ is None or _limits(part.query):
                raise
            return self._scalar_by_key(part, select)
        if not node.streaming:
            return None
        (column,) = _one(node.columns, part)
        renamed = replace(node, columns=(column.renamed(_VALUE),))
        return _Joined(renamed, (), f"{{}}.{_VALUE}")

    def _other(self, part: ScalarQuery) -> _Joined | None:
        """Leave a sub-query over static tables to Spark.

        Raises:
            SqlExtError: JOIN-016 for one over a stream: it may have several rows.
        """
        if not self.binding.bind_inside(part.query).streaming:
            return None
        message = (
            "a sub-query over a stream that is a value must be an aggregate without GROUP BY: it may have many rows"
        )
        raise SqlExtError("JOIN-016", message, span=part.span, hint="MAX(...), or a join")

    def _scalar_by_key(self, part: ScalarQuery, select: Select) -> _Joined:
        relations = self.binding.from_clause()
        assert select.from_ is not None
        node = relations.bind(select.from_)
        inner = relations.scope()
        keys, where = self._keys(part, conditions_of(select.where, names_around(self.scope, inner)))
        (item,) = _one(select.items, part)
        # A key without rows has no group, so the LEFT JOIN gives NULL, but COUNT of no rows is 0.
        counts = isinstance(item.expr, Call) and item.expr.function == "COUNT"
        items = [SelectItem(k.right.span, k.right, _KEY.format(i)) for i, k in enumerate(keys)]
        grouped = replace(
            select,
            items=(*items, replace(item, alias=_VALUE)),
            where=where,
            group_by=GroupBy(part.span, tuple(k.right for k in keys)),
            from_=None,
        )
        rows = self.binding.bind_block(Block(grouped, node, inner))
        value = f"COALESCE({{}}.{_VALUE}, 0)" if counts else f"{{}}.{_VALUE}"
        return _Joined(rows, _by_name(keys), value)

    def _mark(self, part: Exists | InQuery, *, monotone: bool) -> _Joined | None:
        """Return the different keys that EXISTS or IN asks for."""
        inside = inside_of(self.binding, part.query)
        if not inside.node.streaming and not inside.correlated:
            return None
        test = sub_query_test(part)
        assert test is not None
        # The mark is false where IN is unknown, which NOT, CASE or a select list would tell apart.
        if test.operand is not None and (test.negated or not monotone):
            raise misplaced_sub_query(part)
        names = names_around(self.scope, inside.scope)
        conditions = conditions_of(inside.where, names)
        if test.operand is not None:
            sought = zip(sought_operands(test, inside), inside.items, strict=True)
            pairs = tuple(sought_pair(o, i, test, names) for o, i in sought)
            conditions = replace(conditions, keys=(*conditions.keys, *pairs))
        keys, where = self._keys(part, conditions)
        builder = OutputBuilder(inside.scope)
        for i, key in enumerate(keys):
            builder.add(_KEY.format(i), key.right, None)
        # EXISTS without keys: its rows come down to one row TRUE, which matches every row around it.
        if not keys:
            builder.add(_KEY.format(0), parse_expression_text("TRUE", self.scope.mode, "EXISTS"), None)
        rows = nodes.Project(tuple(builder.columns), inside.node, inside.scope, tuple(builder.outputs), where)
        # Each key once, or the LEFT JOIN would multiply the rows around it.
        once = distinct_rows(self.binding, rows, "EXISTS and IN compare values", part.span)
        return _Joined(once, _by_name(keys), f"{{}}.{_KEY.format(0)} IS NOT NULL")

    def _keys(self, part: SubQuery, conditions: JoinConditions) -> tuple[tuple[Pair, ...], Expr | None]:
        """Return what equates the sub-query with the rows around it, and what it asks of its own rows."""
        others = (*conditions.comparisons, *conditions.rest, *conditions.left)
        if others or any(k.operator != "=" for k in conditions.keys):
            raise SqlExtError(
                "JOIN-016",
                "a sub-query that is a value can only equate its columns with those around it",
                span=part.span,
                hint="write inner.k = outer.k connected by AND, or a join",
            )
        where = AllOf(part.span, conditions.right) if conditions.right else None
        return conditions.keys, where


def _sub_queries(expr: Expr | None, *, monotone: bool) -> Iterator[tuple[SubQuery, bool]]:
    """Yield the sub-queries of an expression, and whether an unknown one counts as false.

    It does in a condition: of the whole, of WHEN without an operand, and of IF, each under AND and OR alone.
    """
    if expr is None:
        return
    if isinstance(expr, (ScalarQuery, Exists, InQuery)):
        yield expr, monotone
    connects = isinstance(expr, (AllOf, Paren)) or (isinstance(expr, Binary) and expr.op.upper() in ("AND", "OR"))
    conditions = {id(c) for c in _conditions(expr)}
    for child in expr.children():
        if isinstance(child, Expr):
            yield from _sub_queries(child, monotone=(monotone and connects) or id(child) in conditions)
        elif isinstance(child, When):
            yield from _sub_queries(child.condition, monotone=id(child.condition) in conditions)
            yield from _sub_queries(child.result, monotone=False)
        elif not isinstance(child, Query):
            for part in own_parts(child):
                if isinstance(part, (ScalarQuery, Exists, InQuery)):
                    yield part, False


def _conditions(expr: Expr) -> tuple[Node, ...]:
    """Return the parts of an expression that choose among others."""
    if isinstance(expr, Case) and expr.operand is None:
        return tuple(when.condition for when in expr.whens)
    return expr.args[:1] if isinstance(expr, Call) and expr.function == "IF" else ()


def _is_one_row(query: Query, mode: str) -> bool:
    """Whether a query gives one row at most: an aggregate without GROUP BY, or LIMIT 1."""
    select = query.body
    if not isinstance(select, Select) or query.ctes:
        return False
    if isinstance(query.limit, Literal) and query.limit.value == "1":
        return True
    if select.group_by is not None or select.having is not None:
        return False
    calls = (p for i in select.items for p in own_parts(i.expr) if isinstance(p, Call))
    return any(is_aggregate(c, mode) and c.over is None for c in calls)


def _limits(query: Query) -> bool:
    """Whether a query takes some of its rows alone: then it is not the same for each key."""
    return query.limit is not None or query.offset is not None or bool(query.order_by)


def _one(columns: tuple[_T, ...], part: ScalarQuery) -> tuple[_T]:
    """Return the only column of a sub-query.

    Raises:
        SqlExtError: NAME-007 if it has several.
    """
    if len(columns) != 1:
        message = f"a sub-query that is a value has one column, this one has {len(columns)}"
        raise SqlExtError("NAME-007", message, span=part.span)
    return (columns[0],)


def _by_name(keys: Sequence[Pair]) -> tuple[Pair, ...]:
    return tuple(replace(k, right=ColumnRef(k.right.span, (_KEY.format(i),))) for i, k in enumerate(keys))


def _name(expr: Expr) -> str:
    assert isinstance(expr, ColumnRef)
    return expr.parts[-1]
