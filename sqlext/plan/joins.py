"""The node of a join of two streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from sqlext.dialect.ast.expressions import ColumnRef, Expr
from sqlext.plan.base import PlanNode
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import RestoreTime
from sqlext.plan.normal_form import column_form, expression_form
from sqlext.plan.scope import Scope
from sqlext.plan.stateful import Operator
from sqlext.source import Span
from sqlext.types import LogicalType
from sqlext_udfs.expressions.trees import Expression
from sqlext_udfs.joins.specification import JoinKind, Nearest
from sqlext_udfs.matching.specification import expression_to_json

#: The relation under which both sides of a join know the columns of USING.
USING = "__using"


class JoinBound(Enum):
    """What ends the state of a join."""

    NONE = "regular join"
    INTERVAL = "interval join"
    ARRIVAL = "interval join by processing time"
    WINDOW = "window join"
    VERSION = "temporal join"
    NEAREST = "as-of join"


@dataclass(frozen=True, slots=True)
class Pair:
    """A comparison of an expression of the left side and one of the right.

    Attributes:
        operator: ``=``, ``<>``, ``<``, ``<=``, ``>``, ``>=`` or ``IS NOT DISTINCT FROM`` (of keys alone).
        type: what both are cast to, None where they are of one type.
        null_aware: a comparison with NULL counts as true (NOT IN).
    """

    left: Expr
    operator: str
    right: Expr
    type: LogicalType | None = None
    null_aware: bool = False


@dataclass(frozen=True, slots=True)
class Carried:
    """A column of a side that comes out of the join.

    Attributes:
        physical: what holds it in the join's result.
        column: what it is below.
        relation: the alias of the relation that it is of.
        as_value: whether it is computed to the user's value; else what holds it is handed on.
    """

    physical: str
    column: PlanColumn
    relation: str
    as_value: bool


@dataclass(frozen=True, slots=True)
class JoinTime:
    """The time of a side's rows that the bound goes by.

    Attributes:
        column: the rowtime, or a column of the window.
        relation: the alias of its relation.
        later: ms that are added to it.
    """

    column: PlanColumn
    relation: str
    later: int = 0


@dataclass(frozen=True, slots=True)
class NearestMatch:
    """Which right row a left row meets.

    Attributes:
        nearest: by the order of both times: left before right.
        tolerance: how many ms apart both may be; None without limit.
        early: whether a left row comes out when it comes (EMIT).
        lateness: how many ms behind the watermark a row is taken all the same.
        emit: the EMIT that says so; empty without one.
    """

    nearest: Nearest
    tolerance: int | None = None
    early: bool = False
    lateness: int = 0
    emit: str = ""

    @property
    def updates(self) -> bool:
        """Whether rows are replaced that have come out."""
        return self.early or self.lateness > 0

    @property
    def hold(self) -> int:
        """By how many ms a row may come out later than its time."""
        return self.tolerance or 0 if self.nearest.looks_ahead else 0

    @property
    def waits(self) -> int:
        """By how many ms of the watermark a left row is kept longer than its time."""
        return self.hold + self.lateness


@dataclass(frozen=True, slots=True)
class JoinSide:
    """One side of a join.

    Attributes:
        scope: the names that its expressions use.
        carried: its columns that come out.
        filters: its rows for which one of these does not hold are no rows of the join.
        needs: a row for which one of these does not hold matches nothing, but comes out alone.
        values: what ``StreamJoin.asked`` looks at.
        time: None for a regular join.
        ttl: ms of processing time after which a row that was not written is forgotten.
    """

    scope: Scope
    carried: tuple[Carried, ...] = ()
    filters: tuple[Expr, ...] = ()
    needs: tuple[Expr, ...] = ()
    values: tuple[Expr, ...] = ()
    time: JoinTime | None = None
    ttl: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamJoin(Operator):
    """The join of its two sources, of which both are streams.

    Attributes:
        span: where it stands.
        join: which rows come out.
        bounded: what ends its state.
        left, right: its sides.
        equal: the keys: what must be equal.
        conditions: what must hold besides.
        rest: what pairs of an inner join must fulfil that is no comparison of both sides.
        asked: the same of other joins, over ``values`` of both sides (a cell's group is the side, its value the place).
        scope: the names of its result, which ``rest`` uses.
        hold: by how many ms its rows can be older than those of its sources.
        windows: the place of the source whose windows its rows carry.
        match: of an as-of join.
    """

    span: Span
    join: JoinKind
    bounded: JoinBound
    left: JoinSide
    right: JoinSide
    equal: tuple[Pair, ...]
    conditions: tuple[Pair, ...] = ()
    rest: tuple[Expr, ...] = ()
    asked: tuple[Expression, ...] = ()
    scope: Scope
    hold: int = 0
    windows: int | None = None
    match: NearestMatch | None = None

    function: ClassVar[str] = "join"

    @property
    def carried(self) -> tuple[Carried, ...]:
        """The columns that come out, left to right."""
        return (*self.left.carried, *self.right.carried)

    @property
    def event_time(self) -> bool:
        """Whether the watermark ends the state."""
        # Neither of these looks at the watermark, so the scans below need none for it.
        return self.bounded not in (JoinBound.NONE, JoinBound.ARRIVAL)

    @property
    def uses_clock(self) -> bool:
        """Whether rows are forgotten by processing time."""
        return self.bounded is JoinBound.ARRIVAL or self.left.ttl is not None or self.right.ttl is not None

    @property
    def ends(self) -> bool:
        """Whether rows wait for a match until a bounded input ends."""
        return self.bounded is JoinBound.ARRIVAL and (self.join.pads_left or self.join.pads_right)

    @property
    def windowed(self) -> PlanNode | None:
        """The source whose windows its rows carry."""
        return self.sources[self.windows] if self.windows is not None else None

    @property
    def lag(self) -> int:
        """Rows that wait for a match come out that much later."""
        # A window above would otherwise close before the rows that waited reach it.
        return max((i.lag for i in self.inputs), default=0) + self.hold

    @property
    def what(self) -> str:
        """The kind of join and its keys: ``LEFT interval join by a.k = b.k``."""
        by = " AND ".join(_key_text(k) for k in self.equal)
        emit = f", {self.match.emit}" if self.match is not None and self.match.emit else ""
        return f"{self.join.value} {self.bounded.value}{f' by {by}' if by else ''}{emit}"

    @property
    def bound(self) -> str:
        """How its state ends."""
        match self.bounded:
            case JoinBound.WINDOW:
                return "until the window ends"
            case JoinBound.VERSION:
                return "rows until the watermark passes them, of each key the versions since then"
            case JoinBound.NEAREST:
                assert self.match is not None
                later = f" by {self.match.waits} ms" if self.match.waits else ""
                return f"left rows until the watermark passes them{later}, of each key the right rows since then"
            case JoinBound.INTERVAL | JoinBound.ARRIVAL:
                sides = (("left", self.left), ("right", self.right))
                time = "event time" if self.event_time else "processing time"
                return ", ".join(f"{n} rows for {s.time.later} ms of {time}" for n, s in sides if s.time)
        if self.left.ttl is None or self.right.ttl is None:
            return ""
        return f"left rows for {self.left.ttl} ms after the last change, right rows for {self.right.ttl} ms"

    @property
    def clause(self) -> Span:
        """Where it stands."""
        return self.span

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield what its state depends on."""
        times = [(s.time.later, _time_form(s)) if s.time is not None else s.ttl for s in (self.left, self.right)]
        yield "stream join", f"{self.join.value} {self.bounded.value}", (self.join.value, self.bounded.value, times)
        # Checkpoints hold the parts by these names, and RUN-020 shows them.
        for name, pairs in (("join keys", self.equal), ("join conditions", self.conditions)):
            shown = ", ".join(f"{_text(p.left)} {p.operator} {_text(p.right)}" for p in pairs)
            yield name, shown, [self._form(p) for p in pairs]
        for name, side in (("left", self.left), ("right", self.right)):
            texts = ", ".join(_text(e) for e in (*side.filters, *side.needs))
            forms = [[expression_form(e, side.scope) for e in of] for of in (side.filters, side.needs)]
            yield f"{name} side of the join", texts, forms
            yield f"{name} columns of the join", ", ".join(c.column.name for c in side.carried), _columns_form(side)
        if self.match is not None:
            by = f"{self.match.nearest.value}, {self.match.tolerance} ms"
            yield "match condition", by, (self.match.nearest.value, self.match.tolerance)
            if self.match.updates:
                yield "EMIT of the join", self.match.emit, (self.match.early, self.match.lateness)
        if self.asked:
            values = [[expression_form(e, s.scope) for e in s.values] for s in (self.left, self.right)]
            yield "pairs of the join", "", (tuple(expression_to_json(e) for e in self.asked), values)
        if self.rest:
            yield (
                "join filter",
                ", ".join(_text(e) for e in self.rest),
                [expression_form(e, self.scope) for e in self.rest],
            )

    def _form(self, pair: Pair) -> object:
        left, right = expression_form(pair.left, self.left.scope), expression_form(pair.right, self.right.scope)
        return (left, pair.operator, right, pair.type.flink() if pair.type else None, pair.null_aware)


def may_lack_times(node: PlanNode) -> bool:
    """Whether rows may have NULL for a rowtime: those that an outer join gives for rows without a match."""
    if isinstance(node, RestoreTime):
        return True
    if isinstance(node, StreamJoin) and node.bounded is JoinBound.INTERVAL:
        outer = node.join in (JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL)
        return outer or any(may_lack_times(i) for i in node.inputs)
    return any(may_lack_times(i) for i in node.inputs)


def _columns_form(side: JoinSide) -> object:
    return [(*_place(side, c.column, c.relation), c.as_value) for c in side.carried]


def _time_form(side: JoinSide) -> object:
    return _place(side, side.time.column, side.time.relation) if side.time is not None else None


def _place(side: JoinSide, column: PlanColumn, alias: str) -> tuple[int, int | str]:
    place = next(i for i, r in enumerate(side.scope.relations) if r.alias == alias)
    return place, column_form(column, side.scope.relations[place].columns)


def _key_text(key: Pair) -> str:
    """Return a key as it is written; of USING and of IN the left side says all."""
    named = isinstance(key.right, ColumnRef) and key.right.parts[0].startswith("__")
    return _text(key.left) if named else f"{_text(key.left)} = {_text(key.right)}"


def _text(expr: Expr) -> str:
    if isinstance(expr, ColumnRef) and expr.parts[0] == USING:  # its span is that of the join
        return expr.parts[1]
    return expr.span.one_line
