"""Trace rows of a result to the rows of tables that they are made of, as far as columns tell.

What is known of a result row, the values of its columns, is handed down from node to node. A grouping tells rows by
its keys and its window. Below all groupings there is a chain of nodes that work row by row over one table: rows of it
that agree with what is known are those that count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from sqlext.dialect.ast.expressions import Expr, Literal
from sqlext.dialect.ast.queries import GroupingSets
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.plan.base import PlanNode, walk
from sqlext.plan.columns import PlanColumn
from sqlext.plan.distinct import Distinct
from sqlext.plan.grouping import Aggregate
from sqlext.plan.joins import JoinSide, StreamJoin
from sqlext.plan.lineage.sets import common_keys
from sqlext.plan.lineage.static_joins import KnownColumn, found_column, is_null, of_keys, of_projection, sides_of
from sqlext.plan.lineage.tests import Equal, IsTrue, MayReach, Near, Range, Reaching, Test, Within, reaching_before
from sqlext.plan.matching import Match
from sqlext.plan.nodes import (
    Aliased,
    AssignWindows,
    ComputeMillis,
    ComputeTime,
    Join,
    OneRow,
    Ordered,
    Output,
    Project,
    RestoreTime,
    Scan,
    Selecting,
    SetQuery,
    TagTime,
    ValuesRows,
    WindowKind,
    WindowSpec,
)
from sqlext.plan.normal_form import expression_form
from sqlext.plan.over import Framed, Over, RunningOver, WindowedOver
from sqlext.plan.ranking import Rank
from sqlext.plan.scope import Scope
from sqlext.plan.stateful import Stateful
from sqlext.plan.unnest import Unnested
from sqlext.plan.windows.slides import Slide

Facts = Mapping[tuple[str, str | None], Any]
"""What is known of a row: Arrow's scalars by physical column, and by ``start``, ``end`` or ``time`` of a window.

Of a rowtime, or a window, below other windows also by ``range``: where its time lies (``Range``).
"""

_ROW_BY_ROW = (Project, Aliased, AssignWindows, TagTime, ComputeTime, ComputeMillis, RestoreTime, Scan)
#: What hands on rows of its input as they are.
_CHOOSING = (Rank, Distinct, Aliased, TagTime, ComputeTime, ComputeMillis)
#: Of a column that is added for the event time of windows.
_TIME = "__lineage_time"
#: Of a window: that its time lies in a window of windows, which is the value (``Range``).
_RANGE = "range"


class UntracedError(Exception):
    """Why a row cannot be traced."""


@dataclass(frozen=True)
class Group:
    """A group whose result a row is, or is made of.

    Attributes:
        node: the grouping.
        facts: what is known of its row.
    """

    node: Aggregate
    facts: Facts


@dataclass(frozen=True)
class Origin:
    """The rows of one table that count.

    Attributes:
        scan: the table.
        plan: of all its rows that reach the grouping, the columns that they are tested by.
        tests: what rows must be.
        exact: whether all keys and the window of each grouping are known: else rows of other groups pass too.
        group: the uppermost group that they are in; None for rows that nobody groups.
        clock: where the clock of their micro-batch lies, for windows of processing time.
    """

    scan: Scan
    plan: Project
    tests: tuple[Test, ...]
    exact: bool = True
    group: Group | None = None
    clock: Within | MayReach | None = None


def facts_of(columns: Sequence[PlanColumn], values: Sequence[Any]) -> Facts:
    """Return what the values of some columns tell."""
    return {(c.physical, c.window_bound): value for c, value in zip(columns, values, strict=True)}


def origins(plan: PlanNode, facts: Facts) -> Iterator[Origin]:
    """Yield, for each table that a plan reads, the rows that a result row was made of.

    Raises:
        UntracedError: why they cannot be told.
    """
    if _is_chain(plan):
        yield _origin(plan, (), (), Scope((), "", ""), facts)
    elif isinstance(plan, Aggregate):
        yield from _below_grouping(plan, facts)
    elif isinstance(plan, Project):
        if _contradicts(plan, facts):
            return
        if isinstance(plan.input, (Join, Unnested)):
            yield from _below_static_join(plan.input, of_projection(plan, facts))
        else:
            yield from origins(plan.input, _below_projection(plan, facts))
    elif isinstance(plan, SetQuery):
        yield from _below_set_query(plan, facts)
    elif isinstance(plan, Unnested):
        yield from _below_unnested(plan, facts)
    elif isinstance(plan, StreamJoin):
        for number, side in enumerate((plan.left, plan.right)):
            yield from _below_join(plan, number, side, facts)
    elif isinstance(plan, AssignWindows) and plan.spec.processing:
        yield from _below_clocked_windows(plan, facts)
    elif isinstance(plan, AssignWindows):
        yield from origins(plan.input, _below_windows(plan, facts))
    elif isinstance(plan, (Over, RunningOver, WindowedOver, Match)) or _is_numbered(plan, facts):
        yield from _below_partition(plan, facts)
    elif isinstance(plan, Slide):
        yield from _below_slide(plan, facts)
    elif isinstance(plan, Ordered):
        # Behind OFFSET a row has its place by those before it.
        below = facts if plan.offset is None else {}
        yield from (replace(o, exact=o.exact and plan.offset is None) for o in origins(plan.input, below))
    elif isinstance(plan, (OneRow, ValuesRows)):  # of no table
        return
    elif isinstance(plan, _CHOOSING):
        yield from origins(plan.inputs[0], facts)
    else:
        raise UntracedError(plan.what if isinstance(plan, Stateful) else plan.step)


def rows_below(group: Group) -> Iterator[Origin]:
    """Yield all rows of each table that a grouping reads."""
    for node in walk(group.node):
        if isinstance(node, Scan):
            yield replace(_origin(node, (), (), Scope((), "", ""), {}), group=group)


def _is_chain(plan: PlanNode) -> bool:
    return all(isinstance(n, _ROW_BY_ROW) and not n.changelog for n in walk(plan))


def _below_projection(node: Project, facts: Facts) -> Facts:
    handed = {o.physical: o.handed_on.physical for o in node.outputs if o.handed_on is not None}
    named = {o.physical: c for o in node.outputs if o.expr is not None and (c := _column(o.expr, node.scope))}
    known = {(handed[name], bound): value for (name, bound), value in facts.items() if name in handed}
    # What only names a column is that column, though it may hold its value otherwise.
    values = ((named[name], value) for (name, bound), value in facts.items() if name in named and bound is None)
    return {**{(c.physical, c.window_bound): value for c, value in values}, **known}


def _contradicts(node: Selecting, facts: Facts) -> bool:
    """Whether a column is a constant that the row does not have: it comes from another branch."""
    for output in node.outputs:
        fact = facts.get((output.physical, None))
        if isinstance(output.expr, Literal) and output.expr.kind in ("STRING", "NUMBER") and fact is not None:
            value = fact.as_py()
            if isinstance(value, (str, int)) and str(value) != output.expr.value:
                return True
    return False


def _below_set_query(node: SetQuery, facts: Facts) -> Iterator[Origin]:
    """Yield the rows of all branches: those of EXCEPT that its row is not among are rows that would take it away."""
    union = node.op.upper().startswith("UNION")
    exact = union or all((c.physical, c.window_bound) in facts for c in node.columns)
    for branch in node.branches:
        below = _facts_of_branch(node, branch, facts)
        yield from (replace(origin, exact=origin.exact and exact) for origin in origins(branch, below))


def _below_unnested(node: Unnested, facts: Facts) -> Iterator[Origin]:
    """Yield the rows of which rows were made; of a name that both have it is not known whose value it is."""
    made = {c.physical for c in node.made}
    below = {key: value for key, value in facts.items() if key[0] not in made}
    exact = len(below) == len(facts)
    yield from (replace(origin, exact=origin.exact and exact) for origin in origins(node.input, below))


def _facts_of_branch(node: SetQuery, branch: PlanNode, facts: Facts) -> Facts:
    pairs = zip(node.columns, branch.columns, strict=True)
    keys = [(above.physical, above.window_bound, below) for above, below in pairs]
    ranges: Facts = {(b.physical, _RANGE): facts[name, _RANGE] for name, _, b in keys if (name, _RANGE) in facts}
    known = {(b.physical, b.window_bound): facts[name, bound] for name, bound, b in keys if (name, bound) in facts}
    return {**known, **ranges}


def _below_grouping(node: Aggregate, facts: Facts) -> Iterator[Origin]:
    if _contradicts(node, facts):
        return
    found_keys = _keys_of(node, facts)
    if found_keys is None:
        return
    keys, forms, one_set = found_keys
    window: Facts = {(node.by.window or "", bound): value for (_, bound), value in facts.items() if bound is not None}
    exact = one_set and len({_form(e, node.scope) for e, _ in keys}) == len(forms)
    exact = exact and (node.by.window is None or bool(window))
    if _is_chain(node.input):
        where = () if node.where is None else (node.where,)
        found: Iterable[Origin] = (_origin(node.input, keys, where, node.scope, window),)
    elif isinstance(node.input, (Join, Unnested)):
        found = _below_static_join(node.input, of_keys(keys, node.scope))
    else:
        found = origins(node.input, {**_facts_of_keys(keys, node.scope), **window})
    group = Group(node, facts)
    yield from (replace(origin, exact=origin.exact and exact, group=group) for origin in found)


def _keys_of(node: Aggregate, facts: Facts) -> tuple[list[tuple[Expr, Any]], set[str], bool] | None:
    """Return the keys of a row with their values, the forms of all its keys, and whether they are told for sure.

    Of GROUPING SETS these are the keys of all sets of which it may be: it has NULL for the others. None: it is of none.
    """
    known = {_form(o.expr, node.scope): o for o in node.outputs if o.expr is not None and (o.physical, None) in facts}
    values = {form: facts[o.physical, None] for form, o in known.items()}
    forms, sure = {_form(e, node.scope) for e in node.by.expressions}, True
    if any(isinstance(item, GroupingSets) for item in node.by.items):

        def may_be(keys: Sequence[Expr]) -> bool:
            own = {_form(key, node.scope) for key in keys}
            return not any(form in values and values[form].is_valid for form in forms - own)

        found = common_keys(node.by.items, lambda key: _form(key, node.scope), may_be)
        if found is None:
            return None
        forms, sure = {_form(e, node.scope) for e in found[0]}, found[1]
    return [(o.expr, values[form]) for form, o in known.items() if form in forms and o.expr is not None], forms, sure


def _form(expr: Expr, scope: Scope) -> str:
    return repr(expression_form(expr, scope))


def _facts_of_keys(keys: Sequence[tuple[Expr, Any]], scope: Scope) -> Facts:
    """Return what is known of columns by keys; of a key that is no column nothing is."""
    columns = ((_column(expr, scope), value) for expr, value in keys)
    return {(c.physical, c.window_bound): value for c, value in columns if c is not None}


def _below_join(node: StreamJoin, number: int, side: JoinSide, facts: Facts) -> Iterator[Origin]:
    """Yield the rows of a side that have the values of a result row: in its columns, and in what must be equal."""
    below, other = _below_side(side, facts), node.right if side is node.left else node.left
    known = _below_side(other, facts)
    pads = node.join.pads_right, node.join.pads_left
    below = _without_nulls(below) if pads[number] else below
    known = _without_nulls(known) if pads[1 - number] else known
    keys: list[tuple[Expr, Any]] = []
    for pair in node.equal:
        own, of_other = (pair.left, pair.right) if number == 0 else (pair.right, pair.left)
        value = _value(of_other, other.scope, known)
        if value is None:
            continue
        if not value.is_valid:  # NULL is equal to nothing
            return
        keys.append((own, value))
    plan = node.inputs[number]
    if _is_chain(plan):
        yield _origin(plan, keys, side.filters, side.scope, below)
        return
    yield from origins(plan, {**_facts_of_keys(keys, side.scope), **below})


def _without_nulls(facts: Facts) -> Facts:
    return {key: value for key, value in facts.items() if not is_null(value)}


def _below_static_join(node: Join | Unnested, known: Sequence[KnownColumn]) -> Iterator[Origin]:
    for side in sides_of(node, known):
        yield from (replace(o, exact=o.exact and side.told) for o in origins(side.plan, side.facts))


def _below_windows(node: AssignWindows, facts: Facts) -> Facts:
    """Return what is known below windows of windows: those below have their time in the window above."""
    bounds = {bound: v for (name, bound), v in facts.items() if name == node.physical and bound}
    others = {key: v for key, v in facts.items() if key[0] != node.physical}
    if not bounds:
        return others
    above = bounds.get(_RANGE)
    if above is None:
        return {**others, (node.time.physical, _RANGE): _within(0, node.spec, bounds)}
    return {**others, (node.time.physical, _RANGE): _reaching(node.spec, above)}


def _below_clocked_windows(node: AssignWindows, facts: Facts) -> Iterator[Origin]:
    """Yield the rows that came before a window of processing time was over: when a result of them came is not told."""
    bounds = {bound: v for (name, bound), v in facts.items() if name == node.physical and bound}
    others = {key: v for key, v in facts.items() if key[0] != node.physical}
    above = bounds.pop(_RANGE, Within(0, node.spec, bounds))
    clock = MayReach(0, _window_of(above), None)
    yield from (replace(o, exact=False, clock=o.clock or clock) for o in origins(node.input, others))


def _window_of(above: Range) -> Within:
    return above if isinstance(above, Within) else above.above


def _reaching(spec: WindowSpec, above: Range) -> Reaching | MayReach:
    """Return where times lie whose windows have their own time in a range; not exactly where no grid tells it."""
    grid = spec.months is None and spec.row_offset is None and spec.kind is not WindowKind.SESSION
    if grid and isinstance(above, Within):
        return Reaching(0, spec, above)
    return reaching_before(spec, above)


def _below_slide(node: Slide, facts: Facts) -> Iterator[Origin]:
    """Yield the rows of a window that ends at a time of its key: those of the key in its range."""
    pairs = zip(node.by, node.columns, strict=False)
    known = ((expr, facts.get((column.physical, None))) for expr, column in pairs)
    keys = [(expr, value) for expr, value in known if value is not None]
    within = facts.get((node.columns[len(node.by)].physical, _RANGE))
    window: Facts = {} if within is None else {(node.time.physical, _RANGE): within}
    # Which windows of SLIDE there are only their rows say: one that another window may reach is named, too.
    exact = isinstance(within, Within) and len(keys) == len(node.by)
    (rows,) = node.sources
    if _is_chain(rows):
        found: Iterable[Origin] = (_origin(rows, keys, (), node.scope, window),)
    else:
        found = origins(rows, {**_facts_of_keys(keys, node.scope), **window})
    yield from (replace(origin, exact=origin.exact and exact) for origin in found)


def _within(column: int, spec: WindowSpec, bounds: Mapping[str, Any]) -> Within:
    """Return that a time lies in a window.

    Raises:
        UntracedError: for months with an offset of each row, of which one bound does not tell the other.
    """
    both = "start" in bounds and ("end" in bounds or "time" in bounds)
    if spec.row_offset is not None and spec.months is not None and not both:
        raise UntracedError("windows of months with an offset of each row, without both bounds of the window")
    return Within(column, spec, bounds)


def _is_numbered(node: PlanNode, facts: Facts) -> TypeGuard[Rank]:
    """Whether a row has a number of which the rows before it are a part."""
    number = facts.get((node.number, None)) if isinstance(node, Rank) and node.numbered else None
    return number is not None and number.is_valid and number.as_py() != 1


def _below_partition(node: Over | RunningOver | WindowedOver | Match | Rank, facts: Facts) -> Iterator[Origin]:
    """Yield the rows of a partition: each result looks at several of them."""
    (rows,) = node.sources
    window: Facts = {}
    keys: list[tuple[Expr, Any]] = []
    if isinstance(node, Match):
        pairs = zip(node.partition, node.columns, strict=False)
        known = ((below.physical, facts.get((above.physical, None))) for below, above in pairs)
        partition: Facts = {(physical, None): value for physical, value in known if value is not None}
        exact = False  # which of them are of the match only a search says
    else:
        found = ((e, _value(e, node.scope, facts)) for e in node.partition)
        keys = [(e, v) for e, v in found if v is not None]
        partition, exact = {}, len(keys) == len(node.partition) and not isinstance(node, (RunningOver, Rank))
    if isinstance(node, (WindowedOver, Rank)) and node.window is not None:
        of = node.window.physical
        window = {key: v for key, v in facts.items() if key[0] == of and key[1]}
        exact = exact and bool(window)
    if not _is_chain(rows):
        yield from (
            replace(o, exact=o.exact and exact and isinstance(node, WindowedOver))
            for o in origins(rows, {**partition, **_facts_of_keys(keys, node.scope), **window})
        )
        return
    origin = _origin(rows, keys, (), node.scope, {**partition, **window})
    if isinstance(node, Over):
        near = _near(node, facts)
        exact = exact and near is not None and all(f.frame.ends_in_time or _is_all(f) for f in node.functions)
        origin = origin if near is None else _with_time(origin, node, near)
    yield replace(origin, exact=origin.exact and exact)


def _is_all(function: Framed) -> bool:
    """Whether a function looks at all rows up to its own."""
    return function.kept.preceding is None and function.frame.following == 0


def _near(node: Over, facts: Facts) -> Near | None:
    """Return how near rows are to a row of which the time is known; ROWS frames go by no time."""
    time = node.time
    if time is None or time.window_bound is not None:
        return None
    known = facts.get((time.physical, None))
    if known is None or not known.is_valid:
        return None
    kept = [f.kept for f in node.functions]
    before = None if any(f.unit == "ROWS" or f.preceding is None for f in kept) else max(f.preceding or 0 for f in kept)
    after = None if any(f.unit == "ROWS" and f.ahead for f in kept) else max(f.ahead for f in kept)
    return Near(0, known, before, after)


def _with_time(origin: Origin, node: Over, near: Near) -> Origin:
    """Return rows that are near a time besides."""
    assert node.time is not None
    plan, place = origin.plan, len(origin.plan.outputs)
    output = Output(f"c{place}", handed_on=node.time)
    made = replace(plan, columns=(*plan.columns, _column_of(output)), outputs=(*plan.outputs, output))
    return replace(origin, plan=made, tests=(*origin.tests, replace(near, column=place)))


def _below_side(side: JoinSide, facts: Facts) -> Facts:
    found = {}
    for carried in side.carried:
        column = carried.column
        for (name, bound), value in facts.items():
            if name == carried.physical:
                found[column.physical, bound or column.window_bound] = value
    return found


def _column(expr: Expr, scope: Scope) -> PlanColumn | None:
    """Return the column that an expression is, if it is one."""
    found = found_column(expr, scope)
    return found.column if found is not None else None


def _value(expr: Expr, scope: Scope, facts: Facts) -> Any:
    column = _column(expr, scope)
    return None if column is None else facts.get((column.physical, column.window_bound))


def _origin(
    chain: PlanNode, keys: Sequence[tuple[Expr, Any]], where: Sequence[Expr], scope: Scope, facts: Facts
) -> Origin:
    """Return the rows of a chain for which conditions hold, and whose keys and columns are what is known of them."""
    (scan,) = (n for n in walk(chain) if isinstance(n, Scan))
    assigned = next((n for n in walk(chain) if isinstance(n, AssignWindows)), None)
    clock: Within | MayReach | None = None
    below = chain if assigned is None else _without_windows(chain)
    outputs: list[Output] = []
    tests: list[Test] = []
    for column in _each(below.columns):
        if (column.physical, None) in facts:
            tests.append(Equal(len(outputs), facts[column.physical, None]))
            outputs.append(Output(f"c{len(outputs)}", handed_on=column))
        window = facts.get((column.physical, _RANGE))
        if window is not None and column.window_bound is None and column.time is not None:
            tests.append(replace(window, column=len(outputs)))
            outputs.append(Output(f"c{len(outputs)}", handed_on=column))
    bounds = {bound: v for (name, bound), v in facts.items() if bound and assigned and name == assigned.physical}
    above = bounds.pop(_RANGE, None)
    if assigned is not None and assigned.spec.processing:
        # The result of a window comes after its end: by then the window above it may be another one.
        if above is not None:
            clock = MayReach(0, _window_of(above), None)
        elif bounds:
            clock = Within(0, assigned.spec, bounds)
    elif assigned is not None and above is not None:
        tests.append(replace(_reaching(assigned.spec, above), column=len(outputs)))
        outputs.append(Output(f"c{len(outputs)}", handed_on=_time_of(below)))
    if assigned is not None and bounds and not assigned.spec.processing:
        tests.append(_within(len(outputs), assigned.spec, bounds))
        outputs.append(Output(f"c{len(outputs)}", handed_on=_time_of(below)))
    for expr, value in keys:
        tests.append(Equal(len(outputs), value))
        outputs.append(Output(f"c{len(outputs)}", expr=expr))
    for condition in where:
        tests.append(IsTrue(len(outputs)))
        outputs.append(Output(f"c{len(outputs)}", expr=condition))
    if not outputs:  # of what tells nothing all rows count
        outputs.append(Output("c0", handed_on=next(c for c in _each(below.columns) if c.physical)))
    columns = tuple(_column_of(o) for o in outputs)
    exact = not any(isinstance(test, MayReach) for test in (*tests, clock))
    return Origin(scan, Project(columns, below, scope, tuple(outputs)), tuple(tests), exact, clock=clock)


def _column_of(output: Output) -> PlanColumn:
    if output.handed_on is None:
        return PlanColumn(output.physical, None, output.physical)
    return replace(output.handed_on, name=output.physical, physical=output.physical, time=None)


def _time_of(chain: PlanNode) -> PlanColumn:
    """Return the event time that a chain without its windows hands on."""
    return next(c for c in chain.columns if c.physical == _TIME)


def _without_windows(node: PlanNode) -> PlanNode:
    """Return a chain without its windows, whose event time each node hands on instead."""
    if isinstance(node, AssignWindows):
        # A length of each row only says which windows it has.
        below = node.input.input if isinstance(node.input, ComputeMillis) else node.input
        timed = Output(_TIME, handed_on=node.time)
        if node.spec.processing:  # no column has it
            timed = Output(_TIME, expr=parse_expression_text("0"))
        outputs = (*(_handed(c) for c in _each(below.columns) if c.physical), timed)
        columns = (*below.columns, replace(node.time, name=_TIME, physical=_TIME))
        return Project(columns, below, Scope((), "", ""), outputs)
    if isinstance(node, Scan):
        return node
    below = _without_windows(node.inputs[0])
    if not any(c.physical == _TIME for c in below.columns):  # below the windows
        return node.with_inputs((below,))
    time = _time_of(below)
    kept = tuple(c for c in node.columns if c.window_bound is None)
    made = replace(node.with_inputs((below,)), columns=(*kept, time))
    if not isinstance(made, Selecting):
        return made
    held = {c.physical for c in kept}
    return replace(made, outputs=(*(o for o in made.outputs if o.physical in held), Output(_TIME, handed_on=time)))


def _handed(column: PlanColumn) -> Output:
    return Output(column.physical, handed_on=column)


def _each(columns: Sequence[PlanColumn]) -> Iterator[PlanColumn]:
    """Yield columns, one for each physical one."""
    yield from {c.physical: c for c in columns}.values()
