"""The nodes of functions OVER rows: in the order of time, in that of a value, and of a window of time that is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sqlext.dialect.ast.expressions import Call, Expr, Literal
from sqlext.dialect.ast.queries import OrderItem
from sqlext.plan.columns import PlanColumn
from sqlext.plan.normal_form import column_form, expression_form, value_form
from sqlext.plan.scope import Scope
from sqlext.plan.stateful import BOUND_IT, Operator
from sqlext.source import Span
from sqlext_udfs.over.specification import OverFrame

#: How many arguments LAG has with a default.
_WITH_DEFAULT = 3


@dataclass(frozen=True, slots=True)
class Framed:
    """A function OVER a window.

    Attributes:
        call: with its window, which has no name.
        frame: the rows that it looks at.
        physical: the column of its result.
    """

    call: Call
    frame: OverFrame
    physical: str

    @property
    def offset(self) -> int:
        """How many rows LAG goes back."""
        given = self.call.args[1] if len(self.call.args) > 1 else None
        return int(given.value) if isinstance(given, Literal) else 1

    @property
    def waits_for_rows(self) -> bool:
        """Whether a row waits for later rows of its key, and not for a time."""
        return self.frame.unit == "ROWS" and self.frame.ahead > 0

    @property
    def kept(self) -> OverFrame:
        """What of the rows before is kept for it."""
        # LAG has no frame of its own in SQL, but the rows that it goes back to must be held.
        return OverFrame("ROWS", self.offset) if self.call.function == "LAG" else self.frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Over(Operator):
    """Each row of its input with the results of functions over rows around it.

    Its columns are those of its input, then the results. All windows have the same PARTITION BY and ORDER BY.

    Attributes:
        scope: the names that the expressions use.
        functions: what is computed.
        partition: PARTITION BY.
        time: the rowtime of ORDER BY; None: processing time.
        ttl: ms of processing time after which a key to which no row came is forgotten.
    """

    scope: Scope
    functions: tuple[Framed, ...]
    partition: tuple[Expr, ...] = ()
    time: PlanColumn | None = None
    ttl: int | None = None

    function: ClassVar[str] = "over"

    @property
    def event_time(self) -> bool:
        """Whether rows come out when the watermark has passed them."""
        return self.time is not None

    @property
    def uses_clock(self) -> bool:
        """Whether a frame or the time to live measures processing time."""
        return self.ttl is not None or (
            self.time is None and any(f.frame.unit == "RANGE" and f.frame.preceding is not None for f in self.functions)
        )

    @property
    def lag(self) -> int:
        """Rows whose frames go on behind them by time come out so much later."""
        ahead = max((f.frame.ahead for f in self.functions if f.frame.unit == "RANGE"), default=0)
        return max((i.lag for i in self.inputs), default=0) + ahead

    @property
    def what(self) -> str:
        """OVER, and of which rows."""
        keys = ", ".join(e.span.one_line for e in self.partition)
        return f"OVER{f' by {keys}' if keys else ''} in the order of {self.time.name if self.time else 'arrival'}"

    @property
    def bound(self) -> str:
        """The longest frames; an unbounded one keeps one row of partial results for each key."""
        return ", ".join([*self._reached(), *self._waiting(), *self._lives()]) or "rows until the watermark passes them"

    def _waiting(self) -> Iterator[str]:
        """Yield which rows wait behind the watermark."""
        for unit, shown in (("ROWS", "the last {} rows of each key"), ("RANGE", "rows that wait {} ms")):
            ahead = max((f.frame.ahead for f in self.functions if f.frame.unit == unit), default=0)
            if ahead:
                yield shown.format(ahead)

    def _reached(self) -> list[str]:
        """Return which rows that have come out are kept."""
        frames = [f.kept for f in self.functions if f.call.function != "LEAD"]
        texts = ["partial results of each key"] if any(f.preceding is None for f in frames) else []
        for unit, shown in (("ROWS", "{} rows of each key"), ("RANGE", "rows of {} ms")):
            lengths = [f.preceding for f in frames if f.unit == unit and f.preceding is not None]
            if lengths and (max(lengths) >= 0 and not (max(lengths) == 0 and any(f.ahead for f in frames))):
                texts.append(shown.format(max(lengths)))
        return texts

    @property
    def grows(self) -> bool:
        """New keys come as long as the query runs, and a frame that no time bounds forgets none."""
        # A row that waits for others of its key is not forgotten: it has not come out.
        forgets = self.ttl is not None and not any(f.waits_for_rows for f in self.functions)
        return not forgets and bool(self.partition) and self.clause is not None

    @property
    def remedy(self) -> str:
        """The time to live does not end rows that wait."""
        if any(f.waits_for_rows for f in self.functions):
            return (
                "RANGE ... FOLLOWING waits for a time; PARTITION BY window_start, window_end until the window is over"
            )
        return BOUND_IT

    @property
    def clause(self) -> Span | None:
        """The first call whose frame no time bounds."""
        frames = ((f.kept, f.call.span) for f in self.functions)
        return next((span for kept, span in frames if kept.preceding is None or kept.unit == "ROWS"), None)

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield what its state depends on: all columns of its input, as rows wait in it."""
        below = self.sources[0].columns
        yield "OVER keys", ", ".join(e.span.one_line for e in self.partition), value_form(self.partition, self.scope)
        order = self.time.name if self.time else "arrival"
        yield "OVER order", order, column_form(self.time, below) if self.time else None
        calls = [f.call for f in self.functions]
        yield "OVER", ", ".join(c.span.one_line for c in calls), [expression_form(c, self.scope) for c in calls]
        if self.scope.mode == "flink" and any(c.function == "LAG" and len(c.args) == _WITH_DEFAULT for c in calls):
            # Rows that waited before this was so could not tell a NULL from a row that is not there.
            yield "default of LAG", "where there is no row", "no row"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningOver(Operator):
    """Each row of its input with the results of functions over the rows up to it in the order of a value, no time.

    Its columns are those of its input, then the results. All windows have the same PARTITION BY and ORDER BY.

    Attributes:
        scope: the names that the expressions use.
        functions: what is computed.
        order: the one item of ORDER BY.
        partition: PARTITION BY.
        ttl: ms of processing time after which a key to which no row came is forgotten.
    """

    scope: Scope
    functions: tuple[Framed, ...]
    order: OrderItem
    partition: tuple[Expr, ...] = ()
    ttl: int | None = None

    function: ClassVar[str] = "running"

    @property
    def what(self) -> str:
        """OVER, and of which rows."""
        keys = ", ".join(e.span.one_line for e in self.partition)
        return f"OVER{f' by {keys}' if keys else ''} in the order of {self.order.span.one_line}"

    @property
    def grows(self) -> bool:
        """All rows are kept, as one before them may come yet."""
        return self.ttl is None

    @property
    def clause(self) -> Span | None:
        """The first call."""
        return self.functions[0].call.span

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield what its state depends on."""
        yield "OVER keys", ", ".join(e.span.one_line for e in self.partition), value_form(self.partition, self.scope)
        form = (expression_form(self.order.expr, self.scope), self.order.nulls)
        yield "OVER order", self.order.span.one_line, form
        calls = [f.call for f in self.functions]
        yield "OVER", ", ".join(c.span.one_line for c in calls), [expression_form(c, self.scope) for c in calls]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowedOver(Operator):
    """Each row of its input with the results of functions over the rows of its window of time, when that is over.

    Its columns are those of its input, then the results. All calls have the same PARTITION BY.

    Attributes:
        scope: the names that the expressions use.
        functions: what is computed. RANGE frames go by rows that are equal in ORDER BY.
        window: the window whose rows they are.
        partition: PARTITION BY, without the bounds of the window.
    """

    scope: Scope
    functions: tuple[Framed, ...]
    window: PlanColumn
    partition: tuple[Expr, ...] = ()

    function: ClassVar[str] = "window_over"

    @property
    def event_time(self) -> bool:
        """Always: rows come out when the watermark has come to the end of their window."""
        return True

    @property
    def what(self) -> str:
        """OVER, and of which rows."""
        return f"OVER by {', '.join(['the window', *(e.span.one_line for e in self.partition)])}"

    @property
    def bound(self) -> str:
        """The window."""
        return "rows until their window ends"

    @property
    def clause(self) -> Span | None:
        """The first call."""
        return self.functions[0].call.span

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield what its state depends on: the rows that wait."""
        below = self.sources[0].columns
        yield "OVER keys", ", ".join(e.span.one_line for e in self.partition), value_form(self.partition, self.scope)
        yield "OVER window", self.window.name, column_form(self.window, below)
        calls = [f.call for f in self.functions]
        yield "OVER", ", ".join(c.span.one_line for c in calls), [expression_form(c, self.scope) for c in calls]
