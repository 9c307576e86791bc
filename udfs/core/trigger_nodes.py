"""What a compiled trigger is, and the triggers that look at counts and the clock.

A node keeps its state in the group: one bit "finished", some bits of its own, some slots (numbers or None). So state
is typed columns, and a group in its first state costs nothing. The methods follow Beam's TriggerStateMachine
(2.73), which EMIT.md section 9 describes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from sqlext.udfs.core.moment import FIRES, FIRES_EMPTY, HOLDS, MAX, MIN, NOT, ROW, STEP, Moment
from sqlext.udfs.core.trigger_tree import Align, Delay


class Held(Protocol):
    """What nodes see of a group: its bounds (ms) and their own state."""

    start: int
    end: int
    bits: int
    slots: list[Any]


class Layout:
    """Hands out bits and slots while a trigger is compiled.

    Attributes:
        kinds: what each slot has: ``int``, ``float`` or ``json``.
        initial: what it begins with.
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


class Node:
    """A trigger without state that never fires; what others build on."""

    #: Whether the node waits for the window's end, so that the engine must call when it comes.
    waits_for_end = False

    def __init__(self, layout: Layout, *parts: Node) -> None:
        self.parts = parts
        self.finished = layout.bit()
        #: What ``reset`` takes away.
        self.own_bits = self.finished

    def tree(self) -> Iterator[Node]:
        """Yield this node and all inside it."""
        yield self
        for part in self.parts:
            yield from part.tree()

    def done(self, group: Held) -> bool:
        """Return whether the trigger has finished."""
        return bool(group.bits & self.finished)

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        """Take note of a row, or of an element that stands for several."""

    def tick(self, group: Held, moment: Moment) -> None:
        """Take note that the batch clock has moved."""
        for part in self.parts:
            part.tick(group, moment)

    def tock(self, group: Held, moment: Moment) -> None:
        """Take note that the watermark has moved."""
        for part in self.parts:
            part.tock(group, moment)

    def ready(self, group: Held, moment: Moment) -> int:
        """Return NOT, HOLDS, FIRES or FIRES_EMPTY."""
        return NOT

    def on_fire(self, group: Held, moment: Moment) -> None:
        """Go on after a pane that this trigger was ready for."""

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
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

    def event(self, group: Held, moment: Moment) -> int:
        """Return the next deadline of the watermark, besides the window's end; MAX if there is none."""
        return min((part.event(group, moment) for part in self.parts), default=MAX)


def moved_on(time: int, transforms: Sequence[Delay | Align]) -> int:
    """Return a deadline after DELAY and ALIGNED TO, in written order."""
    for transform in transforms:
        if isinstance(transform, Delay):
            time += transform.ms
        else:
            # Also below the offset to the next aligned time, where Beam goes one further (M15).
            time += -(time - transform.offset) % transform.period
    return time


class CountNode(Node):
    """AFTER [AT LEAST] n ROWS. At a merge counts add and are tested once (M5)."""

    def __init__(self, layout: Layout, n: int, *, at_least: bool) -> None:
        super().__init__(layout)
        self.n, self.exact = n, not at_least
        self.slot = layout.slot("int", 0)

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        if not self.done(group):
            group.slots[self.slot] += count

    def ready(self, group: Held, moment: Moment) -> int:
        reached = group.slots[self.slot] >= self.n and (self.exact or moment.phase >= STEP)
        return FIRES if reached else NOT

    def on_fire(self, group: Held, moment: Moment) -> None:
        self.clear(group)
        group.bits |= self.finished

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        if any(self.done(old) for old in olds):
            group.bits |= self.finished
        else:
            group.slots[self.slot] = sum(old.slots[self.slot] for old in olds)

    def clear(self, group: Held) -> None:
        group.slots[self.slot] = 0


class DeadlineNode(Node):
    """A deadline of the batch clock in a slot: MIN once it has passed, None while there is none."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.slot = layout.slot("int")

    def tick(self, group: Held, moment: Moment) -> None:
        deadline = group.slots[self.slot]
        if deadline is not None and moment.due(deadline):
            group.slots[self.slot] = MIN

    def ready(self, group: Held, moment: Moment) -> int:
        if group.slots[self.slot] != MIN:
            return NOT
        return HOLDS if moment.phase == ROW else FIRES

    def on_fire(self, group: Held, moment: Moment) -> None:
        group.slots[self.slot] = None
        group.bits |= self.finished

    def clear(self, group: Held) -> None:
        group.slots[self.slot] = None

    def processing(self, group: Held) -> int:
        deadline = group.slots[self.slot]
        return MAX if deadline is None or deadline == MIN else int(deadline)


class DelayNode(DeadlineNode):
    """AFTER DELAY: the pane's first row sets the deadline; of merged sessions the earliest stays (M10)."""

    def __init__(self, layout: Layout, transforms: Sequence[Delay | Align]) -> None:
        super().__init__(layout)
        self.transforms = tuple(transforms)

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        if group.slots[self.slot] is None and not self.done(group):
            group.slots[self.slot] = moved_on(moment.now, self.transforms)

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        group.slots[self.slot] = min((d for d in (o.slots[self.slot] for o in olds) if d is not None), default=None)


class IdleNode(DeadlineNode):
    """AFTER IDLE: each row moves the deadline on (M11); ``of_query``: each row of the query."""

    def __init__(self, layout: Layout, ms: int, *, of_query: bool) -> None:
        super().__init__(layout)
        self.ms, self.of_query = ms, of_query

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        if not self.done(group):
            group.slots[self.slot] = moment.now + self.ms

    def tick(self, group: Held, moment: Moment) -> None:
        deadline = group.slots[self.slot]
        if self.of_query and deadline is not None and deadline != MIN:
            group.slots[self.slot] = max(deadline, moment.last_row + self.ms)
        super().tick(group, moment)

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        group.slots[self.slot] = max((d for d in (o.slots[self.slot] for o in olds) if d is not None), default=None)


class PeriodNode(Node):
    """EVERY d REPEAT and EVERY d ALIGNED [REPEAT]: deadlines of the batch clock that follow each other (M15)."""

    def __init__(
        self, layout: Layout, ms: int, *, aligned: bool, repeat: bool, transforms: Sequence[Delay | Align] = ()
    ) -> None:
        super().__init__(layout)
        self.ms, self.aligned, self.repeat, self.transforms = ms, aligned, repeat, tuple(transforms)
        self.pending = layout.bit()
        self.slot = layout.slot("int")

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        if group.slots[self.slot] is None:
            group.slots[self.slot] = moment.now + self.ms - (moment.now % self.ms if self.aligned else 0)

    def tick(self, group: Held, moment: Moment) -> None:
        if moment.due(self.processing(group)):
            group.bits |= self.pending
            group.slots[self.slot] = self._next(group.slots[self.slot], moment) if self.repeat else None

    def ready(self, group: Held, moment: Moment) -> int:
        if not group.bits & self.pending:
            return NOT
        if moment.phase == ROW:
            return HOLDS
        return FIRES_EMPTY if self.repeat else FIRES

    def on_fire(self, group: Held, moment: Moment) -> None:
        group.bits &= ~self.pending

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        group.slots[self.slot] = min((d for d in (o.slots[self.slot] for o in olds) if d is not None), default=None)
        group.bits |= self.pending if any(o.bits & self.pending for o in olds) else 0

    def clear(self, group: Held) -> None:
        group.slots[self.slot] = None
        group.bits &= ~self.pending

    def processing(self, group: Held) -> int:
        period = group.slots[self.slot]
        return MAX if period is None else moved_on(period, self.transforms)

    def _next(self, period: int, moment: Moment) -> int:
        """Return the next period whose deadline is not due."""
        while moment.due(moved_on(period, self.transforms)):
            period += self.ms * max((moment.now - moved_on(period, self.transforms)) // self.ms, 1)
        return period


class EventPeriodNode(Node):
    """EVERY d OF EVENT TIME: when the watermark passes multiples, at the window's end, and for late rows (M15).

    The first multiple is that after the first row that arrived, as in Flink's ContinuousEventTimeTrigger (2.3.0).
    """

    waits_for_end = True

    def __init__(self, layout: Layout, ms: int, *, repeat: bool) -> None:
        super().__init__(layout)
        self.ms, self.repeat = ms, repeat
        self.pending = layout.bit()
        self.slot = layout.slot("int")

    def on_row(self, group: Held, moment: Moment, count: int) -> None:
        if group.slots[self.slot] is None and moment.rowtime is not None and not moment.ended(group.end):
            group.slots[self.slot] = moment.rowtime - moment.rowtime % self.ms + self.ms

    def tock(self, group: Held, moment: Moment) -> None:
        multiple = group.slots[self.slot]
        if multiple is None or multiple > moment.watermark or multiple >= moment.passing(group.end):
            return
        group.bits |= self.pending
        missed = (moment.watermark - multiple) // self.ms
        group.slots[self.slot] = multiple + self.ms * (missed + 1)

    def ready(self, group: Held, moment: Moment) -> int:
        new = bool(group.bits & self.pending) or moment.end_now
        if not new and not moment.ended(group.end):
            return NOT
        if moment.phase == ROW:
            return HOLDS
        return FIRES_EMPTY if new and self.repeat else FIRES

    def on_fire(self, group: Held, moment: Moment) -> None:
        group.bits &= ~self.pending

    def merge(self, group: Held, olds: Sequence[Held], moment: Moment) -> None:
        group.slots[self.slot] = min((d for d in (o.slots[self.slot] for o in olds) if d is not None), default=None)
        group.bits |= self.pending if any(o.bits & self.pending for o in olds) else 0

    def clear(self, group: Held) -> None:
        group.slots[self.slot] = None
        group.bits &= ~self.pending

    def event(self, group: Held, moment: Moment) -> int:
        multiple = group.slots[self.slot]
        return MAX if multiple is None or multiple >= moment.passing(group.end) else int(multiple)
