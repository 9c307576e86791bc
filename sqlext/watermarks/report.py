"""What the keeper knows, for people: SHOW WATERMARKS, EXPLAIN WHY, metrics, the page of a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlext.watermarks.inputs import WHOLE, Input, Known
from sqlext.watermarks.keeper import TimeKeeper


@dataclass(frozen=True, slots=True)
class SplitReport:
    """How far a split of an input is; times are ms since 1970 UTC, None where there is none.

    Attributes:
        split: its name; None for an input that is not taken apart.
        largest: its largest event time.
        watermark: how far the watermark of its input is.
        idle_since: when it gave its last row, if it is idle.
        held: whether alignment holds it back.
        holds: whether it holds the query's watermark back.
        rows: how many it gave.
    """

    input: str
    split: str | None
    largest: int | None
    watermark: int | None
    idle_since: int | None
    held: bool
    holds: bool
    rows: int


@dataclass(frozen=True, slots=True)
class Awaited:
    """What the next window of an input waits for.

    Attributes:
        end: when the next window ends; None where no window is known.
        needed: the event time that a row must reach for that; None where the input is not the reason.
        reached: the input's largest event time.
        idle_after: when its idle timeout will let the others go on; None if it has none or is idle already.
    """

    input: str
    end: int | None
    needed: int | None
    reached: int | None
    idle_after: int | None


def splits(keeper: TimeKeeper) -> Iterator[SplitReport]:
    """Yield every split of every input, in order of declaration."""
    slowest = _slowest(keeper)
    for declared in keeper.inputs:
        known = keeper.known[declared.name]
        for name, split in sorted(known.splits.items()):
            idle = declared.idle is not None and keeper.now - split.since >= declared.idle
            yield SplitReport(
                declared.name,
                None if name == WHOLE else name,
                split.largest,
                known.reached,
                split.since if idle else None,
                split.held,
                declared.name in slowest and not idle and _slowest_split(declared, known, name, keeper.now),
                split.rows,
            )


def awaited(keeper: TimeKeeper) -> list[Awaited]:
    """Return, for each input, what must come so that the next window closes."""
    watermark = keeper.watermark
    nexts = []
    for declared in keeper.inputs:
        largest = keeper.known[declared.name].largest
        if largest is not None:
            start = watermark if watermark is not None else min(0, largest - declared.delay)
            nexts += [e for ends in declared.ends if (e := ends.after(start, largest)) is not None]
    end = min(nexts, default=None)
    return [_awaited(keeper, declared, end) for declared in keeper.inputs]


def _awaited(keeper: TimeKeeper, declared: Input, end: int | None) -> Awaited:
    known = keeper.known[declared.name]
    reached = known.reached
    behind = end is not None and not known.ended and (reached is None or reached < end)
    needed = end + declared.delay if behind and end is not None else None
    since = max((s.since for s in known.splits.values()), default=keeper.now)
    waits = declared.idle is not None and not known.idle and behind
    return Awaited(declared.name, end, needed, known.largest, since + (declared.idle or 0) if waits else None)


def _slowest(keeper: TimeKeeper) -> frozenset[str]:
    """Return the inputs that hold the query's watermark where it is: those without one, else those furthest behind."""
    active = [i.name for i in keeper.inputs if not keeper.known[i.name].idle and not keeper.known[i.name].ended]
    without = [n for n in active if keeper.known[n].reached is None]
    if without or len(keeper.inputs) == 1:
        return frozenset(without or active)
    behind = min((w for n in active if (w := keeper.known[n].reached) is not None), default=None)
    return frozenset(n for n in active if keeper.known[n].reached == behind)


def _slowest_split(declared: Input, known: Known, name: str, now: int) -> bool:
    active = {n: s.largest for n, s in known.splits.items() if declared.idle is None or now - s.since < declared.idle}
    times = [t for t in active.values() if t is not None]
    return name in active and (active[name] is None or (len(times) == len(active) and active[name] == min(times)))
