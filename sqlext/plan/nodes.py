"""Plan nodes, each one query block; ``columns`` is what a node gives upwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.queries import OrderItem
from sqlext.plan.bad_rows import BAD, READ_ROW, BadRows
from sqlext.plan.base import EXISTS, KEY_ALL, KEY_PREFIX, KEY_SET, KEY_WINDOW, KIND, LATE, POSITION, PlanNode, walk
from sqlext.plan.columns import PlanColumn
from sqlext.plan.normal_form import column_form, condition_parts, expression_form
from sqlext.plan.scope import Scope
from sqlext.plan.timing import Timing
from sqlext.plan.windows.lengths import WindowKind, WindowSpec
from sqlext.source import Span
from sqlext.watermarks.ends import WindowEnds
from sqlext_catalog.model import Table

__all__ = [
    "PlanNode",
    "EXISTS",
    "KEY_ALL",
    "KEY_PREFIX",
    "KEY_SET",
    "KEY_WINDOW",
    "KIND",
    "LATE",
    "POSITION",
    "Output",
    "Scan",
    "OneRow",
    "SparkTable",
    "SystemRows",
    "ValuesRows",
    "UnaryNode",
    "Aliased",
    "AssignWindows",
    "Selecting",
    "Project",
    "Join",
    "SetQuery",
    "Ordered",
    "ComputeTime",
    "RestoreTime",
    "ComputeMillis",
    "ComputeGap",
    "ComputeOffset",
    "TagTime",
    "future_limit",
    "WindowKind",
    "WindowSpec",
]


@dataclass(frozen=True, slots=True)
class Output:
    """One physical column that a node computes: an expression, or a column handed on."""

    physical: str
    expr: Expr | None = None
    handed_on: PlanColumn | None = None
    relation: str | None = None  # alias that qualifies the handed-on column


@dataclass(frozen=True, slots=True)
class Scan(PlanNode):
    """A table of the catalog, read.

    Attributes:
        view: the source view, of the table's physical and metadata columns (a physical rowtime as an instant).
        is_stream: False for a snapshot and in batch mode.
        scope: the names that computed columns use.
        computed: computed columns, in order.
        rowtime: the physical column of the rowtime, checked for NULL and for times before 1970.
        delay: ms that the watermark stays behind the rowtime; None: ``marks`` is its expression.
        watermarked: whether an operator above needs the watermark.
        null_handling: ``table.exec.source.rowtime-null-handling``.
        retracts: whether its rows are changes: each says in ``KIND`` what it does to the table.
        upserts: whether its rows are records that replace each other by PRIMARY KEY: ``KIND`` says whether one gives
            the row of its key or takes it away, ``POSITION`` which is the last.
        future: ms that a rowtime may be ahead of the clock before it is left out (``sqlext.watermark.max-future``).
        own_reader: whether a reader of ours can give its rows; once rewritten, whether it does.
        packed: whether they are packed: several rows in one, beside which stands of how many, and of which times.
        timing: how its time moves in a query without end.
        ends: when the windows right above it end.
        bad: the table that keeps its rows that cannot be decoded, None if none does.
    """

    table: Table
    view: str
    is_stream: bool
    scope: Scope
    computed: tuple[Output, ...] = ()
    rowtime: str | None = None
    delay: int | None = None
    marks: Expr | None = None
    watermarked: bool = False
    null_handling: str = "fail"
    retracts: bool = False
    upserts: bool = False
    future: int | None = None
    own_reader: bool = False
    packed: bool = False
    timing: Timing | None = None
    ends: tuple[WindowEnds, ...] = ()
    bad: BadRows | None = None

    @property
    def marked(self) -> bool:
        """Whether its watermark goes by a column of its own: an expression, or without rows from the future."""
        return self.marks is not None or self.future is not None

    @property
    def paced(self) -> bool:
        """Whether its watermark moves at an interval of its own, not with its rows."""
        return self.timing is not None and self.timing.interval > 0

    @property
    def hidden(self) -> tuple[str, ...]:
        """What the connector adds to the table's columns."""
        if self.upserts:
            return (KIND, POSITION)
        return (KIND,) if self.retracts else ()

    @property
    def streaming(self) -> bool:
        """Whether it is read as a stream."""
        return self.is_stream


@dataclass(frozen=True, slots=True)
class OneRow(PlanNode):
    """No FROM: one row without columns."""


@dataclass(frozen=True, slots=True)
class SparkTable(PlanNode):
    """A table that only Spark knows: static, under the user's own text."""

    text: str


@dataclass(frozen=True, slots=True)
class SystemRows(PlanNode):
    """A view of the information schema: rows known when the query is bound."""

    view: str
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class ValuesRows(PlanNode):
    """``VALUES``: rows of expressions, a static relation."""

    rows: tuple[tuple[Expr, ...], ...]
    scope: Scope


@dataclass(frozen=True, slots=True)
class UnaryNode(PlanNode):
    """A node with one input."""

    input: PlanNode

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """The one input."""
        return (self.input,)

    def with_inputs(self, inputs: tuple[PlanNode, ...]) -> PlanNode:
        """Return it over another input."""
        return replace(self, input=inputs[0])

    @property
    def keys(self) -> tuple[str, ...]:
        """Those of its input: handed on."""
        return self.input.keys

    @property
    def hidden(self) -> tuple[str, ...]:
        """Those of its input: handed on."""
        return self.input.hidden


@dataclass(frozen=True, slots=True)
class Aliased(UnaryNode):
    """A relation in FROM under a name."""

    alias: str


@dataclass(frozen=True, slots=True)
class AssignWindows(UnaryNode):
    """A window function: the input's columns and the window of each row as a struct in ``physical``.

    ``custom`` windows are not Spark's ``window()``: their struct is computed and tagged by us. ``written`` is where
    the function stands.
    """

    spec: WindowSpec
    time: PlanColumn
    physical: str
    custom: bool = False
    written: Span | None = None

    @property
    def row_by_row(self) -> bool:
        """Of windows of which each row has one."""
        return self.spec.kind in (WindowKind.TUMBLE, WindowKind.SESSION, WindowKind.SLIDE)

    def window_part(self) -> tuple[str, str, object]:
        """Return name, text and normal form of the windows, as ``Stateful.parts`` does."""
        spec, columns = self.spec, self.input.columns
        keys = [column_form(k, columns) for k in spec.session_keys]
        # Checkpoints hold these values in this order.
        sizes: tuple[object, ...] = (spec.kind.value, spec.size, spec.slide, spec.offset, spec.wall_clock)
        if (months := spec.months) is not None:
            sizes = (*sizes, months.size, months.slide, months.offset)
        if spec.limit is not None:
            sizes = (*sizes, spec.limit)
        if spec.row_offset is not None:  # its expression is a part of its own
            sizes = (*sizes, "offset of each row")
        restored = next((n for n in walk(self.input) if isinstance(n, RestoreTime)), None)
        time: object = column_form(self.time, columns)
        if restored is not None and restored.physical == self.time.physical:
            time = ("restored", column_form(restored.time, restored.input.columns))
        return "window", f"{spec} on {self.time.name}", (*sizes, keys, time)


@dataclass(frozen=True, slots=True)
class Selecting(UnaryNode):
    """SELECT: ``outputs`` of the rows for which ``where`` holds."""

    scope: Scope
    outputs: tuple[Output, ...]
    where: Expr | None = None

    def selected_parts(self, without: Sequence[str] = ()) -> Iterator[tuple[str, str, object]]:
        """Yield name, text and normal form of what it selects, ``without`` some physical columns, and of WHERE."""
        shown = [self._output_form(o) for o in self.outputs if o.physical not in without]
        yield "SELECT", ", ".join(text for text, _ in shown), [form for _, form in shown]
        yield from condition_parts("WHERE", self.where, self.scope)

    def _output_form(self, output: Output) -> tuple[str, object]:
        if output.expr is not None:
            return output.expr.span.one_line, expression_form(output.expr, self.scope)
        assert output.handed_on is not None
        relation = next((r for r in self.scope.relations if r.alias == output.relation), None)
        columns = relation.columns if relation else self.input.columns
        # The place and not the alias: a relation under another alias leaves the state as it is.
        place = self.scope.relations.index(relation) if relation else 0
        return output.handed_on.name, (place, column_form(output.handed_on, columns))


@dataclass(frozen=True, slots=True)
class Project(Selecting):
    """SELECT without grouping.

    Attributes:
        letters: takes the rows for which its expressions fail; they come beside its own, in ``BAD``.
        carries_row: whether each row has the row of the table beside it that it was made of, in ``READ_ROW``.
        leaves: whether these rows leave the query here: the steps above work on several rows, and hand none on.
    """

    letters: BadRows | None = None
    carries_row: bool = False
    leaves: bool = False

    @property
    def row_by_row(self) -> bool:
        """Without WHERE, and without rows that go aside."""
        return self.where is None and self.letters is None

    @property
    def hidden(self) -> tuple[str, ...]:
        """Those of its input, the row of the table, and dead letters."""
        own = ((READ_ROW,) if self.carries_row else ()) + ((BAD,) if self.letters is not None else ())
        every = dict.fromkeys((*(name for name in self.input.hidden if name != READ_ROW), *own))
        return tuple(name for name in every if not (self.leaves and name == BAD))


@dataclass(frozen=True, slots=True)
class Join(PlanNode):
    """A join with at most one stream.

    Attributes:
        equal: USING: alias and physical column, left and right.
        sought: of IN: what must be equal besides.
        unknown_counts: of NOT IN: what is sought is found too where its comparison is unknown.
    """

    left: PlanNode
    right: PlanNode
    kind: str
    scope: Scope
    condition: Expr | None = None
    equal: tuple[tuple[str, str, str, str], ...] = ()
    sought: tuple[tuple[Expr, Expr], ...] = ()
    unknown_counts: bool = False

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """Left and right."""
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[PlanNode, ...]) -> PlanNode:
        """Return it over other inputs."""
        return replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True, slots=True)
class SetQuery(PlanNode):
    """``UNION ALL`` and, over static inputs, the other set operations.

    Attributes:
        op: with its ``ALL``.
        branches: their columns go together by place.
        hold: by how many ms the watermark of a branch can be ahead of that branch's rows as the union shows them.
    """

    op: str
    branches: tuple[PlanNode, ...]
    hold: int = 0

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """The branches."""
        return self.branches

    def with_inputs(self, inputs: tuple[PlanNode, ...]) -> PlanNode:
        """Return it over other branches."""
        return replace(self, branches=inputs)

    @property
    def lag(self) -> int:
        """What waits for time above waits for the clocks of all branches."""
        return max((i.lag for i in self.inputs), default=0) + self.hold


@dataclass(frozen=True, slots=True)
class Ordered(UnaryNode):
    """ORDER BY, LIMIT, OFFSET of a static relation."""

    order_by: tuple[OrderItem, ...]
    limit: Expr | None
    offset: Expr | None
    scope: Scope


@dataclass(frozen=True, slots=True)
class ComputeTime(UnaryNode):
    """The input and, as a column of its own, the time of one of its windows (an instant)."""

    time: PlanColumn
    physical: str


@dataclass(frozen=True, slots=True)
class RestoreTime(UnaryNode):
    """The input and, in its last column, the instant of one that was a rowtime until a join, a grouping or DISTINCT."""

    time: PlanColumn
    physical: str


@dataclass(frozen=True, slots=True)
class ComputeMillis(UnaryNode):
    """The input and, in its last column, a length of each row in milliseconds.

    ``interval``: the expression is an INTERVAL, and no number.
    """

    scope: Scope
    length: Expr
    interval: bool


@dataclass(frozen=True, slots=True)
class ComputeGap(ComputeMillis):
    """The input with the gap of each row's session."""


@dataclass(frozen=True, slots=True)
class ComputeOffset(ComputeMillis):
    """The input with the offset of each row's windows."""


@dataclass(frozen=True, slots=True)
class TagTime(UnaryNode):
    """Marks ``physical`` as event time for Spark: a column that an expression made lost Spark's mark."""

    physical: str

    @property
    def event_time(self) -> bool:
        """Always: it hands the watermark on."""
        return True


def future_limit(node: PlanNode) -> int | None:
    """Return how far (ms) rowtimes may be ahead of the clock, the strictest of all scans; None if none says."""
    limits = (n.future for n in walk(node) if isinstance(n, Scan) and n.future is not None)
    return min(limits, default=None)
