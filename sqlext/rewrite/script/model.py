"""Define what a plan becomes: source views, steps over them, and the final query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlext.analysis.inserts.bound import BoundInsert, Mode, Side
from sqlext.connectors.options import bad_rows_policy
from sqlext.dialect.ast.statements import Statement
from sqlext.plan.bad_rows import BAD, REPLAYED
from sqlext.plan.nodes import PlanNode
from sqlext.quoting import string
from sqlext.rewrite.expressions.python_functions import called
from sqlext.settings import DEFAULT_BUCKETS
from sqlext.user_functions import UserFunctions
from sqlext.watermarks.inputs import Input
from sqlext_catalog.model import Table

#: The view of the file that ends a bounded input: one column ``value``, a timestamp's text.
HEARTBEAT_VIEW = "sqlext_heartbeat"
#: Functions whose partial work leaves one row of a group, or few.
_COMBINING = frozenset({"window", "rank", "distinct"})


@dataclass(frozen=True, slots=True)
class SourceView:
    """A table that must stand as a view before the steps run.

    Attributes:
        own: whether a reader of ours gives the rows.
        split: whether the column ``SPLIT`` says which part of the table a row is of.
    """

    view: str
    table: Table
    streaming: bool
    own: bool = False
    split: bool = False


@dataclass(frozen=True, slots=True)
class SqlView:
    """A view of Spark SQL."""

    view: str
    sql: str


@dataclass(frozen=True, slots=True)
class TagView:
    """A view of another one in which ``column`` is event time to Spark.

    Spark's mark on a column does not survive expressions, and SQL has no word for it: it is column metadata.
    ``window``: the column is to be a window of Spark's own too, so that its ``window()`` may stand above it.
    """

    view: str
    input: str
    column: str
    window: bool = False


@dataclass(frozen=True, slots=True)
class WatermarkView:
    """A view of another one with a watermark ``delay`` ms behind ``column``, where Spark's SQL has no word for it."""

    view: str
    input: str
    column: str
    delay: int


@dataclass(frozen=True, slots=True)
class Onward:
    """What is made of an operator's rows where they come out: packed rows of the next operator.

    Attributes:
        program: makes the next operator's input of them (``sources.program.Program``).
        function, arguments: the next operator's, as in its ``OperatorView``.
        types: the Arrow types of its input.
    """

    program: object
    function: str
    arguments: tuple[tuple[str, object], ...]
    types: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class OperatorView:
    """A view of a registered stateful function over another view.

    ``ticks``: empty, ``start`` or ``clock`` (``spark.reading.ticks``): what tells it that it is time. ``ends``: a tick
    must tell it that a bounded input has ended, as no watermark does. ``onward``: what it gives in place of its rows.
    ``told_by``: the ``ArrowView`` whose reader tells it that with its rows; empty where ticks are their own source.
    """

    view: str
    input: str
    function: str
    arguments: tuple[tuple[str, object], ...]
    ticks: str = ""
    ends: bool = False
    onward: Onward | None = None
    told_by: str = ""


@dataclass(frozen=True, slots=True)
class RowsView:
    """A view of given rows, with the Spark types of its columns."""

    view: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class UserTableFunction:
    """A registered table function that the text calls, and its class; ``outer``: of nothing it makes a row of NULLs."""

    name: str
    implementation: str
    outer: bool = False

    @property
    def view(self) -> str:
        """The name that Spark knows it by, for this query."""
        return f"sqlext_{'left' if self.outer else 'table'}_{self.name.lower()}"


@dataclass(frozen=True, slots=True)
class ObservedView:
    """A view of the rows of an input, as they are; Spark's progress has the largest ``column`` of each batch in ms.

    Attributes:
        name: the input's, under which the observation is found (``sqlext.jobs.progress``).
        source: the view of the table; where it has parts with a time of their own, each is observed.
        packed: whether its rows are packed.
    """

    view: str
    input: str
    name: str
    column: str
    source: str
    packed: bool = False


@dataclass(frozen=True, slots=True)
class ArrowView:
    """A view of a table read by Arrow, and worked on by an operator where it is read: packed rows and their marks.

    Without an operator it has the rows ``c0``, ``c1``, ... that the program makes.

    Attributes:
        scan: the source view that it stands for; names what the reader remembers.
        needed: the columns that are looked at.
        program: makes the operator's input of them (``sources.program.Program``).
        types: the Arrow types of that input.
        function, arguments: the operator's, as in its ``OperatorView``; empty without one.
        passes_over: whether rows are not read where statistics of files say that no condition holds for them.
        both_sides: whether both sides of a join are made of them.
        tells_time: whether heartbeats and ticks come with its rows where its query has no end.
    """

    view: str
    scan: str
    table: Table
    needed: tuple[str, ...]
    program: object
    types: tuple[object, ...]
    function: str
    arguments: tuple[tuple[str, object], ...]
    passes_over: bool = False
    both_sides: bool = False
    tells_time: bool = False

    @property
    def is_combined(self) -> bool:
        """Whether rows of a group become one where they are read, so that few are left."""
        return self.function in _COMBINING

    @property
    def what(self) -> str:
        """What is read and done there."""
        worked = "combined by key and slice" if self.function == "window" else f"packed by key for `{self.function}`"
        worked = worked if self.function else "made"
        once = ", once for both sides" if self.both_sides else ""
        return f"Arrow reads {', '.join(self.needed)}{once}; rows are {worked} where they are read"


@dataclass(frozen=True, slots=True)
class ReadView:
    """A view of the rows of a table, of a query that runs in this process.

    Attributes:
        scan: the source view that it stands for.
        needed: the columns that are looked at.
        program: makes the view's columns that are looked at (``sources.program.Program``).
        columns: name and Arrow type of all.
        large: whether so much lies there that work on its rows is better done where they are read.
    """

    view: str
    scan: str
    table: Table
    needed: tuple[str, ...]
    program: object
    columns: tuple[tuple[str, object], ...]
    large: bool = False
    #: Its rows are given as they are; see ``ArrowView.is_combined``.
    is_combined: ClassVar[bool] = False


Step = SqlView | TagView | WatermarkView | OperatorView | RowsView | ObservedView | ArrowView | ReadView


@dataclass(frozen=True, slots=True)
class KeptInput:
    """An input that the time keeper watches.

    Attributes:
        view: the view of its heartbeats: one column ``value``, a timestamp's text; empty where the reader of its table
            tells them with the rows (``connectors.moments``), or nothing of Spark's needs them.
        source: the view of its table.
    """

    input: Input
    view: str
    source: str


@dataclass(frozen=True, slots=True)
class SideScript:
    """What is done with rows that come beside those of a query: its late ones, or those that a source cannot decode.

    Attributes:
        side: which of these.
        table: takes them.
        mode: how it does.
        column: the hidden column that is NULL in the query's own rows, ``nodes.LATE`` or ``bad_rows.BAD``.
        condition: over that column: which rows of a batch are taken.
        columns: what a row is made of, over that column.
        outputs: text and name of each column of the table, over ``columns``.
        conditions: over ``outputs``: rows for which one does not hold are left out.
        letters: whether they are dead letters.
        refused_of: where it also takes the rows that the query's sink refuses: the tables that these are of.
    """

    side: Side
    table: Table
    mode: Mode
    column: str
    condition: str
    columns: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    conditions: tuple[str, ...] = ()
    letters: bool = False
    refused_of: str = ""

    @property
    def counted(self) -> str:
        """Over the hidden column: which rows of a batch are dead letters that it has met."""
        return f"{self.condition} AND {BAD}.cause <> {string(REPLAYED)}" if self.column == BAD else self.condition


@dataclass(frozen=True, slots=True)
class ReplayInput:
    """The dead letters that are fed back into a query as rows of one of its tables.

    Attributes:
        view: the view of all of them, in text (``side_rows.ROW``).
        sources: the views of the table.
        causes: of which dead letters.
    """

    view: str
    table: Table
    sources: tuple[str, ...]
    causes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SparkScript:
    """A query, ready to run.

    Attributes:
        query: the final SELECT; its columns are those of ``outputs``, then the hidden ones (``PlanNode.hidden``).
        outputs: text and name of each visible column.
        keys: hidden key columns of an updating result; none for a global aggregate, which has one row.
        heartbeat: whether it reads ``HEARTBEAT_VIEW``.
        changelog: whether each row says in ``nodes.KIND`` what it does to the result.
        sides: where rows go that come beside its own.
        read_again: the views of the sources that are read once more, for dead letters or bad rows.
        left: views of sources, and queries over them whose dead letters leave below an operator.
        replays: its dead letters that come back.
        kept: its inputs, where it has no end: a time keeper watches them.
        table_functions: those of the user that it calls.
        buckets: into how many the state of each of its operators is cut.
        closed: as of ``QueryRun``.
        at_once: whether it reads all that its inputs have as one batch, which keeps no state.
        local: whether it runs in this process.
        read_by_spark: tables that Arrow might have read, each with why Spark reads it.
    """

    sources: tuple[SourceView, ...]
    steps: tuple[Step, ...]
    query: str
    outputs: tuple[tuple[str, str], ...]
    streaming: bool
    updating: bool
    keys: tuple[str, ...]
    heartbeat: bool
    changelog: bool = False
    sides: tuple[SideScript, ...] = ()
    read_again: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    replays: tuple[ReplayInput, ...] = ()
    kept: tuple[KeptInput, ...] = ()
    table_functions: tuple[UserTableFunction, ...] = ()
    read_by_spark: tuple[tuple[str, str], ...] = ()
    buckets: int = DEFAULT_BUCKETS
    closed: int | None = None
    at_once: bool = False
    local: bool = False

    @property
    def sql(self) -> str:
        """All that Spark reads of it as SQL, apart from what connectors write."""
        return "\n".join([*(step.sql for step in self.steps if isinstance(step, SqlView)), self.query])

    @property
    def runs_python(self) -> bool:
        """Whether workers run Python for it: readers and operators of ours, functions of the user's."""
        steps = any(isinstance(step, (ArrowView, OperatorView)) for step in self.steps)
        functions = bool(self.table_functions or self.python_functions)
        return steps or functions or any(source.own for source in self.sources)

    @property
    def python_functions(self) -> tuple[str, ...]:
        """The users' Python functions that it calls, in lower case."""
        return called(self.sql)

    def common_arguments(self, registered: UserFunctions) -> Mapping[str, object]:
        """Return the arguments that all its operators have; ``registered``: the user's classes, which they name."""
        return {"registered": registered, "buckets": self.buckets, "closed": self.closed}

    @property
    def keeps_state(self) -> bool:
        """Whether an operator of ours keeps state on Spark: a stream's, which is not one batch."""
        return self.streaming and not self.at_once and any(isinstance(step, OperatorView) for step in self.steps)

    @property
    def streams(self) -> tuple[Table, ...]:
        """The tables that are read as streams."""
        # What this process reads at once is no stream.
        here = (step.table for step in self.steps if isinstance(step, ReadView) and not self.at_once)
        by_spark = (s.table for s in self.sources if s.streaming)
        return (*by_spark, *(step.table for step in self.read_by_arrow), *here)

    @property
    def read_by_arrow(self) -> tuple[ArrowView, ...]:
        """The tables that Arrow reads."""
        return tuple(step for step in self.steps if isinstance(step, ArrowView))

    @property
    def makes_rows(self) -> bool:
        """Whether its rows are those that a program makes where Arrow reads its only table."""
        return len(self.steps) == 1 and any(not step.function for step in self.read_by_arrow)

    @property
    def reading(self) -> tuple[str, ...]:
        """Say which tables Arrow reads and what it does, and of the others that it might have, why it does not."""
        at_once = ", all in one batch without state" if self.at_once else ""
        passed = "; row groups that WHERE leaves out are passed over by their statistics"
        arrow = (f"{a.table.name.name}: {a.what}{at_once}{passed if a.passes_over else ''}" for a in self.read_by_arrow)
        own = {source.table.name.name for source in self.sources if source.own}
        spark = (
            f"{name}: {'our reader gives its rows and Spark combines them' if name in own else 'Spark reads it'}: {why}"
            for name, why in self.read_by_spark
        )
        return (*arrow, *spark)

    def keeps(self, side: Side) -> bool:
        """Whether rows of one kind come beside its own."""
        return any(script.side == side for script in self.sides)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that Spark reads, or readers of ours for it."""
        return tuple(dict.fromkeys(source.table for source in self.sources))

    @property
    def judges(self) -> bool:
        """Whether bad rows of a source are told from others."""
        return any(bad_rows_policy(source.table) is not None for source in self.sources)

    @property
    def ticks(self) -> str:
        """What tells its operators that it is time: empty, ``start``, or ``clock`` where one of them needs that."""
        return _greatest(step.ticks for step in self.steps if isinstance(step, OperatorView))

    @property
    def ticks_apart(self) -> str:
        """The same of those to which ticks come from a source of their own."""
        return _greatest(step.ticks for step in self.steps if isinstance(step, OperatorView) and not step.told_by)

    @property
    def ends(self) -> bool:
        """Whether operators in it must be told that the input has ended."""
        return any(isinstance(step, OperatorView) and step.ends for step in self.steps)

    @property
    def output_mode(self) -> str:
        """Return Spark's output mode: operators of ours write changes as rows of their own, appended."""
        operators = any(isinstance(step, OperatorView) for step in self.steps)
        return "update" if self.updating and not operators else "append"


def _greatest(ticks: Iterable[str]) -> str:
    kinds = set(ticks)
    return next((kind for kind in ("clock", "start") if kind in kinds), "")


@dataclass(frozen=True)
class Compiled:
    """A query as Spark SQL: its plan, its script, and the sink that takes it (None for a SELECT)."""

    plan: PlanNode
    script: SparkScript
    insert: BoundInsert | None
    statement: Statement
