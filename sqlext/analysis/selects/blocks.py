"""Bind SELECT blocks.

Parts of a SELECT become nodes below it, step by step, in the order of the tuples here. The rest projects or groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from sqlext.analysis.emit.nearest import without_nearest_emit
from sqlext.analysis.functions.panes import PANE_COLUMNS
from sqlext.analysis.grouping.group_by import find_grouping, is_grouped
from sqlext.analysis.grouping.set_operations import distinct_rows
from sqlext.analysis.joins.semi import with_semi_joins
from sqlext.analysis.joins.sub_queries import has_values_of_streams, with_sub_queries
from sqlext.analysis.names.registered import with_registered
from sqlext.analysis.names.stars import with_fields
from sqlext.analysis.over.calls import has_over, needs_a_step, with_aliases_in_qualify, with_windows_written_out
from sqlext.analysis.over.grouped import with_groups_below
from sqlext.analysis.ranking.top_n import with_limits
from sqlext.analysis.relations.binding import Binding, Block
from sqlext.analysis.relations.hints import check_query_hints
from sqlext.analysis.relations.outputs import OutputBuilder
from sqlext.analysis.selects.groups import bind_groups
from sqlext.analysis.selects.items import Item, checked_items
from sqlext.analysis.selects.over import with_over
from sqlext.analysis.selects.slides import with_slides
from sqlext.analysis.selects.watermark_column import CURRENT_WATERMARK, with_current_watermark
from sqlext.analysis.windows.group_windows import with_group_window
from sqlext.analysis.windows.sessions import session_rows
from sqlext.dialect.ast.expressions import Call, Exists, InQuery, Node, ScalarQuery
from sqlext.dialect.ast.queries import Select
from sqlext.errors import SqlExtError
from sqlext.plan import nodes
from sqlext.plan.base import contains
from sqlext.plan.ranking import Rank
from sqlext.plan.scope import own_parts
from sqlext.plan.windows.slides import SlideRows


class Step(NamedTuple):
    """A feature of SELECT.

    Attributes:
        may_apply: whether a SELECT may use it, told cheaply; the feature itself then looks closer.
        take: takes the feature's part out of a block and puts nodes below it.
    """

    may_apply: Callable[[Block], bool]
    take: Callable[[Block, Binding], Block]


def _has_sub_queries(block: Block) -> bool:
    return any(isinstance(part, (Exists, InQuery, ScalarQuery)) for part in _parts(block.select))


def _groups_by_calls(block: Block) -> bool:
    group_by = block.select.group_by
    return group_by is not None and any(isinstance(item, Call) for item in group_by.items)


def _asks_for_the_watermark(block: Block) -> bool:
    return any(isinstance(part, Call) and part.function == CURRENT_WATERMARK for part in _parts(block.select))


def _may_limit_ranks(block: Block) -> bool:
    return block.select.where is not None and contains(block.node, Rank)


def _parts(select: Select) -> Iterator[Node]:
    return own_parts(replace(select, from_=None))


_LIMITS = Step(_may_limit_ranks, with_limits)
#: What of a SELECT is joined or added to its FROM, in this order.
# Ranks have their range before anything stands above them. Then semi joins: what they leave of IN and EXISTS becomes a
# column. A group window is assigned to joined rows.
_TO_FROM = (
    _LIMITS,
    Step(_has_sub_queries, with_semi_joins),
    Step(_has_sub_queries, with_sub_queries),
    Step(_groups_by_calls, with_group_window),
)
#: What becomes nodes above the FROM, in this order.
_ABOVE_FROM = (
    Step(lambda block: block.select.qualify is not None, with_aliases_in_qualify),
    Step(_asks_for_the_watermark, with_current_watermark),
    _LIMITS,
)
#: Calls with OVER, where operators compute them. QUALIFY is WHERE then, so it may limit ranks.
_OVER = (Step(lambda block: has_over(block.select), with_over), _LIMITS)


def bind_select(select: Select, binding: Binding) -> nodes.PlanNode:
    """Return the plan of a SELECT.

    Raises:
        SqlExtError: NAME-..., TYPE-..., TIME-..., WINDOW-..., JOIN-... for what is wrong.
    """
    if binding.env.functions.names("aggregate", "scalar"):
        select = with_registered(select, binding.env.functions)
    check_query_hints(select)
    clause = binding.from_clause(select)
    node = clause.bind(select.from_) if select.from_ is not None else nodes.OneRow(())
    scope = clause.scope()
    select = without_nearest_emit(select, binding.env.mode)
    return bind_block(_through(_TO_FROM, Block(with_fields(select, scope), node, scope), binding), binding)


def bind_block(block: Block, binding: Binding) -> nodes.PlanNode:
    """Return the plan of a SELECT whose FROM is bound.

    Raises:
        SqlExtError: what ``bind_select`` raises.
    """
    mode = binding.env.mode
    if block.select.distinct and is_grouped(block.select, mode):
        # DISTINCT is over the rows of the groups, so these come first.
        groups = bind_block(replace(block, select=replace(block.select, distinct=False)), binding)
        return _distinct(groups, block.select, binding)
    if block.node.streaming and is_grouped(block.select, mode) and has_values_of_streams(block.select, binding):
        return bind_block(_through(_TO_FROM, with_groups_below(block, binding), binding), binding)
    block = _through(_ABOVE_FROM, block, binding)
    if has_over(block.select) and (block.node.streaming or needs_a_step(block.select)):
        if is_grouped(block.select, mode):
            return bind_block(with_groups_below(block, binding), binding)
        block = _through(_OVER, block, binding)
    elif block.select.windows:
        block = with_windows_written_out(block, binding)
    return _result(block, binding)


def _through(steps: tuple[Step, ...], block: Block, binding: Binding) -> Block:
    for step in steps:
        if step.may_apply(block):
            block = step.take(block, binding)
    return block


def _result(block: Block, binding: Binding) -> nodes.PlanNode:
    """Return the groups or the rows of a SELECT from which nothing more is taken out."""
    items = checked_items(block, binding)
    grouping = find_grouping(block.select, [i.expr for i in items], block.scope)
    if contains(block.node, SlideRows):
        block = with_slides(block, items, grouping, binding)
        items, grouping = checked_items(block, binding), None
    # A grouping of static rows has one result, and ignores EMIT but for FILL. Without it no pane says what it is.
    emit = block.select.emit
    if grouping is None or not (block.node.streaming or (emit is not None and emit.fill is not None)):
        _check_no_panes(block.select if grouping is None else replace(block.select, emit=None), items)
    if grouping is not None:
        return bind_groups(block, items, grouping, binding)
    plain = _project(block, items)
    return _distinct(plain, block.select, binding) if block.select.distinct else plain


def _distinct(node: nodes.PlanNode, select: Select, binding: Binding) -> nodes.PlanNode:
    return distinct_rows(binding, node, "SELECT DISTINCT compares values", select.span)


def _project(block: Block, items: list[Item]) -> nodes.PlanNode:
    builder = OutputBuilder(block.scope)
    for item in items:
        builder.add(item.name, item.expr, item.found)
    # A SELECT that does not group shows the window of each row, and a session's is known only when it ends.
    node = session_rows(block.node) if contains(block.node, nodes.AssignWindows) else block.node
    return nodes.Project(tuple(builder.columns), node, block.scope, tuple(builder.outputs), block.select.where)


def _check_no_panes(select: Select, items: list[Item]) -> None:
    """Refuse EMIT and what a pane says of itself where nothing is grouped."""
    if select.emit is not None:
        message = (
            "EMIT needs a GROUP BY, a window or an as-of join in the same SELECT; this SELECT has no state to emit"
        )
        hint = "leave it out: each row of a SELECT without groups comes out at once"
        raise SqlExtError("EMIT-101", message, span=select.emit.span, hint=hint)
    for expr in (i.expr for i in items if i.expr is not None):
        for part in own_parts(expr):
            if isinstance(part, Call) and part.function in PANE_COLUMNS:
                message = f"{part.function}() is only available where EMIT applies"
                raise SqlExtError("EMIT-111", message, span=part.span)
