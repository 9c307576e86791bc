"""Report what the keeper knows, for SHOW WATERMARKS, EXPLAIN WHY, metrics and the page of a query.

All times are ms since 1970 UTC, None where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlext.watermarks.ends import SessionEnd, WindowEnds
from sqlext.watermarks.inputs import WHOLE, Input, Known, Split
from sqlext.watermarks.keeper import TimeKeeper

#: Of more open windows than this it is not said when they end.
_ENDS = 12


@dataclass(frozen=True, slots=True)
class SplitReport:
    """How far a split of an input is.

    Attributes:
        name: None for an input that is not taken apart.
        largest: its largest event time.
        idle_since: when it gave its last row, if it is idle.
        idle_after: when it will be idle unless it gives rows; None if it is, if it is held, or has no timeout.
        held: whether alignment holds it back.
        holds: whether it holds the query's watermark back.
        rows: how many it gave.
    """

    name: str | None
    largest: int | None
    idle_since: int | None
    idle_after: int | None
    held: bool
    holds: bool
    rows: int


@dataclass(frozen=True, slots=True)
class InputReport:
    """How far an input is.

    Attributes:
        delay: ms that its watermark stays behind its largest event time.
        watermark: how far its watermark is.
        needed: the event time that a row must reach for the next window; None where the input is not the reason.
        interval: ms of the clock between two watermarks; 0: after each micro-batch.
        timeout: ms of silence after which it is idle; None: it never is.
        idle: whether it holds nobody back.
        ended: whether it has given all that it has.
        group: the alignment group that it is in.
        leader: whom its held splits wait for: the slowest input of that group.
        zone: whose wall clock shows its times.
    """

    name: str
    delay: int
    watermark: int | None
    needed: int | None
    interval: int
    timeout: int | None
    idle: bool
    ended: bool
    group: str | None
    leader: str | None
    zone: str
    splits: tuple[SplitReport, ...]


@dataclass(frozen=True, slots=True)
class TimeReport:
    """The time of a query at one moment.

    Attributes:
        at: that moment, by the keeper's clock; two reports that differ in it alone say the same.
        watermark: the query's.
        end: when the next window ends; None where no window is known.
        ends: when it and the windows after it end, up to the first end behind the largest event time.
        session: whether that window is the newest session: older ones may end before it.
        closes_at: when the clock will close that window if everybody stays silent; None where it never does.
    """

    at: int = field(compare=False)
    watermark: int | None
    end: int | None
    session: bool
    closes_at: int | None
    inputs: tuple[InputReport, ...]
    ends: tuple[int, ...] = ()

    @staticmethod
    def of(keeper: TimeKeeper) -> TimeReport:
        """Return what a keeper knows now."""
        ends = _ends(keeper)
        end, session = min(ends, default=(None, False))
        slowest = _slowest(keeper)
        inputs = tuple(_input(keeper, i, end, slowest) for i in keeper.inputs)
        return TimeReport(
            keeper.now,
            keeper.watermark,
            end,
            session,
            _closes_at(keeper, end),
            inputs,
            tuple(sorted({e for e, _ in ends})[:_ENDS]),
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> TimeReport:
        """Return what ``to_json`` gave."""
        inputs = [{**i, "splits": tuple(SplitReport(**s) for s in i["splits"])} for i in value["inputs"]]
        return TimeReport(
            **{**value, "inputs": tuple(InputReport(**i) for i in inputs), "ends": tuple(value.get("ends", ()))}
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each split: what SHOW WATERMARKS, progress and the catalog have in common."""
        for known in self.inputs:
            for split in known.splits:
                yield {
                    "input": known.name,
                    "split": split.name,
                    "largest": split.largest,
                    "watermark": known.watermark,
                    "idle_since": split.idle_since,
                    "held": split.held,
                    "holds": split.holds,
                    "rows": split.rows,
                }


def _ends(keeper: TimeKeeper) -> list[tuple[int, bool]]:
    """Return when windows end that can have rows and are not closed, and whether each is a session."""
    found = []
    for declared in keeper.inputs:
        known = keeper.known[declared.name]
        if known.largest is None:
            continue
        # Where the smallest time is not told, rows may be older than the largest by the delay.
        first = known.smallest if known.smallest is not None else known.largest - declared.delay
        # Windows that end before the watermark are closed.
        start = first if keeper.watermark is None else max(first, keeper.watermark)
        for ends in declared.ends:
            session = isinstance(ends, SessionEnd)
            found += [(end, session) for end in _following(ends, start, known.largest)]
    return found


def _following(ends: WindowEnds, start: int, largest: int) -> Iterator[int]:
    """Yield the first ends after a time, up to that of the first window behind the largest event time."""
    end = ends.after(start, largest)
    for _ in range(_ENDS):
        if end is None:
            return
        yield end
        if end > largest:
            return
        end = ends.after(end, largest)


def _closes_at(keeper: TimeKeeper, end: int | None) -> int | None:
    timeouts = [i.idle for i in keeper.inputs if i.closes and i.idle is not None]
    return end + min(timeouts) if end is not None and timeouts else None


def _input(keeper: TimeKeeper, declared: Input, end: int | None, slowest: frozenset[str]) -> InputReport:
    known = keeper.known[declared.name]
    reached = known.reached
    behind = end is not None and not known.ended and (reached is None or reached < end)
    held_back = any(s.held for s in known.splits.values())
    active = [s.largest for s in known.splits.values() if not _is_idle(declared, known, s, keeper.now)]
    reached_by = [t for t in active if t is not None]
    furthest_behind = min(reached_by, default=None) if len(reached_by) == len(active) else None

    def split_report(name: str, split: Split) -> SplitReport:
        idle = _is_idle(declared, known, split, keeper.now)
        waits = declared.idle is not None and not idle and not split.held and not known.ended
        return SplitReport(
            None if name == WHOLE else name,
            split.largest,
            split.since if idle else None,
            split.since + declared.idle if waits and declared.idle is not None else None,
            split.held,
            # A split without a row holds its input as well as the slowest one does.
            declared.name in slowest and not idle and split.largest in (None, furthest_behind),
            split.rows,
        )

    return InputReport(
        declared.name,
        declared.delay,
        reached,
        end + declared.delay if behind and end is not None else None,
        declared.interval,
        declared.idle,
        known.idle,
        known.ended,
        declared.alignment.group if declared.alignment is not None else None,
        _leader(keeper, declared) if held_back else None,
        declared.zone,
        tuple(split_report(name, split) for name, split in sorted(known.splits.items())),
    )


def _is_idle(declared: Input, known: Known, split: Split, now: int) -> bool:
    # The same test as in `TimeKeeper._advance`.
    return declared.idle is not None and not known.ended and now - split.since >= declared.idle


def _leader(keeper: TimeKeeper, declared: Input) -> str | None:
    """Return the slowest input of an alignment group: the one that those who are held wait for."""
    assert declared.alignment is not None
    members = [i for i in keeper.inputs if i.alignment is not None and i.alignment.group == declared.alignment.group]
    known = [(i.name, keeper.known[i.name]) for i in members]
    running = [(k.watermark, n) for n, k in known if k.watermark is not None and not k.idle and not k.ended]
    return min(running)[1] if running else None


def _slowest(keeper: TimeKeeper) -> frozenset[str]:
    """Return the inputs that hold the query's watermark where it is: those without one, else those furthest behind."""
    active = [i.name for i in keeper.inputs if not keeper.known[i.name].idle and not keeper.known[i.name].ended]
    without = [n for n in active if keeper.known[n].reached is None]
    if without or len(keeper.inputs) == 1:
        return frozenset(without or active)
    behind = min((w for n in active if (w := keeper.known[n].reached) is not None), default=None)
    return frozenset(n for n in active if keeper.known[n].reached == behind)
