"""Bind queries: CTEs, set operations, VALUES, ORDER BY. SELECT blocks are in ``blocks``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.grouping.set_operations import distinct_rows, each_as_often, each_once
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.names.meant import meant_otherwise
from sqlext.analysis.ranking.running_numbers import with_running_numbers
from sqlext.analysis.ranking.top_n import with_all_numbers
from sqlext.analysis.relations.binding import Block
from sqlext.analysis.relations.materialisation import materialised
from sqlext.analysis.selects.blocks import bind_block, bind_select
from sqlext.analysis.selects.from_clause import RelationBinder, rename_columns
from sqlext.analysis.selects.items import Item, repeated_item
from sqlext.analysis.selects.order import ordered_stream, with_hidden_keys, without_hidden_keys
from sqlext.analysis.types.coercion import can_explicitly_cast, least_restrictive, mixable
from sqlext.analysis.types.inference import infer
from sqlext.analysis.windows.zones import range_of
from sqlext.dialect.ast.expressions import Expr, Star
from sqlext.dialect.ast.queries import Query, QueryBody, Select, SetOperation, TableBody, Values
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.base import contains
from sqlext.plan.columns import Part, PlanColumn, Time, unique_names
from sqlext.plan.panes import readable
from sqlext.plan.ranking import Rank
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.plan.stateful import unbounded_states
from sqlext.source import Span
from sqlext.types import LogicalType

_TWO_SIDES = 2


class QueryBinder:
    """Binds queries in one environment: the ``Binding`` of all features.

    CTEs are bound where they are used, once per use.
    """

    def __init__(self, env: Environment, ctes: dict[str, tuple[Query, tuple[str, ...]]] | None = None) -> None:
        self.env = env
        self._ctes = ctes or {}
        self._inside: dict[int, nodes.PlanNode] = {}

    def bind_view(self, query: Query, env: Environment) -> nodes.PlanNode:
        """Return the plan of a view's query: no CTE of this query is visible there."""
        return QueryBinder(env).bind(query)

    def from_clause(self, select: Select | None = None) -> RelationBinder:
        """Return an empty FROM clause, of ``select`` where there is one."""
        return RelationBinder(self, select)

    def bind_block(self, block: Block) -> nodes.PlanNode:
        """Return the plan of a SELECT whose FROM is bound."""
        return bind_block(block, self)

    def bind_cte(self, name: str) -> nodes.PlanNode | None:
        """Return the plan of a CTE of that name, or None."""
        if name not in self._ctes:
            return None
        query, columns = self._ctes[name]
        # Without itself: inside a CTE its own name means a table (WITH RECURSIVE is not there).
        visible = {k: v for k, v in self._ctes.items() if k != name}
        node = QueryBinder(self.env, visible).bind(query)
        return rename_columns(node, columns, query.span) if columns else node

    def bind_inside(self, query: Query) -> nodes.PlanNode:
        """Return the plan of a sub-query of an expression, the same one however often it is asked for."""
        if id(query) not in self._inside:
            self._inside[id(query)] = self.bind(query)
        return self._inside[id(query)]

    def bind_whole(self, query: Query) -> nodes.PlanNode:
        """Return the plan of a query that is all of a statement.

        Raises:
            SqlExtError: what ``bind`` raises, RANK-001 for numbers of rows without a range.
        """
        plan = self.bind(query)
        if contains(plan, Rank):
            plan = with_all_numbers(with_running_numbers(plan))
        if self.env.policy.restricted or self.env.settings.get("sqlext.unbounded-state") == "error":
            _refuse_unbounded(plan, query.span)
        return plan

    def bind(self, query: Query) -> nodes.PlanNode:
        """Return the plan of a query.

        Raises:
            SqlExtError: whatever is wrong with it, at its position.
        """
        binder = self
        if query.ctes:
            binder = QueryBinder(self.env, self._visible(query))
        return binder._ordered(query, binder._body(query.body))

    def repeated_item(self, query: Query) -> Item | None:
        """Return the first item of a query's select list that is written with the name of an earlier column."""
        return (
            repeated_item(query.body, QueryBinder(self.env, self._visible(query)))
            if isinstance(query.body, Select)
            else None
        )

    def _visible(self, query: Query) -> dict[str, tuple[Query, tuple[str, ...]]]:
        return self._ctes | {c.name: (c.query, c.columns) for c in query.ctes}

    def _body(self, body: QueryBody) -> nodes.PlanNode:
        if isinstance(body, Select):
            return self._named_apart(body, self._select(body))
        if isinstance(body, SetOperation):
            return self._set_operation(body)
        if isinstance(body, Values):
            return self._values(body)
        if isinstance(body, TableBody):
            return self.from_clause().bind(body.table)
        return self.bind(body)

    def _select(self, select: Select) -> nodes.PlanNode:
        try:
            return bind_select(select, self)
        except SqlExtError as error:
            meant = meant_otherwise(error, select)
            if meant is error:
                raise
            raise meant from error

    def _named_apart(self, select: Select, node: nodes.PlanNode) -> nodes.PlanNode:
        """Return a SELECT with stars as Flink names its columns: a second ``id`` is ``id0``. In Spark both are ``id``.

        Names that are written stay as they are, and cannot be told apart from above.
        """
        if self.env.mode != "flink" or not any(isinstance(item.expr, Star) for item in select.items):
            return node
        return rename_columns(node, tuple(unique_names(c.name for c in node.columns)))

    def _set_operation(self, operation: SetOperation) -> nodes.PlanNode:
        branches: list[nodes.PlanNode] = []
        self._branches(operation, operation.op, operation.all, branches)
        first = branches[0]
        for branch in branches[1:]:
            if len(branch.columns) != len(first.columns):
                message = f"{operation.op} of {len(first.columns)} and {len(branch.columns)} columns"
                hint = f"give as many as the first query, which has {', '.join(c.name for c in first.columns)}"
                at = operation.right.span if len(branches) == _TWO_SIDES else operation.span
                raise SqlExtError("NAME-007", message, span=at, hint=hint)
        op = operation.op + (" ALL" if operation.all else "")
        streaming = any(b.streaming for b in branches)
        branches = [readable(b) for b in branches]
        by_place = zip(*(b.columns for b in branches), strict=True)
        columns = tuple(_common(cols, i, self.env, operation.span) for i, cols in enumerate(by_place))
        self._check_types(branches, operation)
        if streaming and (op != "UNION" or any(b.changelog for b in branches)) and op != "UNION ALL":
            sides = [materialised(b, self.env, f"{op} compares values", operation.span) for b in branches]
            # The result has the names and types of the first side, so that side gets the common types.
            typed = zip(sides[0].columns, columns, strict=True)
            sides[0] = replace(sides[0], columns=tuple(replace(c, type=common.type) for c, common in typed))
            every = each_as_often if operation.all else each_once
            return every(self, operation.op, sides, operation.span)
        if streaming and op == "UNION":
            whole = nodes.SetQuery(columns, "UNION ALL", tuple(branches))
            return distinct_rows(self, whole, "UNION compares values", operation.span)
        return nodes.SetQuery(columns, op, tuple(branches), _hold(branches, columns, self.env.zone) if streaming else 0)

    def _check_types(self, branches: list[nodes.PlanNode], operation: SetOperation) -> None:
        """Refuse columns that have no common type (Flink's rule; Spark finds one for more)."""
        if self.env.mode != "flink":
            return
        for cols in zip(*(b.columns for b in branches), strict=True):
            types = [c.type for c in cols]
            if (
                None not in types
                and _common_type(types, self.env.mode) is None
                and any(t and t.root != "NULL" for t in types)
            ):
                shown = " and ".join(dict.fromkeys(str(t) for t in types))
                raise SqlExtError("TYPE-021", f"{operation.op} cannot put {shown} into one column", span=operation.span)

    def _branches(self, body: QueryBody, op: str, all_: bool, found: list[nodes.PlanNode]) -> None:
        """Flatten a chain of one associative operation, left to right."""
        pending: list[QueryBody] = [body]
        while pending:
            current = pending.pop()
            if isinstance(current, SetOperation) and (current.op, current.all) == (op, all_) and all_:
                pending += [current.right, current.left]
            elif isinstance(current, SetOperation) and current is body:
                found += [self._body(current.left), self._body(current.right)]
            else:
                found.append(self._body(current))

    def _values(self, values: Values) -> nodes.PlanNode:
        width = len(values.rows[0])
        for row in values.rows:
            if len(row) != width:
                hint = f"give each row as many values as the first, {width}"
                raise SqlExtError("NAME-007", f"rows of {width} and {len(row)} values", span=_of_row(row), hint=hint)
        scope = Scope((), self.env.mode, self.env.zone, self.bind_inside)
        types = [[infer(r[i], scope) for r in values.rows] for i in range(width)]
        for i, found in enumerate(types):
            _check_column([r[i] for r in values.rows], found, scope.mode)
        columns = tuple(
            PlanColumn(f"EXPR${i}", _common_type(found, scope.mode), f"col{i + 1}") for i, found in enumerate(types)
        )
        return nodes.ValuesRows(columns, values.rows, scope)

    def _ordered(self, query: Query, node: nodes.PlanNode) -> nodes.PlanNode:
        if not query.order_by and query.limit is None and query.offset is None:
            return node
        scope = self._result_scope(node)
        longer = with_hidden_keys(query, scope)
        if node.streaming:
            # Bound again with the sort keys as columns: only its first plan told which keys come out anyway.
            whole = self._body(longer.body) if longer is not None else node
            scope = self._result_scope(whole)
            ordered = ordered_stream(longer or query, whole, scope)
            return without_hidden_keys(ordered, len(node.columns), scope) if longer is not None else ordered
        if longer is None:
            return nodes.Ordered(node.columns, node, query.order_by, query.limit, query.offset, scope)
        whole = self._body(longer.body)
        scope = self._result_scope(whole)
        ordered = nodes.Ordered(whole.columns, whole, longer.order_by, query.limit, query.offset, scope)
        return without_hidden_keys(ordered, len(node.columns), scope)

    def _result_scope(self, node: nodes.PlanNode) -> Scope:
        return Scope((ScopeRelation("__o", (), node.columns),), self.env.mode, self.env.zone)


def _refuse_unbounded(plan: nodes.PlanNode, span: Span) -> None:
    for state in unbounded_states(plan):
        raise SqlExtError(
            "STATE-001",
            f"{state.unbounded}, and `sqlext.unbounded-state` is 'error'",
            span=state.clause or span,
            hint=state.remedy,
        )


def _of_row(row: tuple[Expr, ...]) -> Span:
    return row[0].span.to(row[-1].span)


def _check_column(values: Sequence[Expr], types: list[LogicalType | None], mode: str) -> None:
    """Refuse values of VALUES that have no common type, at the first that does not go with those before it."""
    for i, type_ in enumerate(types):
        before = types[: i + 1]
        if mode == "spark" and (mixable([t for t in before if t and not t.is_text]) or _are_days(before)):
            continue
        if mixable(before):
            continue
        shown = " and ".join(dict.fromkeys(str(t) for t in before if t is not None))
        first = types[0]
        hint = "give the column values of one type"
        if first is not None and can_explicitly_cast(type_, first):
            hint = f"CAST({values[i].span.one_line} AS {first.flink()})"
        raise SqlExtError("TYPE-021", f"VALUES cannot put {shown} into one column", span=values[i].span, hint=hint)


def _are_days(types: list[LogicalType | None]) -> bool:
    """Whether Spark finds a common type because all are days or times of days."""
    return all(t is None or t.root in ("NULL", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ") or t.is_text for t in types)


def _common(columns: tuple[PlanColumn, ...], index: int, env: Environment, span: Span) -> PlanColumn:
    """Return the column of a union: a time attribute if a branch has one there and all have its type.

    Flink keeps the rowtime of one branch although another has an ordinary timestamp there (measured:
    tvf_agg/window_over_union_mixed); the watermark is then that of the branches that have one. Rowtimes of both types
    are one of the first branch's type.
    """
    first = columns[0]
    type_ = _common_type([c.type for c in columns], env.mode)
    both = {_root(c) for c in columns} == {"TIMESTAMP", "TIMESTAMP_LTZ"}
    if both and type_ is not None and all(c.is_rowtime for c in columns):
        type_ = replace(type_, root=_root(first) or type_.root)
        columns = tuple(replace(c, type=type_) for c in columns)
    timed = next((c for c in columns if c.time is not None), None)
    name = f"{first.name}_{index}"
    if timed is not None and timed.is_rowtime and all(_root(c) == _root(timed) for c in columns):
        part = Part.INSTANT if _root(timed) == "TIMESTAMP" else Part.VALUE
        return PlanColumn(first.name, type_, name, part, timed.time)
    if timed is not None and timed.time is Time.PROCTIME and all(c.time is timed.time for c in columns):
        return replace(timed, name=first.name)
    plain = timed.plain("the branches of UNION have not the same type here", span) if timed else first
    return replace(plain, name=first.name, type=type_, physical=name, part=Part.VALUE)


def _hold(branches: list[nodes.PlanNode], columns: tuple[PlanColumn, ...], zone: str) -> int:
    """Return by how many ms the watermark of a union can be ahead of rows whose rowtime gets another type.

    A watermark is that of the type which its branch has. Rows of a zone behind UTC are older as TIMESTAMP than they
    were as TIMESTAMP_LTZ, and rows of one ahead of UTC the other way.
    """
    wanted = {
        _root(common)
        for branch in branches
        for own, common in zip(branch.columns, columns, strict=True)
        if own.is_rowtime and common.is_rowtime and _root(own) != _root(common)
    }
    least, most = range_of(zone) if wanted else (0, 0)
    return max(-least if "TIMESTAMP" in wanted else 0, most if "TIMESTAMP_LTZ" in wanted else 0, 0)


def _root(column: PlanColumn) -> str | None:
    return column.type.root if column.type else None


def _common_type(types: list[LogicalType | None], mode: str) -> LogicalType | None:
    known = [t for t in types if t is not None and t.root != "NULL"]
    if len(known) < len([t for t in types if t is None or t.root != "NULL"]) or not known:
        return None
    result = least_restrictive(known, mode)
    if result is not None and any(t is not None and (t.nullable or t.root == "NULL") for t in types):
        return result.as_nullable()
    return result
