"""Define what a compiled trigger is, and the trigger that counts.

A node keeps its state in the group: one bit "finished", some bits of its own, some slots (numbers or None). So state is
typed columns, and a group in its first state costs nothing. The methods follow Beam's TriggerStateMachine (2.73), which
``sqlext/dialect/emit/EMIT.md`` describes in section 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from sqlext_udfs.windows.triggers.moment import FIRES, MAX, NOT, STEP, TriggerMoment


class Held(Protocol):
    """What nodes see of a group: its bounds (ms) and their own state."""

    start: int
    end: int
    bits: int
    slots: list[Any]


class TriggerLayout:
    """Hand out bits and slots while a trigger is compiled.

    The order in which they are asked for is the form of the state, so nodes must ask in a fixed order.

    Attributes:
        bits: how many bits there are.
        kinds: the kind of each slot: ``int``, ``float`` or ``json``.
        initial: what each slot begins with.
    """

    def __init__(self) -> None:
        self.bits = 0
        self.kinds: list[str] = []
        self.initial: list[Any] = []

    def bit(self) -> int:
        """Return a new bit."""
        self.bits += 1
        return 1 << (self.bits - 1)

    def slot(self, kind: str, initial: object = None) -> int:
        """Return the number of a new slot."""
        self.kinds.append(kind)
        self.initial.append(initial)
        return len(self.kinds) - 1


class TriggerNode:
    """A trigger that never fires; all others build on it.

    Args:
        layout: gives bits and slots.
        parts: the triggers inside this one.

    Attributes:
        parts: the triggers inside this one.
        finished: the bit that says so.
        own_bits: all bits of this node.
    """

    #: Whether the node waits for the window's end, so that the engine must call when it comes.
    waits_for_end = False
    #: Whether it has deadlines of its own, of the batch clock or of the watermark.
    has_clock_deadlines = False
    has_event_deadlines = False

    def __init__(self, layout: TriggerLayout, *parts: TriggerNode) -> None:
        self.parts = parts
        self.finished = layout.bit()
        #: What ``reset`` takes away.
        self.own_bits = self.finished

    def tree(self) -> Iterator[TriggerNode]:
        """Yield this node and all inside it."""
        yield self
        for part in self.parts:
            yield from part.tree()

    def done(self, group: Held) -> bool:
        """Return whether the trigger has finished."""
        return bool(group.bits & self.finished)

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        """Take note of a row, or of an element that stands for several."""

    def tick(self, group: Held, moment: TriggerMoment) -> None:
        """Take note that the batch clock has moved."""
        for part in self.parts:
            part.tick(group, moment)

    def tock(self, group: Held, moment: TriggerMoment) -> None:
        """Take note that the watermark has moved."""
        for part in self.parts:
            part.tock(group, moment)

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        """Return NOT, HOLDS, FIRES or FIRES_EMPTY."""
        return NOT

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        """Go on after a pane that this trigger was ready for."""

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        """Make the state of a session out of those that it came from. It begins with no bit set."""
        for part in self.parts:
            part.merge(group, olds, moment)

    def clear(self, group: Held) -> None:
        """Forget the pane at hand (Beam's invokeClear: what is finished stays so)."""
        for part in self.parts:
            part.clear(group)

    def reset(self, group: Held) -> None:
        """Start afresh."""
        self.clear(group)
        for node in self.tree():
            group.bits &= ~node.own_bits

    def emptied(self, group: Held) -> None:
        """Take note that the group's contents were emptied."""
        for part in self.parts:
            part.emptied(group)

    def processing(self, group: Held) -> int:
        """Return the next deadline of the batch clock; MAX if there is none."""
        return min((part.processing(group) for part in self.parts), default=MAX)

    def event(self, group: Held, moment: TriggerMoment) -> int:
        """Return the next deadline of the watermark, besides the window's end; MAX if there is none."""
        return min((part.event(group, moment) for part in self.parts), default=MAX)


class CountNode(TriggerNode):
    """AFTER [AT LEAST] n ROWS. At a merge counts add and are tested once (M5)."""

    def __init__(self, layout: TriggerLayout, n: int, *, at_least: bool) -> None:
        super().__init__(layout)
        self.n, self.exact = n, not at_least
        self.slot = layout.slot("int", 0)

    def on_row(self, group: Held, moment: TriggerMoment, count: int) -> None:
        if not self.done(group):
            group.slots[self.slot] += count

    def ready(self, group: Held, moment: TriggerMoment) -> int:
        # AT LEAST is asked once per batch, an exact count after each row (M5).
        reached = group.slots[self.slot] >= self.n and (self.exact or moment.phase >= STEP)
        return FIRES if reached else NOT

    def on_fire(self, group: Held, moment: TriggerMoment) -> None:
        self.clear(group)
        group.bits |= self.finished

    def merge(self, group: Held, olds: Sequence[Held], moment: TriggerMoment) -> None:
        if any(self.done(old) for old in olds):
            group.bits |= self.finished
        else:
            group.slots[self.slot] = sum(old.slots[self.slot] for old in olds)

    def clear(self, group: Held) -> None:
        group.slots[self.slot] = 0
