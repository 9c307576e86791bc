"""Make dead letters of rows for which an expression fails, wherever a query works row by row.

That is the whole query, or what stands below its joins, windows and other operators. There the dead letters leave it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlext.analysis.expressions.failing import first_failing
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.relations.kept_rows import LETTERS, kept_in
from sqlext.analysis.types.inference import TypeInference
from sqlext.dialect.ast.expressions import Call, Expr, Node
from sqlext.errors import SqlExtError
from sqlext.plan.bad_rows import BadRows
from sqlext.plan.base import walk
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import Aliased, PlanNode, Project, Scan, Selecting
from sqlext.plan.scope import Scope
from sqlext.settings import DEAD_LETTER_CAUSES, DEAD_LETTERS
from sqlext.source import Span


def guarded(plan: PlanNode, env: Environment, span: Span, *, into: bool) -> PlanNode:
    """Return a query in which rows for which an expression fails are dead letters, if SET asks for that.

    Args:
        span: the statement.
        into: whether a sink takes the rows, which may refuse some.

    Raises:
        SqlExtError: OPT-038 for a table that is none of dead letters; OPT-039 for an expression that can fail where
            its rows cannot leave the query.
    """
    name = env.settings.dead_letters("expression")
    if name is None or not plan.streaming:
        return plan
    by_row = _works_by_row(plan)
    for node in walk(plan):
        for expr, scope in _computed(node):
            _refuse(expr, scope, span)
    if not by_row:
        plan = _leaving(plan, lambda: _letters(name, env, span))
        for node in walk(plan):
            for expr, scope in _of_several_rows(node):
                _refuse(expr, scope)
        return plan
    return _keeping(plan, _letters(name, env, span)) if into or _fails_by_row(plan) else plan


def _letters(name: str, env: Environment, span: Span) -> BadRows:
    try:
        return BadRows(kept_in(name, LETTERS, env, span), span, letters=True)
    except SqlExtError as error:
        raise (error if error.span is not None else error.at(span)) from None


def _fails_by_row(plan: PlanNode) -> bool:
    return any(_can_fail(*own) for node in walk(plan) for own in _selected(node))


def _leaving(plan: PlanNode, letters: Callable[[], BadRows]) -> PlanNode:
    """Return a query whose parts that work row by row give their dead letters away, below what works on several."""
    if isinstance(plan, Project) and plan.streaming and _works_by_row(plan):
        if not _fails_by_row(plan):
            return plan
        kept = letters()
        return replace(plan, input=_keeping(plan.input, kept, last=False), letters=kept, leaves=True)
    inputs = tuple(_leaving(below, letters) for below in plan.inputs)
    same = all(one is other for one, other in zip(inputs, plan.inputs, strict=True))
    return plan if same else plan.with_inputs(inputs)


def _keeping(plan: PlanNode, letters: BadRows, *, last: bool = True) -> PlanNode:
    """Return a query by row whose steps give their rows to the table of dead letters; the last one hands on no more."""
    if isinstance(plan, Project):
        below = _keeping(plan.input, letters, last=False)
        return replace(plan, input=below, letters=letters, carries_row=not last)
    return replace(plan, input=_keeping(plan.input, letters, last=last)) if isinstance(plan, Aliased) else plan


def _works_by_row(plan: PlanNode) -> bool:
    """Whether a query is SELECT and WHERE over one stream that only gives new rows."""
    while isinstance(plan, (Project, Aliased)):
        plan = plan.input
    return isinstance(plan, Scan) and not plan.hidden


def _computed(node: PlanNode) -> Iterator[tuple[Expr, Scope]]:
    """Yield the expressions of computed columns."""
    if isinstance(node, Scan):
        yield from ((o.expr, node.scope) for o in node.computed if o.expr is not None)


def _of_several_rows(node: PlanNode) -> Iterator[tuple[Expr, Scope]]:
    """Yield the expressions of a node whose failures end the query: its rows are made of several."""
    if not (isinstance(node, Project) and node.letters is not None):
        yield from _selected(node)
    if isinstance(node, Aggregate):
        yield from ((expr, node.scope) for expr in node.by.expressions)
        if node.having is not None:
            yield node.having, node.scope


def _selected(node: PlanNode) -> Iterator[tuple[Expr, Scope]]:
    """Yield the expressions of SELECT and WHERE."""
    if isinstance(node, Selecting):
        yield from ((o.expr, node.scope) for o in node.outputs if o.expr is not None)
        if node.where is not None:
            yield node.where, node.scope


def _can_fail(expr: Expr, scope: Scope) -> Node | None:
    return first_failing(expr, TypeInference(scope).type_of, scope.mode)


def _refuse(expr: Expr, scope: Scope, span: Span | None = None) -> None:
    found = _can_fail(expr, scope)
    if found is None:
        return
    several = "where rows are made of several: above a join, a window or a grouping"
    where = "in a computed column" if span is not None else several
    place = "in an INSERT of its own" if span is not None else "in a view of one table below that"
    is_python = isinstance(found, Call) and found.python is not None
    instead = "let the function return None" if is_python else "as TRY_CAST"
    raise SqlExtError(
        "OPT-039",
        f"'{DEAD_LETTERS}' cannot take the rows for which `{found.span.one_line}` fails {where}",
        span=span or found.span,
        hint=f"compute it {place}, or {instead}; or SET '{DEAD_LETTER_CAUSES}' = 'decode, late'",
    )
