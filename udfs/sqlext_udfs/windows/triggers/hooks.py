"""Define what users write for USING TRIGGER, and what a condition of WHEN must do."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any, Protocol, TypeAlias

from sqlext_udfs.windows.triggers.tree import Argument

#: What JSON can say.
Json: TypeAlias = Any


class Action(IntFlag):
    """What a trigger wants: Flink's TriggerResult, and the codes of CASE."""

    CONTINUE = 0
    FIRE = 1
    PURGE = 2
    FIRE_AND_PURGE = 3


class Condition(Protocol):
    """WHEN: an aggregate over the rows that a pane would have now, and a condition on it. It keeps nothing itself."""

    def start(self) -> Json:
        """Return the aggregate of no rows."""

    def add(self, state: Json, values: tuple[float, ...]) -> Json:
        """Return the aggregate with one row more: its values in the condition's columns, NaN for NULL."""

    def merge(self, one: Json, other: Json) -> Json:
        """Return the aggregate of both."""

    def holds(self, state: Json) -> bool:
        """Return whether the condition is true."""


@dataclass(slots=True)
class TriggerContext:
    """What a registered trigger sees and changes, for one key and window.

    Attributes:
        start: of the window (ms); None without window.
        end: its end, exclusive; None without window.
        now: the batch clock (ms).
        watermark: ms; None before there is one.
        state: a JSON object of its own, kept with the group.
        event_timers: when ``on_event_time`` is to be called (ms of the watermark); add and discard as needed.
        processing_timers: the same for ``on_processing_time`` and the batch clock.
    """

    start: int | None
    end: int | None
    now: int
    watermark: int | None
    state: MutableMapping[str, Json] = field(default_factory=dict)
    event_timers: set[int] = field(default_factory=set)
    processing_timers: set[int] = field(default_factory=set)


class UserTrigger(Protocol):
    """USING TRIGGER: a class, made with the clause's arguments. It keeps nothing itself: ``context.state`` does."""

    def on_row(self, rowtime: int | None, values: tuple[float, ...], context: TriggerContext) -> Action:
        """Say what to do at a row: its event time (ms) and its values in the trigger's columns."""

    def on_event_time(self, time: int, context: TriggerContext) -> Action:
        """Say what to do when the watermark has passed a timer, which is gone already."""

    def on_processing_time(self, time: int, context: TriggerContext) -> Action:
        """Say what to do when the batch clock has passed a timer, which is gone already."""

    def on_merge(self, context: TriggerContext, others: Sequence[TriggerContext]) -> None:
        """Make the state of a session out of those that it came from; ``context`` begins empty."""

    def clear(self, context: TriggerContext) -> None:
        """Forget state and timers."""


class TriggerFactory(Protocol):
    """Makes a registered trigger, usually the class itself."""

    def __call__(self, *args: Argument) -> UserTrigger:
        """Return the trigger for a clause's arguments."""


Conditions: TypeAlias = Mapping[str, Condition]
Triggers: TypeAlias = Mapping[str, TriggerFactory]
