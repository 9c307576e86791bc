"""Find where a micro-batch ends: limits, splits that are held back, the end of what is available."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from sqlext.connectors.moments import FixedTime, TimeGiver, TimeMessage, rows_alone
from sqlext.connectors.splits import Limit, Offset, SplitReader
from sqlext.stores.location import Location

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlext.connectors.splits import Passes


@dataclass
class SplitStream:
    """The offsets of one streaming query over a source; lives beside the driver.

    Attributes:
        reader: the source.
        holds: gives ``Holds``, from whoever aligns sources; None where nobody does.
        time: says what time it is with the rows (``connectors.moments``); None where others do, or nobody.
        target: how far it goes once it has been told to take what is available and no more.
        given: where it last let a micro-batch go: the next one waits until that has been looked at.
    """

    reader: SplitReader
    holds: HoldsGiver | None = None
    time: TimeGiver | None = None
    target: Offset | None = None
    given: Offset | None = None

    def initial(self) -> dict[str, int]:
        """Return where a new query begins."""
        return dict(self.reader.initial())

    def latest(self, start: Offset, limit: Limit | None) -> dict[str, int]:
        """Return where the micro-batch ends that begins at ``start``."""
        end = self._latest(rows_alone(start), limit)
        return end if self.time is None else {**end, **self.time.at(start)}

    def _latest(self, start: dict[str, int], limit: Limit | None) -> dict[str, int]:
        holds = self.holds.read() if self.holds is not None else None
        # The keeper has not looked at the last micro-batch: the next one would run ahead of its holds.
        if holds is not None and self.given is not None and self.given not in holds.seen:
            return start
        found = self.reader.latest(start, limit)
        # AvailableNow ends where the splits ended when it began; later splits are not part of it.
        if self.target is not None:
            found = {split: min(end, self.target[split]) for split, end in found.items() if split in self.target}
        held = holds.held if holds is not None else ()
        free = {split: end for split, end in found.items() if split not in held and "" not in held}
        end = {**start, **{split: max(end, start.get(split, end)) for split, end in free.items()}}
        self.given = end if end != start else self.given
        return end

    def stop_at_what_is_there(self) -> None:
        """Take nothing that comes after this moment (Spark's trigger AvailableNow)."""
        self.target = dict(self.reader.latest(self.reader.initial(), None))
        # A clock that goes on would be new with each micro-batch, and so there would be no last one.
        self.time = FixedTime(self.time.at({})) if self.time is not None else None

    def is_through(self, place: Offset) -> bool:
        """Return whether a place is the end of what is taken. Before it a split may have to wait."""
        target = self.target
        return target is not None and all(split in place and place[split] >= end for split, end in target.items())


@dataclass(frozen=True)
class Holds:
    """What an aligned source is told, as JSON in a file.

    Attributes:
        held: splits that stay where they are; ``""`` stands for all of them.
        seen: ends of the micro-batch that was looked at last, of all sources of the query: one that goes on from
            another place has run ahead of whoever holds it back.
    """

    held: Sequence[str] = ()
    seen: Sequence[Offset] = ()


class HoldsGiver(Protocol):
    """Says what an aligned source is told."""

    def read(self) -> Holds | None:
        """Return what it says; None where nothing is known yet."""


@dataclass(frozen=True)
class HoldsPlace:
    """Where a time keeper writes what an aligned source is told.

    Attributes:
        time: the folder of the time keeper.
        number: of the input that is aligned.
    """

    time: Location
    number: int

    def read(self) -> Holds | None:
        """Return what it says; None where nothing is written yet."""
        found = self.time.json(holds_key(self.number))
        return Holds(**found) if found is not None else None


def holds_key(number: int) -> str:
    """Return the key of an input's holds in the time keeper's folder."""
    return f"held/{number}.json"


Read: TypeAlias = "Callable[[Passes | None], Iterator[pa.RecordBatch]]"
"""Reads the rows of a slice; see ``SplitReader.read``."""


class Work:
    """What a worker makes of the rows of a slice, before they reach Spark. By itself: nothing."""

    def process(self, split: str, read: Read, place: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield what Spark gets of the rows of a slice.

        Args:
            split: of which they are.
            read: reads them.
            place: the number of the slice in its micro-batch.
        """
        yield from read(None)

    def told(self, moment: TimeMessage) -> Iterator[pa.RecordBatch]:
        """Yield what tells operators the time, in rows like those of a slice; work without operators has nothing."""
        yield from ()
