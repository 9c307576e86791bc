"""Choose the rows that stay in a group's contents, as Flink's evictors (2.3.0) do: by order of arrival."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from sqlext_udfs.windows.policy import Evictor, KeepCount, KeepDelta, KeepTime
from sqlext_udfs.windows.triggers.tree import Argument

Marks: TypeAlias = Mapping[int, "float | None"]


class UserEvictor(Protocol):
    """EVICT USING: a registered class, made with the clause's arguments."""

    def keep(self, rowtimes: Sequence[int | None]) -> Sequence[bool]:
        """Say for each row, in order of arrival and with its event time (ms), whether it stays."""


class EvictorFactory(Protocol):
    """Makes a registered evictor, usually the class itself."""

    def __call__(self, *args: Argument) -> UserEvictor:
        """Return the evictor for a clause's arguments."""


Evictors: TypeAlias = Mapping[str, EvictorFactory]


class Eviction:
    """Apply the evictor of a policy.

    Args:
        evictor: that of the policy.
        registered: evictors of users, by name.

    Attributes:
        column: the column of ``ElementRows.values`` that it looks at; None where it looks at the event time.

    Raises:
        ValueError: if no evictor is registered under its name.
    """

    def __init__(self, evictor: Evictor, registered: Evictors) -> None:
        self.evictor = evictor
        self.column = evictor.column if isinstance(evictor, KeepDelta) else None
        self.user: UserEvictor | None = None
        if not isinstance(evictor, KeepCount | KeepTime | KeepDelta):
            if evictor.name not in registered:
                raise ValueError(f"no evictor is registered under the name {evictor.name}")
            self.user = registered[evictor.name](*evictor.args)

    def staying(self, held: list[int], marks: Marks) -> list[int]:
        """Return the segments that stay, in order.

        Args:
            held: the segments, each of one row, in the order of arrival.
            marks: the event time (ms) or value of each segment, or None.
        """
        evictor = self.evictor
        # Flink's CountEvictor, TimeEvictor and DeltaEvictor; the order is that of arrival, not of time.
        if isinstance(evictor, KeepCount):
            return held[-evictor.n :]
        if isinstance(evictor, KeepTime):
            return _newer(held, marks, evictor.ms)
        if isinstance(evictor, KeepDelta):
            return _near(held, marks, evictor)
        assert self.user is not None
        times = [None if marks[s] is None else int(marks[s] or 0) for s in held]
        return [s for s, stays in zip(held, self.user.keep(times), strict=True) if stays]


def _newer(held: list[int], marks: Marks, ms: int) -> list[int]:
    newest = max((t for t in (marks[s] for s in held) if t is not None), default=None)
    # Rows without event time stay, as in Flink's TimeEvictor.
    return held if newest is None else [s for s in held if (t := marks[s]) is None or t > newest - ms]


def _near(held: list[int], marks: Marks, evictor: KeepDelta) -> list[int]:
    last = marks[held[-1]] if held else None
    if last is None:
        return held

    def stays(value: float | None) -> bool:
        if value is None:
            return True
        delta = abs(last - value) if evictor.absolute else last - value
        # Strict, as in DeltaEvictor: a row at the threshold goes.
        return delta < evictor.threshold

    return [s for s in held if stays(marks[s])]
