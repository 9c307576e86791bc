"""When and how the panes of a grouping come out, where an operator of ours keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from sqlext.dialect.ast.expressions import Node
from sqlext.plan.bad_rows import WRITTEN_BY
from sqlext.plan.columns import PlanColumn
from sqlext.plan.filling import WindowFill
from sqlext.plan.normal_form import column_form, option_parts
from sqlext.source import Span
from sqlext_catalog.model import Table
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.triggers.rules import ends_with_input, uses_clock, uses_watermark
from sqlext_udfs.windows.triggers.tree import AfterWatermark, Repeat


@dataclass(frozen=True, slots=True)
class LateColumn:
    """A column of a late table and what fills it.

    Attributes:
        source: a column of the row, or what the operator knows (``LATE_WATERMARK``, ``LATE_OPERATOR``).
        relation: alias of the relation in FROM that has it; None for what the operator knows.
    """

    name: str
    source: PlanColumn
    relation: str | None


#: What a late table may have besides the row: the watermark that the row met, and who found it late.
LATE_WATERMARK, LATE_OPERATOR = "__watermark", WRITTEN_BY


@dataclass(frozen=True, slots=True)
class LateRows:
    """Where rows that come too late are kept, and what of them.

    Attributes:
        columns: those that are kept: of the table, or of a dead letter's text.
        span: where the clause says so.
        letters_of: the tables that the rows are of, where they are dead letters; None else.
    """

    table: Table
    columns: tuple[LateColumn, ...]
    span: Span
    letters_of: str | None = None


def late_parts(late: LateRows, below: Sequence[PlanColumn]) -> Iterator[tuple[str, str, object]]:
    """Yield name, text and normal form of what is kept of late rows; ``below``: the columns that rows have."""
    yield from option_parts("late table", late.table)
    # What the operator itself knows (``LATE_WATERMARK``) is in no relation, so it has no place.
    columns = [(c.name, column_form(c.source, below) if c.relation else None) for c in late.columns]
    yield "late table columns", ", ".join(name for name, _ in columns), columns


@dataclass(frozen=True, slots=True)
class Silent:
    """A part of an EMIT clause by which nothing ever comes out, and why, as the end of a sentence."""

    span: Span
    why: str


#: Why an operator of ours keeps groups that Spark could keep.
COMBINED = "rows combined by Arrow where they are read"


class Phases(NamedTuple):
    """The triggers by which the panes of a window come out, as they are written: early, on time, late."""

    early: str = ""
    on_time: str = ""
    late: str = ""


_UNSAID = Phases()


@dataclass(frozen=True, slots=True)
class Firing:
    """How an operator of ours keeps a grouping of a stream, or would where Spark's own does.

    Attributes:
        policy: which windows, when panes fire, and what is in them.
        given: whether SQL has given the rows their windows, before the operator.
        reasons: what Spark has no operator for.
        panes: what comes out: ``one`` row for a key and window; ``each`` pane, a row of its own; or the ``last`` one
            counts, and takes the place of those before.
        values: what triggers and evictors look at in a row, by its number in the policy.
        late: where rows that come too late are kept.
        notes: what a user should know, for EXPLAIN.
        using: name and qualified class of the registered triggers and evictors.
        ttl: ms of processing time after which a group without a window to which no row came is forgotten.
        emit: its EMIT clause, as EXPLAIN shows it.
        fill: what comes out of windows without rows; None for nothing.
        phases: which trigger lets the panes of each phase come out, for EXPLAIN ROW.
    """

    policy: Policy
    given: bool
    reasons: tuple[str, ...]
    panes: Literal["one", "each", "last"] = "one"
    values: tuple[Node, ...] = ()
    late: LateRows | None = None
    notes: tuple[str, ...] = ()
    using: tuple[tuple[str, str], ...] = ()
    ttl: int | None = None
    emit: str = ""
    fill: WindowFill | None = None
    phases: Phases = _UNSAID

    @property
    def why(self) -> tuple[str, ...]:
        """Why an operator of ours keeps it; empty: Spark's own does."""
        return (*self.reasons, *(("a time to live of state",) if self.ttl is not None else ()))

    def read_on(self) -> Firing:
        """Return how it is kept where an operator above reads its changes: it takes back what it gave."""
        reasons = (*self.reasons, "GROUP BY whose changes are read on")
        return replace(self, reasons=reasons, policy=replace(self.policy, mode="RETRACTING"), panes="each")

    def told(self) -> Firing:
        """Return how it is kept where each pane is to be told, whatever a sink wants: by an operator of ours."""
        policy = replace(self.policy, keep_index=True)
        return replace(self, reasons=(*self.reasons, "its panes are told"), policy=policy, panes="each", late=None)

    def combined(self) -> Firing:
        """Return how it is kept where Arrow combines rows as it reads them."""
        return replace(self, reasons=(*self.reasons, COMBINED))

    @property
    def event_time(self) -> bool:
        """Whether the watermark means anything to it."""
        return uses_watermark(self.policy)

    @property
    def uses_clock(self) -> bool:
        """Whether it asks for processing time."""
        return self.ttl is not None or uses_clock(self.policy)

    @property
    def final(self) -> bool:
        """Whether each window gives one pane when the watermark passes its end, and takes no row after that."""
        return self.policy.gives_one_pane and not self.policy.lateness and self.late is None

    @property
    def closes_once(self) -> bool:
        """Whether each window gives one pane, of all its rows, when the watermark passes its end."""
        policy = self.policy
        # ``keep_index`` is taken over: it says what is remembered, not when a pane comes out.
        plain = Policy(policy.window, AfterWatermark(), keep_index=policy.keep_index)
        return policy == plain and self.panes == "one" and not self.given and self.late is None and self.ttl is None

    @property
    def ends(self) -> bool:
        """Whether it must be told that a bounded input has ended, because no watermark tells it."""
        return ends_with_input(self.policy)


def trigger_name(policy: Policy) -> str:
    """Return a short name of what makes a policy special, for EXPLAIN."""
    trigger = policy.trigger
    inner = trigger.of if isinstance(trigger, Repeat) else trigger
    words = "".join(f" {c}" if c.isupper() else c for c in type(inner).__name__).upper().strip()
    return words if policy.mode == "ACCUMULATING" else f"{words} {policy.mode}"
