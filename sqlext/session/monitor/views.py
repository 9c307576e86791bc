"""Define what is said of queries: plain values that become JSON as they are. Times are ms since 1970 UTC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FailureView:
    """Why a query failed."""

    code: str
    message: str
    hint: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class QueryCard:
    """A query in short; counts since it was started last.

    Attributes:
        state: ``running``, ``finished``, ``stopped``, ``failed``, or ``lost``: its driver is gone and said nothing.
        here: whether it runs in this process.
        at: when it said something new the last time; None if it never did.
        lag: ms that the watermark is behind the clock; None where it has an end, or no watermark.
        rate: rows read in a second, of late.
        batch_ms: how long the last micro-batch took.
        idle: the inputs that are idle.
        held: the inputs that alignment holds back.
        warnings: what somebody should look at, in words.
    """

    name: str
    job: str
    state: str
    here: bool
    bounded: bool
    started: int | None
    at: int | None
    statement: str
    reads: Sequence[str]
    writes: str | None
    failure: FailureView | None
    watermark: int | None
    lag: int | None
    rate: float
    rows_in: int
    rows_out: int
    rows_late: int
    rows_dropped: int
    rows_bad: int
    dead_letters: int
    batch: int
    batch_ms: int
    state_rows: int
    state_bytes: int
    idle: Sequence[str]
    held: Sequence[str]
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True)
class NodeView:
    """A step of a plan.

    Attributes:
        rows: rows that a scan has read, or that the sink has taken; None where nobody counts them.
        watermark: of a scan its own, else the query's.
        activity: of a scan ``active``, ``idle``, ``held`` or ``ended``; None of any other step.
        state_rows: rows or groups in its state, None where it keeps none or nobody knows which state is its.
        dropped: rows that came behind the watermark.
    """

    number: int
    step: str
    detail: str
    changelog: str
    stateful: bool
    rows: int | None
    watermark: int | None
    activity: str | None
    state_rows: int | None
    state_bytes: int | None
    updated: int | None
    dropped: int | None


@dataclass(frozen=True, slots=True)
class EdgeView:
    """Rows go from one step to another."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class WindowView:
    """Windows that end at one time and are open.

    Attributes:
        end: event time; they close when the watermark is there.
        needs: the event time that a row of each input must reach, by the input's name.
        expected: when the clock will show that, if the watermark goes on as in the last minute; None: it stands.
        closes_at: when the clock closes them if every input stays silent; None: it never does.
    """

    end: int
    needs: Mapping[str, int]
    expected: int | None
    closes_at: int | None


@dataclass(frozen=True, slots=True)
class InputView:
    """A split of an input; ``split`` is None where the input is not taken apart."""

    input: str
    split: str | None
    largest: int | None
    watermark: int | None
    idle_since: int | None
    held: bool
    holds: bool
    rows: int


@dataclass(frozen=True, slots=True)
class QueryView:
    """A query in full.

    Attributes:
        zone: whose wall clock shows event times.
        why: why nothing comes out, in words (EXPLAIN WHY).
        session_windows: whether the first window is the newest session: older ones may end before it.
    """

    card: QueryCard
    zone: str
    why: str
    nodes: Sequence[NodeView]
    edges: Sequence[EdgeView]
    inputs: Sequence[InputView]
    windows: Sequence[WindowView]
    session_windows: bool


@dataclass(frozen=True, slots=True)
class Series:
    """How a query went: a value at each moment of ``at``, column by column; None where there is none.

    Attributes:
        lag: ms that the watermark was behind the clock.
        rows_in: rows read in a second.
        rows_out: rows given out in a second.
        batch_ms: how long a micro-batch took.
        parts: the same of its parts, by Spark's names.
        late: late rows that were kept, since the moment before; ``dropped`` and ``bad`` likewise.
        ran: whether it ran then; where it did not, lines have a gap.
    """

    at: Sequence[int]
    watermark: Sequence[int | None]
    lag: Sequence[int | None]
    rows_in: Sequence[float | None]
    rows_out: Sequence[float | None]
    batch_ms: Sequence[float | None]
    parts: Mapping[str, Sequence[float | None]]
    state_rows: Sequence[int | None]
    state_bytes: Sequence[int | None]
    late: Sequence[int]
    dropped: Sequence[int]
    bad: Sequence[int]
    ran: Sequence[bool]


@dataclass(frozen=True, slots=True)
class LatenessView:
    """How late the rows of an input were: a share of them at each delay (ms) of ``delay``.

    Attributes:
        declared: the delay that its watermark has.
        rows: how many were counted.
        at_least: the share that is surely late with the delay; ``at_most`` that which may be.
        text: the same in a sentence.
    """

    input: str
    declared: int
    rows: int
    delay: Sequence[int]
    at_least: Sequence[float]
    at_most: Sequence[float]
    text: str


@dataclass(frozen=True, slots=True)
class LastRows:
    """The last rows of a table that a query writes; ``why`` says why there are none."""

    table: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | int | float | bool | None]]
    why: str | None
