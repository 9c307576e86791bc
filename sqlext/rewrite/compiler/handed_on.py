"""Find what can be made of an operator's rows where they come out, in a script that is one batch.

Between two operators Spark makes rows of its own, and Python packs them again. Where Arrow knows all that stands
between them, rows are packed for the next operator where they come out of the one before. So are the columns of the
result made, which a sink may write there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import pyarrow as pa

from sqlext.quoting import identifier
from sqlext.rewrite.arrow.queries import Columns, compiled_query
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.rewrite.script.model import ArrowView, Onward, OperatorView, SparkScript, SqlView, Step, TagView
from sqlext.sources.program import Program, Stage, Stages
from sqlext.sources.queries import TableQuery
from sqlext_udfs.expressions.columns import Literal
from sqlext_udfs.kernel.hashing import can_hash
from sqlext_udfs.making import MadeHere, NeedsSparkError, made

_VIEW = re.compile(r"\bsqlext_step_\d+\b")
#: Spark has an operator of its own for these, which keeps nothing in one batch.
_BY_SPARK = frozenset({"distinct"})


class LastColumns(NamedTuple):
    """The rows of a query, made of those of its last operator.

    Attributes:
        view: of the operator.
        program: makes the columns.
        columns: name and type of each.
    """

    view: str
    program: Program
    columns: Columns


@dataclass(frozen=True)
class HandedOn:
    """A script whose operators hand on what they give.

    Attributes:
        script: the script.
        operators: those that do, by the names of their views.
        last: its rows, where they can be made where its last operator's come out.
    """

    script: SparkScript
    operators: Mapping[str, MadeHere] = field(default_factory=dict)
    last: LastColumns | None = None


def handed_on(script: SparkScript, zone: str, common: Mapping[str, Any]) -> HandedOn:
    """Return a script in which operators hand on what they give, where they can.

    Args:
        script: of any kind; only one that is one batch is changed.
        zone: the session's.
        common: the arguments that all its operators have.
    """
    if not script.at_once:
        return HandedOn(script)
    views = _Views(script, zone, common)
    steps = [step for old in script.steps for step in views.handed(old)]
    changed = [views.onward.get(step.view, step) for step in steps if step.view not in views.passed]
    return HandedOn(replace(script, steps=tuple(changed)), views.operators, views.last(script))


class _Views:
    """What is known of the views of a script so far.

    Attributes:
        operators: the operators whose rows are known.
        onward: steps that hand on what they give, by their views.
        passed: views between, which nobody reads any more.
    """

    def __init__(self, script: SparkScript, zone: str, common: Mapping[str, Any]) -> None:
        self.operators: dict[str, MadeHere] = {}
        self.onward: dict[str, Step] = {}
        self.passed: set[str] = set()
        self._zone, self._common = zone, common
        self._steps: dict[str, Step] = {}
        self._columns: dict[str, Columns] = {}
        self._queries: dict[str, TableQuery] = {}
        # Who is asked for twice would be computed twice: to Spark a view is a text.
        self._uses = Counter(view for text in _texts(script) for view in _VIEW.findall(text))

    def handed(self, step: Step) -> Sequence[Step]:
        """Take a step; return it, or what stands in its place. ``onward`` has those before it that have changed."""
        self._steps[step.view] = step
        match step:
            case ArrowView() if not step.function:
                types = cast("tuple[pa.DataType, ...]", step.types)
                self._columns[step.view] = tuple((f"c{i}", of) for i, of in enumerate(types))
            case SqlView():
                self._known(step.view, step.sql)
            case TagView():
                self._known(step.view, f"SELECT * FROM {step.input}")
            case OperatorView():
                return self._operated(step)
            case _:
                pass
        return (step,)

    def last(self, script: SparkScript) -> LastColumns | None:
        """Return the rows of the query, where they are made of one operator's."""
        query = self._compiled(script.query)
        found = self._bases(query) if query is not None else None
        if query is None or found is None or len(found) != 1:
            return None
        ((view, branches),) = found.items()
        program = _program(branches, query.columns) if view in self.operators else None
        return LastColumns(view, program, query.columns) if program is not None else None

    def _known(self, view: str, text: str) -> None:
        query = self._compiled(text)
        if query is not None:
            self._queries[view], self._columns[view] = query, query.columns

    def _compiled(self, text: str) -> TableQuery | None:
        try:
            return compiled_query(text, self._columns_of, self._zone)
        except Unsuited:
            return None

    def _columns_of(self, view: str) -> Columns:
        if view not in self._columns:
            raise Unsuited(f"`{view}` is Spark's")
        return self._columns[view]

    def _operated(self, step: OperatorView) -> Sequence[Step]:
        arguments = {**self._common, **dict(step.arguments)}
        packed = cast("tuple[pa.DataType, ...] | None", arguments.pop("packed", None))
        given = self._columns.get(step.input) if packed is None else [(f"c{i}", of) for i, of in enumerate(packed)]
        if given is None or step.function in _BY_SPARK:
            return (step,)
        types = [of for _, of in given]
        try:
            operator = made(step.function, arguments, [n for n, _ in given], types)
        except NeedsSparkError:
            return (step,)
        if not all(can_hash(of) for of in types[: operator.keys]):
            return (step,)
        self.operators[step.view], self._columns[step.view] = operator, operator.columns
        return (step,) if packed is not None else self._packed(step, tuple(types))

    def _packed(self, step: OperatorView, types: tuple[pa.DataType, ...]) -> Sequence[Step]:
        """Return an operator over rows that are packed where they come out, if all of them can be."""
        query = self._queries.get(step.input)
        bases = self._bases(query) if query is not None and self._uses[step.input] == 1 else None
        if query is None or not bases or any(pa.types.is_null(of) for of in types):
            return (step,)
        columns = tuple((f"c{i}", of) for i, of in enumerate(types))
        found = {}
        for view, branches in bases.items():
            program = _program(branches, columns)
            if program is None:
                return (step,)
            found[view] = self._giving(view, program, step, types)
        self.onward |= found
        self.passed |= self._between(step.input)
        rows = " UNION ALL ".join(f"SELECT bucket, rows, now FROM {identifier(view)}" for view in found)
        view = f"{step.view}_packed"
        operator = replace(step, input=view, arguments=(*step.arguments, ("packed", types)))
        self._steps[step.view] = operator
        return SqlView(view, rows), operator

    def _giving(self, view: str, program: Program, to: OperatorView, types: tuple[pa.DataType, ...]) -> Step:
        """Return the step of a view that gives packed rows of another operator in place of its own."""
        before = self.onward.get(view, self._steps[view])
        if isinstance(before, OperatorView):
            return replace(before, onward=Onward(program, to.function, to.arguments, types))
        assert isinstance(before, ArrowView)
        reads = cast(Program, before.program)
        (rows,) = reads.branches
        branches = tuple((*rows, *stages) for stages in program.branches)
        both = replace(reads, branches=branches)
        return replace(before, program=both, types=types, function=to.function, arguments=to.arguments)

    def _bases(self, query: TableQuery) -> dict[str, list[Stages]] | None:
        """Return the views that a query is made of in the end, and which SELECTs are between; None where Spark is."""
        found: dict[str, list[Stages]] = {}
        for view, stages in self._branches(query):
            single = isinstance(self._steps.get(view), (ArrowView, OperatorView)) and self._uses[view] == 1
            if not single or view not in self._columns:
                return None
            found.setdefault(view, []).append(stages)
        return found

    def _between(self, view: str) -> set[str]:
        """Return a view of a query, and those of queries below it."""
        below = (self._between(of) for of in _read(self._queries[view]) if of in self._queries)
        return {view}.union(*below)

    def _branches(self, query: TableQuery) -> list[tuple[str, Stages]]:
        if query.limit is not None:
            return [("", ())]
        found: list[tuple[str, Stages]] = []
        for branch in query.branches:
            of = self._queries.get(branch.of) if isinstance(branch.of, str) else branch.of
            if of is None:
                found.append((cast(str, branch.of), (branch.stage,)))
            elif isinstance(branch.of, str) and self._uses[branch.of] != 1:
                found.append(("", ()))
            else:
                found += [(view, (*stages, branch.stage)) for view, stages in self._branches(of)]
        return found


def _read(query: TableQuery) -> set[str]:
    """Return the views that a query reads."""
    of = (branch.of for branch in query.branches)
    return set().union(*({name} if isinstance(name, str) else _read(name) for name in of))


def _texts(script: SparkScript) -> list[str]:
    """Return all that names views."""
    of = [s.sql if isinstance(s, SqlView) else getattr(s, "input", "") for s in script.steps]
    return [*of, script.query]


def _program(branches: Sequence[Stages], columns: Columns) -> Program | None:
    """Return the program of some SELECTs that give columns of these types; None where one would be of another type."""
    made = []
    for *others, last in branches:
        typed = []
        for (name, value), (_, of) in zip(last.columns, columns, strict=True):
            if value.type != of and not pa.types.is_null(value.type):
                return None
            typed.append((name, value if value.type == of else Literal(of)))
        made.append(with_what_is_read((*others, Stage(tuple(typed), last.where))))
    return Program(None, None, tuple(made))


def with_what_is_read(stages: Stages) -> Stages:
    """Return SELECTs without the columns that none above looks at; so such a column fails no query, as on Spark."""
    *below, last = stages
    if not below:
        return stages
    read = frozenset().union(*(value.columns() for _, value in last.columns))
    read |= last.where.columns() if last.where is not None else frozenset()
    columns = tuple((name, value) for name, value in below[-1].columns if name in read)
    return (*with_what_is_read((*below[:-1], replace(below[-1], columns=columns))), last)
