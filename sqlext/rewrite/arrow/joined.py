"""Find joins that are done where the rows of a table are read, below an operator that combines what comes out.

All other tables of such a query are read first. Each row of the table that is read last gives its own pairs, whatever
else that table holds: so its slices are joined one by one, and what comes out is combined at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from sqlext.rewrite.arrow.choose_source import weight
from sqlext.rewrite.arrow.in_process import Joined, LocalScript, LocalStep, Operated, Queried
from sqlext.rewrite.script.model import ArrowView, ReadView
from sqlext.sources.joined import Columns, EarlyWork, JoinedWork, JoinStep, with_bucket
from sqlext.sources.program import Program, Stage, Stages
from sqlext.sources.queries import Branch, TableQuery
from sqlext_udfs.expressions.columns import Column, Expression, Literal
from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import LEFT_SIDE, JoinSpecification
from sqlext_udfs.kernel.arrow_types import has_floats
from sqlext_udfs.kernel.operator import BucketOperator
from sqlext_udfs.making import NeedsSparkError, known_without_spark
from sqlext_udfs.windows.making import specification_of
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.panes.columns import is_partial
from sqlext_udfs.windows.specification import WindowSpecification

#: Operators that leave one row of a group, or few, where rows are read; of these, those that look at order.
_COMBINING, _ORDERED = frozenset({"window", "rank", "distinct"}), frozenset({"rank"})
#: Aggregates that take partial results as often as rows match, in any order.
_MERGED = frozenset(
    ["count", "sum", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor", "variance", "covariance"]
)
#: What partial results are called on their way through joins.
_CARRIED = "__partial"


def joined_reads(script: LocalScript) -> list[ReadView | ArrowView]:
    """Return the tables whose rows are joined and combined where they are read."""
    return [step.read for step in joined_where_read(script) if isinstance(step, Joined)]


def joined_where_read(script: LocalScript) -> tuple[LocalStep, ...]:
    """Return the steps of a script, of which some are done where a table is read."""
    found = _Steps(script)
    steps = script.steps
    for step in script.steps:
        if isinstance(step, Operated):
            joined = found.joined(step)
            if joined is not None:
                made, gone = joined
                steps = tuple(made if s is step else s for s in steps if s.view not in gone)
    return steps


@dataclass(frozen=True)
class _Join:
    """A join on the way up, which side of it comes from below, and the SELECTs above it."""

    step: Operated
    given: Columns
    side: int
    other: TableQuery
    stages: Stages
    made: Columns

    @property
    def operator(self) -> JoinOperator:
        return _join_operator(self.step)

    @property
    def specification(self) -> JoinSpecification:
        return self.operator.specification

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.step.operator.columns)

    def plain(self) -> JoinStep:
        return JoinStep(self.operator, self.side, self.given, self.names, self.stages, self.made)


@dataclass(frozen=True)
class _Way:
    """The way of a table's rows up to an operator: the table, SELECTs, and joins from the lowest up."""

    read: ReadView | ArrowView
    program: Program
    joins: tuple[_Join, ...]
    views: tuple[str, ...]


class _Steps:
    """The steps of a script, by their views."""

    def __init__(self, script: LocalScript) -> None:
        self._by_view = {step.view: step for step in script.steps}
        self._used = Counter(_views(script.query))
        for step in script.steps:
            self._used.update(_views(step.query) if isinstance(step, Queried) else ())
            self._used.update([step.input] if isinstance(step, Operated) else ())

    def joined(self, above: Operated) -> tuple[Joined, set[str]] | None:
        """Return a step in place of an operator, and the views that are not needed any more."""
        if above.packed or above.function not in _COMBINING or above.arguments.get("fill") is not None:
            return None
        ways = list(self._ways(above.input, above.function in _ORDERED or _looks_at_order(above)))
        if not ways:
            return None
        # Of several tables the largest: all others are held.
        way = max(ways, key=lambda w: weight(w.read.table))
        ((*_, last),) = way.program.branches
        work = JoinedWork(
            way.program,
            tuple((name, value.type) for name, value in last.columns),
            tuple(join.plain() for join in way.joins),
            above.operator.operator,
            _combining(above, way.joins),
        )
        others = tuple((join.other, join.step.packed) for join in way.joins)
        return Joined(above.view, way.read, work, others, above.operator), {*way.views, way.read.view}

    def _ways(self, view: str, ordered: bool) -> Iterator[_Way]:
        """Yield the ways of rows up to a view that end with a join, of those that only it reads."""
        stages, views, bottom = self._selects(view)
        if not isinstance(bottom, Operated) or not _is_join(bottom) or any(self._used[v] != 1 for v in views):
            return
        union = self._by_view[bottom.input]
        sides = _sides(union, bottom) if self._used[bottom.view] == 1 == self._used[union.view] else None
        if sides is None:
            return
        made = self._columns(view)
        operator = _join_operator(bottom)
        for side, branch in enumerate(sides):
            if not operator.specification.is_joined_row_by_row(side, ordered=ordered):
                continue
            other = TableQuery((sides[1 - side],), _columns_of(union))
            given = _columns_of(union)
            if bottom.packed:
                given = tuple((f"c{i}", of) for i, of in enumerate(operator.types))
            join = _Join(bottom, given, side, other, stages, made)
            yield from self._below(join, branch, (*views, bottom.view, union.view), ordered)

    def _below(self, join: _Join, branch: Branch, views: tuple[str, ...], ordered: bool) -> Iterator[_Way]:
        stages, below, bottom = self._of_branch(branch)
        if any(self._used[v] != 1 for v in below):
            return
        views = (*views, *below)
        if isinstance(bottom, ArrowView) and join.step.packed and self._used[bottom.view] == 1:
            program = bottom.program
            if isinstance(program, Program) and len(program.branches) == 1:
                yield _Way(bottom, _own(program, join), (join,), views)
        elif isinstance(bottom, ReadView) and bottom.large and self._used[bottom.view] == 1:
            program = bottom.program
            assert isinstance(program, Program)
            ((own,),) = program.branches
            yield _Way(bottom, _own(replace(program, branches=((own, *stages),)), join), (join,), views)
        elif isinstance(bottom, Operated):
            # Another join, whose rows are what this one takes.
            for way in self._ways(bottom.view, ordered) if _is_join(bottom) else ():
                lowest = way.joins[-1]
                typed = (*stages[:-1], replace(stages[-1], columns=_typed(stages[-1].columns, join.given)))
                between = replace(lowest, stages=(*lowest.stages, *typed), made=join.given)
                yield replace(way, joins=(*way.joins[:-1], between, join), views=(*views, *way.views))

    def _selects(self, view: str) -> tuple[Stages, tuple[str, ...], LocalStep | None]:
        """Return the SELECTs of single relations down from a view, their views, and the step below them."""
        step = self._by_view.get(view)
        if not isinstance(step, Queried):
            return (), (), step
        found = _only_branch(step.query)
        if found is None:
            return (), (), None
        stages, views, bottom = self._of_branch(found)
        return stages, (*views, view), bottom

    def _of_branch(self, branch: Branch) -> tuple[Stages, tuple[str, ...], LocalStep | None]:
        if branch.stage.keeps:
            return (), (), None
        if isinstance(branch.of, str):
            stages, views, bottom = self._selects(branch.of)
        else:
            found = _only_branch(branch.of)
            if found is None:
                return (), (), None
            stages, views, bottom = self._of_branch(found)
        return (*stages, branch.stage), views, bottom

    def _columns(self, view: str) -> Columns:
        step = self._by_view[view]
        if isinstance(step, Queried):
            return step.query.columns
        assert isinstance(step, Operated)
        return step.operator.columns


def _views(query: TableQuery) -> Iterator[str]:
    for branch in query.branches:
        if isinstance(branch.of, str):
            yield branch.of
        else:
            yield from _views(branch.of)


def _only_branch(query: TableQuery) -> Branch | None:
    return query.branches[0] if len(query.branches) == 1 and query.limit is None else None


def _is_join(step: Operated) -> bool:
    return isinstance(step.operator.operator, JoinOperator)


def _join_operator(step: Operated) -> JoinOperator:
    operator = step.operator.operator
    assert isinstance(operator, JoinOperator)
    return operator


def _sides(union: LocalStep, join: Operated) -> tuple[Branch, Branch] | None:
    """Return what the two sides of a join are made of; None where that is not plain to see."""
    if not isinstance(union, Queried) or union.query.limit is not None or len(union.query.branches) != 2:
        return None
    left, right = union.query.branches
    return left, right


def _columns_of(step: LocalStep) -> Columns:
    assert isinstance(step, Queried)
    return step.query.columns


def _own(program: Program, join: _Join) -> Program:
    """Return a program without what is the same in all rows: their side, and NULL for columns of the other one."""
    ((*below, last),) = program.branches
    side = join.given[join.specification.side][0]
    own = tuple((n, e) for n, e in last.columns if n != side and not (isinstance(e, Literal) and e.value is None))
    return replace(program, branches=((*below, replace(last, columns=own or last.columns[:1])),))


def _typed(columns: Sequence[tuple[str, Expression]], given: Columns) -> tuple[tuple[str, Expression], ...]:
    """Return columns of which those that are NULL without a type have the one that they are given."""
    types = dict(given)
    return tuple((n, Literal(types[n]) if pa.types.is_null(e.type) else e) for n, e in columns)


def _looks_at_order(above: Operated) -> bool:
    """Whether it matters to an operator in which order its rows come."""
    of = _windows(above)
    return above.function == "window" and (of is None or any(a.function not in _MERGED for a in of.aggregates))


def _windows(above: Operated) -> WindowSpecification | None:
    if above.function != "window":
        return None
    try:
        return specification_of(above.arguments, known_without_spark)
    except NeedsSparkError:
        return None


def _combining(above: Operated, joins: Sequence[_Join]) -> EarlyWork | None:
    """Return how rows are combined before they are joined; None where they must be joined one by one."""
    of = _windows(above)
    if of is None or (of.kind, of.ttl, of.row) != (None, None, None):
        return None
    types = [of_type for _, of_type in joins[-1].made]
    if any(a.function not in _MERGED or any(pa.types.is_nested(types[i]) for i in a.inputs) for a in of.aggregates):
        return None
    names = [name for name, _ in joins[-1].made]
    read = list(dict.fromkeys(_read(of)))
    down = _Down({names[i] for i in range(of.keys)}, [Column(types[i], name=names[i]) for i in read])
    ways = []
    for join in reversed(joins):
        passed = down.through(join)
        if passed is None:
            return None
        narrow, down = passed
        ways.append((join, narrow))
    lowest, given = joins[0], dict(joins[0].given)
    side = joins[0].given[lowest.specification.side][0]
    keys = [name for name, _ in lowest.given if name in down.asked and name != side]
    # Keys of the join come out of it with one form for equal values. Others must come out as they went in.
    joined_by = {name for name, _ in lowest.given[: lowest.specification.keys]}
    if any(pa.types.is_nested(given[k]) or (has_floats(given[k]) and k not in joined_by) for k in keys):
        return None
    looked_at: list[Expression] = [*(Column(given[k], name=k) for k in keys), *down.values]
    # A table has a column, also where only the number of its rows counts.
    looked_at = looked_at or [Literal(pa.bool_(), value=True)]
    rows = Stage(tuple((f"c{n}", value) for n, value in enumerate(looked_at)))
    operator = _early(of, read, [e.type for _, e in rows.columns], len(keys))
    empty = pa.schema([(n, e.type) for n, e in rows.columns]).empty_table()
    partial = operator.partial(with_bucket(empty))
    if not is_partial(partial):
        return None
    schema = list(partial.schema)[:-1]
    carried = tuple((f"{_CARRIED}{n}", field.type) for n, field in enumerate(schema[len(keys) :]))
    first = [(k, Column(given[k], name=schema[n].name)) for n, k in enumerate(keys)]
    first += [(n, Column(t, name=f.name)) for (n, t), f in zip(carried, schema[len(keys) :], strict=True)]
    shown = [(n, t) for n, t in zip(names[: of.keys], types, strict=False)]
    steps = [_carrying(join, stages, carried) for join, stages in reversed(ways)]
    steps[-1] = replace(steps[-1], made=(*shown, *carried))
    return EarlyWork(rows, operator, Stage(tuple(first)), tuple(steps))


def _read(of: WindowSpecification) -> Iterator[int]:
    """Yield the places of columns that an operator combines, or by which it finds windows."""
    for call in of.aggregates:
        yield from call.inputs
    yield from (place for place in (of.time, of.gap, of.start, of.end, *of.values) if place is not None)


def _early(
    of: WindowSpecification, read: Sequence[int], types: Sequence[pa.DataType], keys: int
) -> BucketOperator[object]:
    """Return the operator that combines rows by other keys; what it looks at besides stands behind them."""

    def moved(place: int | None) -> int | None:
        return None if place is None else keys + read.index(place)

    calls = tuple(replace(a, inputs=tuple(keys + read.index(i) for i in a.inputs)) for a in of.aggregates)
    values = tuple(keys + read.index(i) for i in of.values)
    own = replace(of, keys=keys, aggregates=calls, values=values)
    times = replace(own, time=moved(of.time), gap=moved(of.gap), start=moved(of.start), end=moved(of.end))
    return WindowOperator(times, types)


@dataclass(frozen=True)
class _Down:
    """What is asked of rows on the way down.

    Attributes:
        asked: columns that are looked at as they are.
        values: what is combined.
    """

    asked: Collection[str]
    values: Sequence[Expression]

    def through(self, join: _Join) -> tuple[Stages, _Down] | None:
        """Return the SELECTs above a join without what is combined below it, and what is asked of the side below.

        None where something that is combined is not of that side.
        """
        asked, values = set(self.asked), list(self.values)
        stages = []
        for stage in reversed(join.stages):
            stages.append(replace(stage, columns=tuple(c for c in stage.columns if c[0] in asked)))
            columns = dict(stage.columns)
            values = [_with(value, columns) for value in values]
            asked = {name for _, e in stages[-1].columns for name in e.columns()}
            asked |= stage.where.columns() if stage.where is not None else set()
        of, given = join.specification, join.given
        own = of.left if join.side == LEFT_SIDE else of.right
        first = 0 if join.side == LEFT_SIDE else len(of.left)
        types = dict(given)
        below = {join.names[first + n]: given[place][0] for n, place in enumerate(own)}
        if any(name not in below for value in values for name in value.columns()):
            return None
        mapping = {name: Column(types[c], name=c) for name, c in below.items()}
        kept = {given[place][0] for place in of.looked_at(join.side)}
        asked = {below[name] for name in asked if name in below} | kept | {given[of.side][0]}
        return tuple(reversed(stages)), _Down(asked, [_with(value, mapping) for value in values])


def _with(value: Expression, columns: Mapping[str, Expression]) -> Expression:
    """Return an expression with others in place of its columns."""
    if isinstance(value, Column):
        return columns[value.name]
    return replace(value, inputs=tuple(_with(i, columns) for i in value.inputs)) if value.inputs else value


def _carrying(join: _Join, stages: Stages, carried: Columns) -> JoinStep:
    """Return a join that hands partial results on, which stand behind the columns of its input."""
    of, given = join.specification, (*join.given, *carried)
    places = tuple(range(len(join.given), len(given)))
    names = [n for n, _ in carried]
    if join.side == LEFT_SIDE:
        made, at = replace(of, left=(*of.left, *places)), len(of.left)
    else:
        made, at = replace(of, right=(*of.right, *places)), len(of.left) + len(of.right)
    passed = tuple((n, Column(t, name=n)) for n, t in carried)
    above = tuple(replace(stage, columns=(*stage.columns, *passed)) for stage in stages)
    there = {n for n, _ in above[-1].columns} if above else {*join.names, *names}
    types = dict((*join.made, *carried))
    return JoinStep(
        JoinOperator(made, [t for _, t in given]),
        join.side,
        given,
        (*join.names[:at], *names, *join.names[at:]),
        above,
        tuple((n, t) for n, t in types.items() if n in there),
    )
