"""Represent a trigger as a tree of frozen values: what an EMIT clause says, with numbers for expressions.

Durations are milliseconds. A policy's JSON holds the names of these classes, so they keep their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

Argument: TypeAlias = "int | float | str | bool | None"


@dataclass(frozen=True, slots=True)
class AfterCount:
    """``AFTER [AT LEAST] n ROWS``: exact (cuts a batch), or tested once per micro-batch."""

    n: int
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class EveryRow:
    """``EVERY ROW``: once per micro-batch that brought rows."""


@dataclass(frozen=True, slots=True)
class Delay:
    """``DELAY ms``: a step of a deadline's computation."""

    ms: int


@dataclass(frozen=True, slots=True)
class Align:
    """``ALIGNED TO period OFFSET offset``: the first aligned time at or after."""

    period: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class AfterDelay:
    """``AFTER DELAY d {align}``: a deadline computed from the arrival of the pane's first row, in written order."""

    transforms: tuple[Delay | Align, ...]


@dataclass(frozen=True, slots=True)
class EveryPeriod:
    """``EVERY d {align} REPEAT``: at first row + k * ms, each then moved on, also with nothing new."""

    ms: int
    transforms: tuple[Delay | Align, ...] = ()


@dataclass(frozen=True, slots=True)
class EveryAligned:
    """``EVERY d ALIGNED [REPEAT]``: at multiples of ms by the clock; ``repeat``: also with nothing new."""

    ms: int
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class EveryEventTime:
    """``EVERY d OF EVENT TIME [REPEAT]``: when the watermark passes multiples of ms, and the window end."""

    ms: int
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class AfterIdle:
    """``AFTER IDLE d``: ms of the batch clock after the last row of the group; ``of_query``: of the whole query."""

    ms: int
    of_query: bool = False


@dataclass(frozen=True, slots=True)
class AfterDelta:
    """``AFTER [ABS] DELTA OF (e) > x``: a row's value is more than x away from that of the last firing's row."""

    threshold: float
    absolute: bool = False
    column: int = 0


@dataclass(frozen=True, slots=True)
class When:
    """``WHEN (condition)``: a condition on the aggregate of the pane's rows, tested after each row.

    Attributes:
        condition: the name under which the engine was given it.
        columns: the columns of ``ElementRows.values`` that it aggregates.
    """

    condition: str
    columns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """``CASE WHEN ... THEN action ... END``: each row carries its action (0 CONTINUE, 1 FIRE, 2 PURGE, 3 both)."""

    column: int = 0


@dataclass(frozen=True, slots=True)
class Using:
    """``USING TRIGGER name(args)``: a registered class; its on_row sees ``columns`` of ``ElementRows.values``."""

    name: str
    args: tuple[Argument, ...] = ()
    columns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AfterWatermark:
    """``AFTER WATERMARK [WITH DELAY d [AND TIMEOUT d]] [EARLY e] [LATE l]``; ``late`` None is not ``Never``."""

    early: Trigger | None = None
    late: Trigger | None = None
    delay: int = 0
    timeout: int | None = None


@dataclass(frozen=True, slots=True)
class WindowClose:
    """``ON WINDOW CLOSE``: one pane, at window end + lateness."""

    delay: int = 0
    timeout: int | None = None


@dataclass(frozen=True, slots=True)
class Never:
    """``NEVER``: only the closing pane."""


@dataclass(frozen=True, slots=True)
class SameBatch:
    """Synchronized processing time (rule M12): at the end of each micro-batch that brought rows. Finishes."""


@dataclass(frozen=True, slots=True)
class AllOf:
    """``a AND b``: when all have been ready."""

    of: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """``a OR b``: when one is ready."""

    of: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class EachOf:
    """``a THEN b``: one after the other."""

    of: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class Until:
    """``a UNTIL b``: a, and finished when b fires."""

    main: Trigger
    until: Trigger


@dataclass(frozen=True, slots=True)
class Repeat:
    """``REPEAT (a)``: starts afresh whenever it has finished."""

    of: Trigger


@dataclass(frozen=True, slots=True)
class Timeout:
    """``a TIMEOUT d [SINCE LAST ROW] [KEEPING STATE]``: fires also ms of the batch clock after the first row."""

    of: Trigger
    ms: int
    since_last_row: bool = False
    keep_state: bool = False


@dataclass(frozen=True, slots=True)
class Purging:
    """``a PURGING``: the contents go when ``a`` has fired, not when another trigger has (rule M16)."""

    of: Trigger


Trigger: TypeAlias = (
    "AfterCount | EveryRow | AfterDelay | EveryPeriod | EveryAligned | EveryEventTime | AfterIdle | AfterDelta | When"
    " | Case | Using | AfterWatermark | WindowClose | Never | SameBatch | AllOf | AnyOf | EachOf | Until | Repeat"
    " | Timeout | Purging"
)


def parts(trigger: Trigger) -> tuple[Trigger, ...]:
    """Return the triggers directly inside a trigger, in the order in which they are written."""
    if isinstance(trigger, AllOf | AnyOf | EachOf):
        return trigger.of
    if isinstance(trigger, Repeat | Timeout | Purging):
        return (trigger.of,)
    if isinstance(trigger, Until):
        return (trigger.main, trigger.until)
    if isinstance(trigger, AfterWatermark):
        return tuple(t for t in (trigger.early, trigger.late) if t is not None)
    return ()


def tree(trigger: Trigger) -> Iterator[Trigger]:
    """Yield a trigger and all inside it, outer ones first."""
    yield trigger
    for part in parts(trigger):
        yield from tree(part)
