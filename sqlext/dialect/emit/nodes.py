"""Define the EMIT clause as parsed: one tree for every spelling.

Durations are whole milliseconds. ``EVERY n ROWS`` is Repeat(AfterCount), ``EVERY d`` is Repeat(AfterDelay); a Repeat
that nobody wrote has the span of what it repeats.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from sqlext.dialect.ast.expressions import Expr, Node
from sqlext.source import Span

#: OPTIONS that make the clause behave as another engine does. The first value is ours.
#: Section 4 of EMIT.md says what each means, section 9 where it was measured.
ENGINE_OPTIONS: dict[str, tuple[str, ...]] = {
    "deadline": ("at", "after"),
    "window_end": ("end", "last_ms"),
    "late_check": ("after_merge", "before_merge"),
    "session_gap": ("inclusive", "exclusive"),
    "missed_firings": ("once", "each"),
    "early_composite": ("reset", "sticky"),
}


@dataclass(frozen=True, slots=True)
class Trigger(Node):
    """When a pane comes out."""


@dataclass(frozen=True, slots=True)
class AfterCount(Trigger):
    """``AFTER [AT LEAST] n ROWS``: exactly n rows, or checked once per micro-batch."""

    n: int
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class EveryRow(Trigger):
    """``EVERY ROW``: a changed group once per micro-batch, as REPEAT (AFTER AT LEAST 1 ROW)."""


@dataclass(frozen=True, slots=True)
class Delay(Node):
    """``DELAY d``: a deadline moves on by d."""

    ms: int


@dataclass(frozen=True, slots=True)
class Align(Node):
    """``ALIGNED TO period [OFFSET offset]``: a deadline moves on to the next such time."""

    period: int
    offset: int = 0


Transform = Delay | Align


@dataclass(frozen=True, slots=True)
class AfterDelay(Trigger):
    """``AFTER DELAY d ...``, ``AFTER PROCESSING TIME ...``: the clock at the pane's first row, moved on in order."""

    transforms: tuple[Transform, ...]


@dataclass(frozen=True, slots=True)
class EveryPeriod(Trigger):
    """``EVERY d ... REPEAT``: periodic from the first row on, also with nothing new; each deadline is then moved on."""

    ms: int
    transforms: tuple[Transform, ...] = ()


@dataclass(frozen=True, slots=True)
class EveryAligned(Trigger):
    """``EVERY d ALIGNED [REPEAT]``: at multiples of d of the clock."""

    ms: int
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class EveryEventTime(Trigger):
    """``EVERY d OF EVENT TIME [REPEAT]``: when the watermark passes multiples of d, and at the window's end."""

    ms: int
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class AfterIdle(Trigger):
    """``AFTER IDLE d``: since the last row of the group; ``of_query``: of the whole query (Timeplus's TIMEOUT d)."""

    ms: int
    of_query: bool = False


@dataclass(frozen=True, slots=True)
class AfterDelta(Trigger):
    """``AFTER [ABS] DELTA OF (expression) > threshold``: moved so far since the row of the last firing."""

    expression: Expr
    threshold: Decimal
    absolute: bool = False


@dataclass(frozen=True, slots=True)
class When(Trigger):
    """``WHEN (condition)``: the pane's aggregates meet it."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class CaseBranch(Node):
    """``WHEN condition THEN action``: ``action`` is FIRE, PURGE, FIRE AND PURGE or CONTINUE."""

    condition: Expr
    action: str


@dataclass(frozen=True, slots=True)
class CaseTrigger(Trigger):
    """``CASE WHEN row_condition THEN action ... [ELSE action] END``."""

    branches: tuple[CaseBranch, ...]
    otherwise: str = "CONTINUE"


@dataclass(frozen=True, slots=True)
class UsingTrigger(Trigger):
    """``USING TRIGGER name(arguments)``: a registered class; arguments are Expr or NamedArgument."""

    name: str
    arguments: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class AfterWatermark(Trigger):
    """``AFTER WATERMARK [WITH DELAY d [AND TIMEOUT d]] [EARLY early] [LATE late]``.

    ``early`` and ``late`` are as written and repeated in any case. ``late_span`` is the word LATE, or the policy of
    Blink that says it.
    """

    early: Trigger | None = None
    late: Trigger | None = None
    delay: int | None = None
    timeout: int | None = None
    late_span: Span | None = None


@dataclass(frozen=True, slots=True)
class WindowClose(Trigger):
    """``ON WINDOW CLOSE [WITH DELAY d [AND TIMEOUT d]]``: one pane, at the window's end + lateness."""

    delay: int | None = None
    timeout: int | None = None


@dataclass(frozen=True, slots=True)
class Never(Trigger):
    """``NEVER``: only the closing pane."""


@dataclass(frozen=True, slots=True)
class AllOf(Trigger):
    """``a AND b``, ``ALL OF (a, b)``."""

    parts: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class AnyOf(Trigger):
    """``a OR b``, ``ANY OF (a, b)``."""

    parts: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class EachOf(Trigger):
    """``a THEN b``, ``EACH OF (a, b)``."""

    parts: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class Until(Trigger):
    """``main UNTIL until``."""

    main: Trigger
    until: Trigger


@dataclass(frozen=True, slots=True)
class Repeat(Trigger):
    """``REPEAT (of)``, or what an EVERY stands for."""

    of: Trigger


@dataclass(frozen=True, slots=True)
class Timeout(Trigger):
    """``of TIMEOUT d [SINCE FIRST | LAST ROW] [KEEPING STATE]``."""

    of: Trigger
    ms: int
    since_last_row: bool = False
    keep_state: bool = False


@dataclass(frozen=True, slots=True)
class Purging(Trigger):
    """``of PURGING``: the pane is emptied when ``of`` fires."""

    of: Trigger


@dataclass(frozen=True, slots=True)
class DefaultTrigger(Trigger):
    """``DEFAULT``, or no trigger at all: what the grouping has without EMIT."""


@dataclass(frozen=True, slots=True)
class ContinueTrigger(Trigger):
    """``CONTINUE``: the continuation of the input's own trigger."""


@dataclass(frozen=True, slots=True)
class KeepRows(Node):
    """``KEEP LAST n ROWS [BEFORE | AFTER FIRING]``."""

    n: int
    before: bool = True


@dataclass(frozen=True, slots=True)
class KeepDuration(Node):
    """``KEEP LAST d [BEFORE | AFTER FIRING]``; Timeplus's ``LAST d`` has a span without KEEP."""

    ms: int
    before: bool = True


@dataclass(frozen=True, slots=True)
class KeepDelta(Node):
    """``KEEP [ABS] DELTA OF (expression) < threshold [BEFORE | AFTER FIRING]``."""

    expression: Expr
    threshold: Decimal
    absolute: bool = False
    before: bool = True


@dataclass(frozen=True, slots=True)
class EvictUsing(Node):
    """``EVICT USING name(arguments) [BEFORE | AFTER FIRING]``: a registered class."""

    name: str
    arguments: tuple[Node, ...] = ()
    before: bool = True


Evictor = KeepRows | KeepDuration | KeepDelta | EvictUsing


@dataclass(frozen=True, slots=True)
class LateTable(Node):
    """The name in ``LATE DATA TO name``; no relation of the query's FROM."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FillValue(Node):
    """``column = LAST | LINEAR | constant``: what a column of the select list has in a window without rows.

    ``value`` is None where ``kind`` is LAST or LINEAR.
    """

    column: str
    kind: Literal["LAST", "LINEAR", "CONSTANT"]
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class FillTable(Node):
    """The table whose keys are filled."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fill(Node):
    """``FILL FOR d [WITH (values)]``: windows without rows come out too, until a key had no row for so many ms.

    ``FILL FOR EACH KEY OF t``: those of each key of ``table``, and no ``ms``.
    """

    ms: int | None
    values: tuple[FillValue, ...] = ()
    table: FillTable | None = None


@dataclass(frozen=True, slots=True)
class EmitClause(Node):
    """A whole clause; what was not written is None, so that the planner sees the difference.

    ``output`` is STREAM or CHANGELOG, ``mode`` ACCUMULATING, DISCARDING or RETRACTING, ``on_time_pane`` ALWAYS or
    IF NOT EMPTY, ``final_pane`` also NEVER, ``pane_timestamp`` END OF WINDOW, EARLIEST or LATEST. ``places`` has the
    span of each field that was written.
    """

    trigger: Trigger
    output: str | None = None
    once: bool = False
    mode: str | None = None
    lateness: int | None = None
    late_table: LateTable | None = None
    drop_late: bool = False
    evictor: Evictor | None = None
    on_time_pane: str | None = None
    final_pane: str | None = None
    pane_timestamp: str | None = None
    fill: Fill | None = None
    options: tuple[tuple[str, str], ...] = ()
    places: tuple[tuple[str, Span], ...] = ()

    def option(self, name: str) -> str:
        """Return the value of one of ENGINE_OPTIONS, ours if it was not given."""
        return dict(self.options).get(name, ENGINE_OPTIONS[name][0])

    @property
    def only_fills(self) -> bool:
        """Whether it says FILL, and nothing of when panes come out or what is in them."""
        return isinstance(self.trigger, DefaultTrigger) and {name for name, _ in self.places} == {"fill"}

    def place(self, field: str) -> Span:
        """Return where a field was written, for messages; the whole clause if it was not."""
        return dict(self.places).get(field, self.span)
