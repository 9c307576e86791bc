"""Columns of a plan node: their names for users, and what holds them in the rewritten query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain, count

from sqlext.source import Span
from sqlext.types import LogicalType

#: What a window table function adds to a relation.
WINDOW_COLUMNS = ("window_start", "window_end", "window_time")


class Part(Enum):
    """How the physical column holds the value."""

    VALUE = "value"  # as it is
    INSTANT = "instant"  # a TIMESTAMP(p) rowtime, held as the instant that its wall clock is in UTC
    START = "start"  # of a window struct: its instant, shown as wall clock in UTC
    END = "end"
    LOCAL_START = "local start"  # the same, shown as wall clock in the session zone
    LOCAL_END = "local end"
    WALL_START = "wall start"  # of a struct that carries the wall clock beside the instant
    WALL_END = "wall end"
    TIME = "time"  # its end - 1 ms, an instant
    CUSTOM_TIME = "custom time"  # the same, of a struct that is not Spark's own window
    PROCTIME = "proctime"  # not held at all: the clock of the micro-batch


class Time(Enum):
    """Which time attribute a column is."""

    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"


@dataclass(frozen=True, slots=True)
class Loss:
    """Where and why a column stopped being a time attribute."""

    reason: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class PlanColumn:
    """A column of a relation.

    Attributes:
        name: as the user sees it.
        type: None where it could not be derived.
        physical: the column of the rendered relation that holds it; several parts share a window's.
        part: how that column holds it.
        time: set while it is a time attribute; ``loss`` says where it ceased to be one.
        shown: the mark that DESCRIBE goes on showing although the column is no time attribute (as Flink).
    """

    name: str
    type: LogicalType | None
    physical: str
    part: Part = Part.VALUE
    time: Time | None = None
    loss: Loss | None = None
    shown: Time | None = None

    def renamed(self, name: str) -> PlanColumn:
        """Return it under another name."""
        return replace(self, name=name)

    def plain(self, reason: str, span: Span | None) -> PlanColumn:
        """Return it as an ordinary column: no longer a time attribute, if it was one."""
        if self.time is None:
            return self
        return replace(self, time=None, loss=Loss(reason, span))

    @property
    def window_bound(self) -> str | None:
        """``start``, ``end`` or ``time`` if it is that part of a window, else None."""
        return _BOUNDS.get(self.part)

    @property
    def is_rowtime(self) -> bool:
        """Whether it is an event-time attribute."""
        return self.time is Time.ROWTIME

    def type_text(self) -> str:
        """Return the type as DESCRIBE prints it: ``TIMESTAMP(3) *ROWTIME*``."""
        text = self.type.flink() if self.type else "UNKNOWN"
        mark = self.time or self.shown
        return f"{text} *{mark.value}*" if mark else text


_BOUNDS = {
    Part.START: "start",
    Part.LOCAL_START: "start",
    Part.WALL_START: "start",
    Part.END: "end",
    Part.LOCAL_END: "end",
    Part.WALL_END: "end",
    Part.TIME: "time",
    Part.CUSTOM_TIME: "time",
}


def unique_names(names: Iterable[str]) -> list[str]:
    """Return the names, each that came before with the first number that makes it another one (Calcite: uniquify)."""
    taken: dict[str, None] = {}
    for name in names:
        numbered = (f"{name}{i}" for i in count())
        taken[next(n for n in chain((name,), numbered) if n not in taken)] = None
    return list(taken)
