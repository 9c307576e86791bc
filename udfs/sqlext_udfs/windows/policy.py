"""Describe what a window operator does: which windows, when they give panes, what happens to the rows then.

Policies are plain frozen values. The planner makes them from an EMIT clause and sends them to the workers as JSON
(``policy_json``). Durations and instants are whole milliseconds (UTC). There are no expressions here: what a trigger
needs from a row is a numeric column of the step's rows (``ElementRows.values``), named by its number.

The JSON holds the names of these classes, so they keep their names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sqlext_udfs.windows.triggers.tree import AfterWatermark, EveryRow, Never, Trigger, WindowClose
from sqlext_udfs.windows.triggers.tree import tree as trigger_tree


@dataclass(frozen=True, slots=True)
class Tumble:
    """TUMBLE: windows ``[offset + k * size, ... + size)``, in ms."""

    size: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Hop:
    """HOP: windows of ``size`` ms that start every ``slide`` ms; rows in gaps (``slide > size``) have no window."""

    size: int
    slide: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Cumulate:
    """CUMULATE: windows that start every ``size`` ms and end every ``step`` ms after that, up to ``size``."""

    size: int
    step: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Session:
    """SESSION: windows that grow while rows come within ``gap`` ms; None: each row's own (``ElementRows.gap``)."""

    gap: int | None


@dataclass(frozen=True, slots=True)
class LimitedSession(Session):
    """SESSION with a maximum: a session takes no row that is ``limit`` ms behind its first one, or more."""

    limit: int


@dataclass(frozen=True, slots=True)
class Global:
    """No window: one that ends at plus infinity (rule M19)."""


WindowKind: TypeAlias = "Tumble | Hop | Cumulate | Session | Global"


def default_trigger(window: WindowKind) -> Trigger:
    """Return what a grouping has without EMIT: at the window's end, or once a micro-batch without a window."""
    return EveryRow() if isinstance(window, Global) else AfterWatermark()


@dataclass(frozen=True, slots=True)
class KeepCount:
    """``KEEP LAST n ROWS``: Flink's CountEvictor, by order of arrival."""

    n: int


@dataclass(frozen=True, slots=True)
class KeepTime:
    """``KEEP LAST d``: rows with rowtime <= newest - ms go (Flink's TimeEvictor); without a rowtime all stay."""

    ms: int


@dataclass(frozen=True, slots=True)
class KeepDelta:
    """``KEEP [ABS] DELTA OF (e) < x``: rows whose delta to the last row is >= ``threshold`` go (DeltaEvictor)."""

    threshold: float
    absolute: bool
    column: int


@dataclass(frozen=True, slots=True)
class KeepUsing:
    """``EVICT USING name(args)``: a registered evictor."""

    name: str
    args: tuple[int | float | str | bool | None, ...] = ()


Evictor: TypeAlias = "KeepCount | KeepTime | KeepDelta | KeepUsing"

Mode = Literal["ACCUMULATING", "DISCARDING", "RETRACTING"]
OnTimePane = Literal["ALWAYS", "IF_NOT_EMPTY"]
FinalPane = Literal["ALWAYS", "IF_NOT_EMPTY", "NEVER"]
PaneTimestamp = Literal["END_OF_WINDOW", "EARLIEST", "LATEST"]


@dataclass(frozen=True, slots=True)
class Options:
    """``OPTIONS (...)``: the rules in which engines differ; the defaults are ours (EMIT.md section 4)."""

    deadline: Literal["at", "after"] = "at"
    window_end: Literal["end", "last_ms"] = "end"
    late_check: Literal["after_merge", "before_merge"] = "after_merge"
    session_gap: Literal["inclusive", "exclusive"] = "inclusive"
    missed_firings: Literal["once", "each"] = "once"
    early_composite: Literal["reset", "sticky"] = "reset"


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that decides on panes.

    Attributes:
        window: which windows a row belongs to.
        trigger: when a window gives a pane.
        processing_time: windows are of the batch clock, not of the rowtime; lateness does not apply to them.
        once: a trigger that has finished closes its group; else it is repeated for ever.
        mode: what happens to the contents at a pane.
        lateness: how long (ms) after its end a window still takes rows.
        on_time_pane: whether the on-time pane may be empty; None: the default of the mode (EMIT.md section 4).
        final_pane: whether the closing pane may be empty, or is not written at all.
        pane_timestamp: which time a pane carries.
        evictor: which rows are taken from the contents, and ``evict_after`` whether after the pane is made.
        keep_index: False where nobody asks for ``PANE_...()``: then an emptied group without window is forgotten.
        options: rules that reproduce other engines.
    """

    window: WindowKind
    trigger: Trigger
    processing_time: bool = False
    once: bool = False
    mode: Mode = "ACCUMULATING"
    lateness: int = 0
    on_time_pane: OnTimePane | None = None
    final_pane: FinalPane = "IF_NOT_EMPTY"
    pane_timestamp: PaneTimestamp = "END_OF_WINDOW"
    evictor: Evictor | None = None
    evict_after: bool = False
    keep_index: bool = True
    options: Options = field(default_factory=Options)

    @property
    def empty_on_time_pane(self) -> bool:
        """Whether the on-time pane is written also if no row came since the last pane."""
        if self.on_time_pane is not None:
            return self.on_time_pane == "ALWAYS"
        # An empty pane repeats the old result; in DISCARDING it would be a row of nothing.
        return self.mode != "DISCARDING" and not isinstance(self.window, Global)

    @property
    def delay(self) -> int:
        """By how many ms the watermark is held back (``WITH DELAY``): the largest one in the trigger."""
        # A group has one watermark, so of several delays the largest counts.
        return max((getattr(t, "delay", None) or 0 for t in trigger_tree(self.trigger)), default=0)

    @property
    def timeout(self) -> int | None:
        """After how many ms of the batch clock without rows all windows are closed (``AND TIMEOUT``)."""
        given = [t for t in (getattr(t, "timeout", None) for t in trigger_tree(self.trigger)) if t is not None]
        return min(given, default=None)

    @property
    def asks_last_row(self) -> bool:
        """Whether it matters when the query last had rows."""
        return self.timeout is not None or any(getattr(t, "of_query", False) for t in trigger_tree(self.trigger))

    @property
    def gives_one_pane(self) -> bool:
        """Whether each key and window has exactly one pane, which comes by the watermark."""
        trigger = self.trigger
        if isinstance(trigger, AfterWatermark):
            fires_once = self.lateness == 0 and trigger.early is None and trigger.late is None
        else:
            fires_once = isinstance(trigger, WindowClose | Never) and not self.once
        return (
            fires_once
            and not self.processing_time
            and not isinstance(self.window, Global)
            and self.timeout is None
            and self.evictor is None
            and self.pane_timestamp == "END_OF_WINDOW"
            and self.options.missed_firings == "once"
            and (self.lateness == 0 or self.final_pane != "NEVER")
        )

    @classmethod
    def never(cls, window: WindowKind) -> Policy:
        """Return the policy of a window that gives one pane, when it expires."""
        return cls(window, Never())
