"""What is the same for all sources: limits, splits that are held back, and the end of what is available."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sqlext.sources.contract import Limit, Offset, Slice, SplitReader


@dataclass
class SplitStream:
    """The offsets of one streaming query over a source; lives beside the driver.

    Attributes:
        reader: the source.
        holds: a file of ``Holds``, written by whoever aligns sources; None where nobody does.
        target: how far it goes once it has been told to take what is available and no more.
        given: where it last let a micro-batch go: the next one waits until that has been looked at.
    """

    reader: SplitReader
    holds: Path | None = None
    target: Offset | None = None
    given: Offset | None = None

    def initial(self) -> dict[str, int]:
        """Return where a new query begins."""
        return dict(self.reader.initial())

    def latest(self, start: Offset, limit: Limit | None) -> dict[str, int]:
        """Return where the micro-batch ends that begins at ``start``."""
        holds = read_holds(self.holds)
        if holds is not None and self.given is not None and self.given not in holds.seen:
            return dict(start)
        found = self.reader.latest(start, limit)
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


def read_holds(place: Path | None) -> Holds | None:
    """Return what a file says; None where there is none."""
    try:
        return Holds(**json.loads(place.read_text(encoding="utf-8"))) if place is not None else None
    except FileNotFoundError:
        return None


@dataclass
class Facts:
    """What a slice turned out to hold.

    Attributes:
        rows: how many rows were read.
        largest: the largest event time, microseconds since 1970 UTC; None without rows or event time.
    """

    rows: int = 0
    largest: int | None = None

    def add(self, rows: int, largest: int | None) -> None:
        """Count more rows."""
        self.rows += rows
        if largest is not None:
            self.largest = largest if self.largest is None else max(largest, self.largest)

    def leave(self, folder: Path, piece: Slice) -> None:
        """Write ``<split>-<end>-<part>.json``: ``{"rows": 3, "largest": 1700000000000000}``; whole or not at all.

        A retried task writes the same again.
        """
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{piece.split.replace('/', '_')}-{piece.end}-{piece.part}.json"
        temporary = place.with_name(f".{place.name}.{os.getpid()}")
        temporary.write_text(json.dumps({"rows": self.rows, "largest": self.largest}), encoding="utf-8")
        temporary.replace(place)


def read_facts(folder: Path) -> Mapping[tuple[str, int, int], Facts]:
    """Return the facts of slices, by split, end and part."""
    found = {}
    for place in folder.glob("[!.]*.json"):
        split, end, part = place.stem.rsplit("-", 2)
        try:
            found[split, int(end), int(part)] = Facts(**json.loads(place.read_text(encoding="utf-8")))
        except FileNotFoundError:  # removed since it was listed: whoever removes facts has seen them
            continue
    return found


class Work:
    """What a worker makes of the rows of a slice, before they reach Spark. By itself: nothing."""

    def process(self, batches: Iterator[pa.RecordBatch], facts: Facts) -> Iterator[pa.RecordBatch]:
        """Yield what Spark gets; ``facts`` is complete when this is exhausted."""
        for batch in batches:
            facts.add(batch.num_rows, None)
            yield batch
