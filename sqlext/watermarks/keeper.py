"""Decide from what was read, and when, which watermarks must move and which splits must wait.

Rules, after Flink's (StatusWatermarkValve, SourceCoordinator):
- An input's watermark is that of its slowest split which is not idle; that of the fastest where all are.
- The query's watermark is that of its slowest input which is not idle; that of the fastest where all are.
- An idle input follows the query's watermark, by heartbeats. When it wakes, it takes part again: rows at or after
  the watermark count, older ones are late.
- Who is more than its drift ahead of the slowest of its group is held back; being held back is not idleness.
- While all inputs are idle, the clock closes windows if asked to: once a window's end and the idle timeout have passed
  (MongoDB Atlas: "the timeout starts once the source is idle and the clock has passed the end of the open window").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlext.watermarks.inputs import END_OF_TIME, ROWTIME, WHOLE, Alignment, Input, Known, Split
from sqlext.watermarks.sketch import Arrived, Sketches


@dataclass(frozen=True, slots=True)
class Seen:
    """What a micro-batch had of a split: the largest event time, how many rows, the smallest event time if known."""

    largest: int | None
    rows: int
    split: str = WHOLE
    smallest: int | None = None


@dataclass(frozen=True, slots=True)
class Decisions:
    """What must happen now.

    Attributes:
        beats: input -> the watermark that a heartbeat is to bring it to.
        held: aligned input -> its splits that must wait.
    """

    beats: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, frozenset[str]] = field(default_factory=dict)


class TimeKeeper:
    """Keeps the time of one query.

    Args:
        inputs: its inputs; their names are unique.
        now: when it starts.
        before: what ``to_json`` gave when the query ran last.
    """

    def __init__(self, inputs: Sequence[Input], now: int, before: Mapping[str, Any] | None = None) -> None:
        self.inputs = tuple(inputs)
        self.known = {i.name: Known({WHOLE: Split(now)}, measure=i.measure) for i in inputs}
        self.now = now
        for declared in inputs:
            if before and declared.name in before:
                self.known[declared.name] = _resumed(Known.from_json(before[declared.name]), declared, now)

    def saw(self, name: str, what: Iterable[Seen], now: int) -> None:
        """Take what a micro-batch had of an input."""
        known = self.known[name]
        for seen in what:
            if seen.split != WHOLE:
                # The first split that is told takes the place of the one that stood for the whole input.
                known.splits.pop(WHOLE, None)
            split = known.splits.setdefault(seen.split, Split(now))
            if seen.rows:
                split.rows += seen.rows
                split.since = now
            if seen.largest is not None:
                split.largest = max(seen.largest, split.largest if split.largest is not None else seen.largest)
            if seen.smallest is not None:
                known.smallest = seen.smallest if known.smallest is None else min(seen.smallest, known.smallest)

    def arrived(self, arrived: Arrived) -> None:
        """Take the times of a micro-batch's rows, for whoever asks how late they are."""
        declared = next(i for i in self.inputs if i.name == arrived.name)
        if declared.measure == ROWTIME:  # a watermark that is no constant delay tells no lag
            self.known[arrived.name].lateness.take(arrived, declared.delay)

    def ended(self, name: str) -> None:
        """Take that a bounded input has given all its rows."""
        self.known[name].ended = True

    def decide(self, now: int) -> Decisions:
        """Return what must happen, now that all was seen that there is; what it decides counts as done."""
        # The wall clock may be set back, and the time that inputs have been silent must not.
        self.now = max(self.now, now)
        for declared in self.inputs:
            self._advance(declared, self.known[declared.name])
        # After all inputs: alignment and the target compare them with each other.
        held = self._align()
        target = self._target()
        beats = {}
        for declared in self.inputs:
            beat = self._beat(declared, target)
            if beat is not None:
                beats[declared.name] = beat
        return Decisions(beats, held)

    @property
    def watermark(self) -> int | None:
        """The query's watermark, as far as inputs and heartbeats have brought it; None before all have one."""
        reached = [k.reached for k in self.known.values()]
        known = [r for r in reached if r is not None]
        return min(known) if known and len(known) == len(reached) else None

    def to_json(self) -> dict[str, Any]:
        """Return what a restart needs."""
        return {name: known.to_json() for name, known in self.known.items()}

    # One input

    def _advance(self, declared: Input, known: Known) -> None:
        if known.ended:
            known.watermark, known.idle = END_OF_TIME, False
            return
        for split in known.splits.values():
            if split.held:  # it gives no rows because it may not
                split.since = self.now
        active = [s for s in known.splits.values() if declared.idle is None or self.now - s.since < declared.idle]
        known.idle = not active
        largest = [s.largest for s in active if s.largest is not None]
        reached = known.largest if not active else min(largest) if len(largest) == len(active) else None
        # While an active split has shown no time, its first rows may be older than all others: the watermark waits.
        if reached is not None:
            known.watermark = _later(known.watermark, reached - declared.delay)

    # All of them

    def _target(self) -> int | None:
        """Return the watermark that idle inputs follow; None while nobody has one."""
        running = [self.known[i.name] for i in self.inputs if not self.known[i.name].ended]
        if not running:
            return END_OF_TIME
        active = [k.watermark for k in running if not k.idle]
        if active:
            known = [w for w in active if w is not None]
            return min(known) if len(known) == len(active) else None
        known = [w for w in (k.reached for k in running) if w is not None]
        return max([max(known), *self._closed()]) if known else None

    def _closed(self) -> Iterable[int]:
        """Yield ends of windows that the clock has passed by the idle timeout."""
        for declared in self.inputs:
            largest = self.known[declared.name].largest
            if declared.closes and declared.idle is not None and largest is not None:
                limit = self.now - declared.idle
                yield from (e for ends in declared.ends if (e := ends.until(limit, largest)) is not None)

    def _beat(self, declared: Input, target: int | None) -> int | None:
        known = self.known[declared.name]
        wanted = known.watermark
        if known.idle and target is not None:
            wanted = _later(wanted, target)
        # The rows of a running input move its watermark in Spark by themselves; after a restart none has come yet.
        by_rows = declared.by_rows and not known.ended
        if wanted is None or (by_rows and not known.idle and not known.resumed):
            return None
        # Spark's watermark never goes back, so such a heartbeat would cost a micro-batch for nothing.
        if known.beat is not None and wanted <= known.beat:
            return None
        if by_rows and not known.resumed and known.watermark is not None and wanted <= known.watermark:
            return None  # its rows have brought it there
        if known.beat_at is not None and self.now - known.beat_at < declared.interval:
            return None
        known.beat, known.beat_at, known.resumed = wanted, self.now, False
        return wanted

    # Alignment

    def _align(self) -> dict[str, frozenset[str]]:
        groups: dict[str, list[tuple[Input, Alignment]]] = {}
        for declared in self.inputs:
            if declared.alignment is not None:
                groups.setdefault(declared.alignment.group, []).append((declared, declared.alignment))
        held: dict[str, frozenset[str]] = {}
        for members in groups.values():
            held.update(self._held([i for i, _ in members], [a for _, a in members]))
        return held

    def _held(self, members: list[Input], alignments: list[Alignment]) -> Iterable[tuple[str, frozenset[str]]]:
        known = [self.known[m.name] for m in members]
        reported = [k.watermark for k in known if k.watermark is not None and not k.idle and not k.ended]
        # Without the idle ones: who waits for an input that gives nothing would wait for ever.
        slowest = min(reported, default=None)
        for declared, alignment, state in zip(members, alignments, known, strict=True):
            for split in state.splits.values():
                if split.largest is not None and slowest is not None:
                    split.held = split.largest - declared.delay > slowest + alignment.drift
            yield declared.name, frozenset(n for n, s in state.splits.items() if s.held)


def _later(time: int | None, other: int) -> int:
    return other if time is None else max(time, other)


def _resumed(known: Known, declared: Input, now: int) -> Known:
    """Return what was known, for a run that starts now: who was idle stays so, the others begin to wait anew.

    Where the declaration of the watermark is another one since, times by its old measure are forgotten; what they
    have brought the watermark to stays.
    """
    for split in known.splits.values():
        if not known.idle:
            split.since = now
        if known.measure != declared.measure:
            split.largest = None
    if known.measure != declared.measure:
        known.smallest, known.measure, known.lateness = None, declared.measure, Sketches()
    known.resumed = True
    return known
