"""Bind Top-N and deduplication: ROW_NUMBER, RANK and DENSE_RANK with a filter on the number.

This is Flink's pattern (docs, "Top-N", "Deduplication", "Window Top-N"): a sub-query computes the number, the WHERE
around it gives the range. A number by a time attribute that keeps one row is a deduplication.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.over.calls import OverCall, Prepared, aliased
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.relations.state_ttl import setting_ttl
from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import AllOf, Between, Binary, ColumnRef, Expr, Literal, Paren, Star, and_parts
from sqlext.dialect.ast.queries import OrderItem, Select
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.base import walk
from sqlext.plan.columns import PlanColumn, Time
from sqlext.plan.panes import readable
from sqlext.plan.ranking import Rank
from sqlext.plan.scope import Scope, ScopeRelation, own_parts
from sqlext_udfs.ranking.specification import ALL, Emission, Ranking

RANKINGS = frozenset(r.value for r in Ranking)
#: What a comparison with a number says of the first and the last rank.
_BOUNDS = {"=": (0, 0), "<=": (None, 0), "<": (None, -1), ">=": (0, None), ">": (1, None)}
_FLIPPED = {"=": "=", "<=": ">=", "<": ">", ">=": "<=", ">": "<"}


@dataclass(frozen=True)
class RankLimit:
    """The range of a rank that a WHERE asks for, and what else it says."""

    first: int
    last: int
    rest: Expr | None


def bind_rank(call: OverCall, rows: Prepared, env: Environment) -> Prepared:
    """Return rows with their number; which numbers are wanted is not known yet (``with_limits``).

    Raises:
        SqlExtError: OVER-002 without ORDER BY, RANK-002 for the windows of rows that change.
    """
    if not call.over.order_by:
        message = f"{call.call.name} needs ORDER BY in its OVER clause"
        raise SqlExtError("OVER-002", message, span=call.over.span, hint="OVER (PARTITION BY ... ORDER BY ...)")
    # A rank moves when a row above it is taken back, so changes below must say what they take back.
    below = readable(aliased(rows))
    scope = rows.scope
    window, partition = window_of(call, scope)
    if window is not None and below.changelog:
        message = f"{call.call.name} by a window cannot rank rows that change after they were given out"
        raise SqlExtError("RANK-002", message, span=call.call.span, hint="leave the window out of PARTITION BY")
    order, latest_first = _order(call.over.order_by, scope)
    number = PlanColumn(call.name, infer(call.call, scope), call.name)
    rank = Rank(
        (*below.columns, number),
        (below,),
        scope=scope,
        call=call.call,
        partition=partition,
        order=order,
        window=window,
        ranking=Ranking(call.call.function),
        emission=Emission.WINDOW if window is not None else Emission.CHANGES,
        latest_first=latest_first,
        # The end of the window ends the state of a Window Top-N.
        ttl=setting_ttl(env) if window is None else None,
    )
    return rows.with_results(rank.settled(), [number])


def with_limits(block: Block, _: Binding) -> Block:
    """Return a block without the part of its WHERE that says the range of a rank: the rank has it then."""
    select, node, scope = block.select, block.node, block.scope
    open_ranks = [n for n in walk(node) if isinstance(n, Rank) and n.last is None]
    if not open_ranks or select.where is None:
        return block
    for relation in scope.relations:
        for column in relation.columns:
            rank = _rank_of(node, column.physical)
            found = _limit(select.where, scope, column.physical) if rank is not None else None
            if rank is None or found is None:
                continue
            select = replace(select, where=found.rest)
            looked_at = _looked_at(select, scope, column)
            node = _replaced(node, rank, _in_range(rank, found, looked_at=looked_at))
            if select.where is None:
                return Block(select, node, scope)
    return Block(select, node, scope)


def limited(
    node: nodes.PlanNode, relations: Sequence[ScopeRelation], conditions: Sequence[Expr], scope: Scope
) -> nodes.PlanNode:
    """Return a side of a join whose ranks have the ranges that conditions of the join, or of WHERE, give them.

    The conditions stay where they are: they hold for the rows that are left.

    Args:
        relations: those of the side.
        conditions: what is true of all rows of the side that matter.
        scope: what their names mean.
    """
    if not conditions or not any(isinstance(n, Rank) and n.last is None for n in walk(node)):
        return node
    for column in (c for relation in relations for c in relation.columns):
        rank = _rank_of(node, column.physical)
        ranges = [] if rank is None else [_limit(c, scope, column.physical) for c in conditions]
        found = next((r for r in ranges if r is not None), None)
        if rank is not None and found is not None:
            node = _replaced(node, rank, _in_range(rank, found, looked_at=True))
    return node


def with_all_numbers(plan: nodes.PlanNode) -> nodes.PlanNode:
    """Return a plan in which each row keeps its number where no filter says a range: a new row renumbers others.

    Raises:
        SqlExtError: RANK-001 for an order that is not one value, ascending, as Flink refuses it, and for windows.
    """

    def rule(node: nodes.PlanNode) -> nodes.PlanNode:
        if not isinstance(node, Rank) or node.last is not None or not _goes_by_value(node):
            return node
        return replace(node, last=ALL).settled()

    made = plan.transform(rule)
    for node in walk(made):
        if isinstance(node, Rank) and node.last is None:
            raise SqlExtError(
                "RANK-001",
                f"{node.ranking.value} of a stream needs a filter that says up to which number",
                span=node.call.span,
                hint="filter in a query around it: WHERE rn <= 10 (or QUALIFY), or order by one value, ascending",
            )
    return made


def _goes_by_value(rank: Rank) -> bool:
    one = len(rank.order) == 1 and not rank.order[0].descending
    return one and rank.window is None and _only_time(rank) is None


def window_of(call: OverCall, scope: Scope) -> tuple[PlanColumn | None, tuple[Expr, ...]]:
    """Return the window that both bounds of are in PARTITION BY, and the other keys."""
    bounds: dict[str, set[str]] = {}
    columns: dict[str, PlanColumn] = {}
    for expr in call.over.partition_by:
        found = scope.bare(expr)
        if found is not None and found.column.window_bound:
            bounds.setdefault(found.column.physical, set()).add(found.column.window_bound)
            columns[found.column.physical] = found.column
    physical = next((p for p, b in bounds.items() if {"start", "end"} <= b), None)
    if physical is None:
        return None, call.over.partition_by
    others = []
    for expr in call.over.partition_by:
        found = scope.bare(expr)
        if found is None or found.column.physical != physical:
            others.append(expr)
    return columns[physical], tuple(others)


def _order(items: tuple[OrderItem, ...], scope: Scope) -> tuple[tuple[OrderItem, ...], bool]:
    """Return ORDER BY, and whether the latest comes first; processing time is the order in which rows come."""
    first = scope.bare(items[0].expr)
    if first is not None and first.column.time is Time.PROCTIME:
        return (), items[0].descending
    return items, False


def _in_range(rank: Rank, limit: RankLimit, *, looked_at: bool) -> Rank:
    single = limit.first == limit.last == 1
    # Flink's docs, Top-N, No Ranking Output Optimization: without the number a row that only moves changes nothing.
    # A single rank has the same number in all rows.
    made = replace(rank, first=limit.first, last=limit.last, numbered=looked_at and limit.first != limit.last)
    by_time = _only_time(rank)
    if single and by_time is not None and rank.ranking is Ranking.ROW_NUMBER:
        if rank.order[0].descending:
            # Flink's docs, Deduplication: DESC keeps the last row, ASC the first.
            made = replace(made, latest_first=True)
        # The first row by rowtime is final once the watermark has passed it, so nothing is taken back.
        elif rank.emission is Emission.CHANGES and not rank.sources[0].changelog:
            made = replace(made, emission=Emission.FIRST, time=by_time)
    return made.settled()


def _only_time(rank: Rank) -> PlanColumn | None:
    """Return the rowtime that is all of ORDER BY."""
    found = rank.scope.bare(rank.order[0].expr) if len(rank.order) == 1 else None
    return found.column if found is not None and found.column.is_rowtime else None


def _rank_of(node: nodes.PlanNode, physical: str) -> Rank | None:
    """Return the rank without a range whose number a physical column holds."""
    if isinstance(node, Rank) and node.number == physical:
        return node if node.last is None else None
    if isinstance(node, (nodes.Aliased, Rank)):
        return _rank_of(node.inputs[0], physical)
    if isinstance(node, nodes.Project):
        held = next((o.handed_on for o in node.outputs if o.physical == physical and o.handed_on is not None), None)
        below = held.physical if held is not None else _referenced(node, physical)
        return _rank_of(node.input, below) if below is not None else None
    return None


def _referenced(node: nodes.Project, physical: str) -> str | None:
    """Return the physical column that an output merely names."""
    expr = next((o.expr for o in node.outputs if o.physical == physical and o.expr is not None), None)
    found = node.scope.bare(expr) if expr is not None else None
    return found.column.physical if found is not None else None


def _replaced(node: nodes.PlanNode, old: Rank, new: Rank) -> nodes.PlanNode:
    if node is old:
        return new
    inputs = tuple(_replaced(i, old, new) for i in node.inputs)
    return node.with_inputs(inputs) if inputs else node


def _limit(where: Expr, scope: Scope, physical: str) -> RankLimit | None:
    """Return the range that the conjuncts of a WHERE give a column; None if they give no end."""
    first, last = 1, None
    rest: list[Expr] = []
    for part in and_parts(where):
        bounds = _bounds(part, scope, physical)
        if bounds is None:
            rest.append(part)
            continue
        low, high = bounds
        first = max(first, low) if low is not None else first
        last = high if last is None or (high is not None and high < last) else last
    left = AllOf(where.span, tuple(rest)) if rest else None
    return RankLimit(first, last, left) if last is not None else None


def _bounds(part: Expr, scope: Scope, physical: str) -> tuple[int | None, int | None] | None:
    """Return what a conjunct says of a column of numbers, None if it says nothing of it alone."""
    if isinstance(part, Between) and not part.negated and _is(part.operand, scope, physical):
        low, high = _number(part.low), _number(part.high)
        return (low, high) if low is not None and high is not None else None
    if not isinstance(part, Binary) or part.op not in _BOUNDS:
        return None
    op, value = part.op, _number(part.right)
    if not _is(part.left, scope, physical):
        if not _is(part.right, scope, physical):
            return None
        op, value = _FLIPPED[part.op], _number(part.left)
    if value is None:
        return None
    low, high = _BOUNDS[op]
    return (value + low if low is not None else None, value + high if high is not None else None)


def _is(expr: Expr, scope: Scope, physical: str) -> bool:
    if not isinstance(expr, (ColumnRef, Paren)):
        return False
    if isinstance(expr, ColumnRef) and not scope.has(expr):
        return False  # WHERE has names of relations that are joined later
    found = scope.bare(expr)
    return found is not None and found.column.physical == physical


def _number(expr: Expr) -> int | None:
    whole = isinstance(expr, Literal) and expr.kind == "NUMBER" and expr.value.isdigit()
    return int(expr.value) if whole and isinstance(expr, Literal) else None


def _looked_at(select: Select, scope: Scope, column: PlanColumn) -> bool:
    """Whether anything of a SELECT looks at a column."""
    parts = list(own_parts(replace(select, from_=None)))
    if any(isinstance(p, Star) for p in parts):
        return True
    refs = (p for p in parts if isinstance(p, ColumnRef) and scope.has(p))
    return any(scope.find(r).column.physical == column.physical for r in refs)
