"""Compile the script of a whole query to what runs in this process: tables read by Arrow, operators, SELECTs.

The texts and the operators are those that Spark would be given. What is not known to be the same is Spark's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatchmethod
from typing import Any, cast

import pyarrow as pa

from sqlext.rewrite.arrow.equal_steps import each_once
from sqlext.rewrite.arrow.narrowing import LookedAt
from sqlext.rewrite.arrow.pushdown import UnreadType
from sqlext.rewrite.arrow.queries import Columns, compiled_query
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.rewrite.script.model import ArrowView, OperatorView, ReadView, SparkScript, SqlView, Step, TagView
from sqlext.sources.joined import JoinedWork
from sqlext.sources.program import Program
from sqlext.sources.queries import TableQuery
from sqlext.sources.tables import reader_of
from sqlext_udfs.kernel.hashing import can_hash
from sqlext_udfs.making import MadeHere, NeedsSparkError, made


@dataclass(frozen=True)
class Operated:
    """The view of what an operator makes of another view.

    Attributes:
        packed: of partial results, packed in its rows.
        columns: those of the other view.
        function, arguments: the operator's, as a plan says them.
    """

    view: str
    input: str
    operator: MadeHere
    packed: bool = False
    columns: tuple[str, ...] = ()
    function: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Queried:
    """The view of a query over views."""

    view: str
    query: TableQuery


@dataclass(frozen=True)
class Joined:
    """The view of what an operator makes of a table's rows, which are joined and combined where they are read.

    Attributes:
        read: the table.
        work: what is done with its rows.
        others: what they are joined with, of each join, and whether it is packed.
    """

    view: str
    read: ReadView | ArrowView
    work: JoinedWork
    others: tuple[tuple[TableQuery, bool], ...]
    operator: MadeHere


LocalStep = ReadView | ArrowView | Operated | Queried | Joined
#: The columns of packed rows, which an ``ArrowView`` gives.
_PACKED: Columns = (("bucket", pa.int32()), ("rows", pa.binary()), ("now", pa.int64()))


@dataclass(frozen=True)
class LocalScript:
    """A query that runs in this process.

    Attributes:
        steps: its views, in an order in which they can be made.
        query: its rows: the columns of ``script.outputs``, then the hidden ones.
        script: what it was made of.
    """

    steps: tuple[LocalStep, ...]
    query: TableQuery
    script: SparkScript

    @property
    def reads(self) -> tuple[ReadView, ...]:
        """The tables whose rows it reads as they are."""
        return tuple(step for step in self.steps if isinstance(step, ReadView))

    @property
    def all_reads(self) -> tuple[ReadView | ArrowView, ...]:
        """The tables that it reads, also those whose rows it combines where it reads them."""
        return tuple(step for step in self.steps if isinstance(step, (ReadView, ArrowView)))


def compiled_script(script: SparkScript, zone: str, *, whole: bool = False) -> LocalScript:
    """Return a script that was rendered for this process, or what is left of one whose tables come packed.

    Args:
        whole: whether all columns of its tables are read, also those that it does not look at.

    Raises:
        Unsuited: why Spark must run it.
    """
    if script.sources or script.table_functions:
        raise Unsuited("a table that Arrow does not read")
    if script.python_functions:
        raise Unsuited("a function in Python")
    compiler = _Compiler(zone, script.closed)
    steps = [compiler.step(step) for step in script.steps]
    if script.at_once and any(isinstance(step, Operated) for step in steps):
        _require_no_limit(steps)
    query = compiler.query(script.query)
    untyped = next((name for name, of in query.columns if pa.types.is_null(of)), None)
    if untyped is not None:
        raise Unsuited(f"column `{untyped}` is NULL without a type")
    looked_at = LookedAt()
    for step in steps if whole else ():
        if isinstance(step, ReadView):
            looked_at.all_of(step.view, [name for name, _ in step.columns])
    query = looked_at.query(query)
    for place in reversed(range(len(steps))):
        steps[place] = _narrowed(steps[place], looked_at)
    read = {step.view: step for step in steps if isinstance(step, ReadView)}
    if script.at_once:  # each input of a stream has a time of its own
        steps, query = each_once(steps, query)
    narrow = replace(script, steps=tuple(read.get(getattr(step, "view", ""), step) for step in script.steps))
    return LocalScript(tuple(steps), query, narrow)


def _narrowed(step: LocalStep, looked_at: LookedAt) -> LocalStep:
    """Return a view without what nobody looks at; all views that read it come before."""
    match step:
        case Queried():
            return replace(step, query=looked_at.query(step.query, step.view))
        case Operated():
            looked_at.all_of(step.input, step.columns)
            return step
        case ReadView():
            narrow = looked_at.read(step)
            _require_read(narrow)
            return narrow
        case _:
            return step


def _require_read(step: ReadView) -> None:
    """Check that our readers read what is looked at of a table."""
    program, types = cast(Program, step.program), dict(cast(Columns, step.columns))
    ((stage,),) = program.branches
    unread = next((of for name, _ in stage.columns if isinstance(of := types.get(name), UnreadType)), None)
    if unread is not None:
        raise Unsuited(unread.reason)


def _require_no_limit(steps: Iterable[LocalStep]) -> None:
    """Check that tables are taken whole: to an operator, rows are late by what was taken before them."""
    for step in steps:
        if isinstance(step, (ReadView, ArrowView)) and reader_of(step.table).limit(step.table) is not None:
            raise Unsuited(f"`{step.table.name.name}` limits how much is taken at a time")


@dataclass
class _Compiler:
    zone: str
    closed: int | None = None
    _views: dict[str, Columns] = field(default_factory=dict)

    def query(self, text: str) -> TableQuery:
        """Return a query over the views so far."""
        return compiled_query(text, self._columns_of, self.zone)

    @singledispatchmethod
    def step(self, step: Step) -> LocalStep:
        """Return a step; its view is known from then on."""
        raise Unsuited(f"{type(step).__name__} has no form without Spark")

    @step.register
    def _(self, step: ReadView) -> LocalStep:
        self._views[step.view] = cast(Columns, step.columns)
        return step

    @step.register
    def _(self, step: ArrowView) -> LocalStep:
        self._views[step.view] = _PACKED
        return step

    @step.register
    def _(self, step: SqlView) -> LocalStep:
        query = self.query(step.sql)
        self._views[step.view] = query.columns
        return Queried(step.view, query)

    @step.register
    def _(self, step: TagView) -> LocalStep:
        return self.step(SqlView(step.view, f"SELECT * FROM {step.input}"))

    @step.register
    def _(self, step: OperatorView) -> LocalStep:
        arguments = dict(step.arguments)
        packed = cast("tuple[pa.DataType, ...] | None", arguments.pop("packed", None))
        if self.closed is not None:
            arguments["closed"] = self.closed
        columns = self._columns_of(step.input)
        if packed is not None:
            columns = tuple((f"c{i}", of) for i, of in enumerate(packed))
        try:
            operator = made(step.function, arguments, [n for n, _ in columns], [of for _, of in columns])
        except NeedsSparkError as error:
            raise Unsuited(str(error)) from error
        for name, of in columns[: operator.keys]:
            # What Spark could not compare as a key must not be one here.
            if not can_hash(of):
                raise Unsuited(f"key `{name}` of type {of}")
        self._views[step.view] = operator.columns
        names = tuple(n for n, _ in self._columns_of(step.input))
        return Operated(step.view, step.input, operator, packed is not None, names, step.function, arguments)

    def _columns_of(self, view: str) -> Columns:
        if view not in self._views:
            raise Unsuited(f"`{view}` is no view of this query")
        return self._views[view]
