"""Define an input of a query: its declared time, and what was seen of it. Times are ms since 1970 UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlext.watermarks.ends import WindowEnds
from sqlext.watermarks.sketch import Sketches

#: The watermark of an input that has ended: 9999-01-01, as the row that ends bounded input says.
END_OF_TIME = 253_370_764_800_000
#: The split of an input that is not taken apart.
WHOLE = ""
#: The column of rows that says of which split they are, where splits have a time of their own.
SPLIT = "__split"
#: The measure of an input whose watermark is a constant delay behind its rowtime.
ROWTIME = "rowtime"


@dataclass(frozen=True, slots=True)
class Alignment:
    """``scan.watermark.alignment.*``: nobody of a group runs more than ``drift`` ms ahead of its slowest.

    The ``update-interval`` is not in it: who is ahead is looked at after each micro-batch, and none begins before.
    """

    group: str
    drift: int


@dataclass(frozen=True, slots=True)
class Input:
    """A source as one query reads it.

    Attributes:
        name: unique in the query: the table's, numbered where it is read twice.
        delay: ms that the watermark stays behind the largest event time.
        idle: ms without rows after which it no longer holds the watermark back; None: never.
        closes: whether the clock closes windows while every input is idle (``sqlext.idle.close-windows``).
        alignment: the group that it is held in step with.
        interval: ms between two watermarks (``on-periodic``); 0: as often as something was seen.
        by_rows: whether its rows move Spark's watermark themselves; otherwise heartbeats alone do.
        bounded: whether it has an end, in a query that has none.
        ends: when the windows right above it end.
        zone: whose wall clock shows its times to people.
        measure: what largest event times are: those of the rowtime, or values of the expression that the watermark is.
    """

    name: str
    delay: int = 0
    idle: int | None = None
    closes: bool = False
    alignment: Alignment | None = None
    interval: int = 0
    by_rows: bool = True
    bounded: bool = False
    ends: tuple[WindowEnds, ...] = ()
    zone: str = "UTC"
    measure: str = ROWTIME


@dataclass(slots=True)
class Split:
    """What has been seen of a part of an input that has a time of its own: a Kafka partition, or all of it.

    Attributes:
        since: when rows came last, by the keeper's clock; its first sight, where none has come.
        largest: the largest event time; None before the first row.
        rows: how many came.
        held: whether alignment holds it back.
    """

    since: int
    largest: int | None = None
    rows: int = 0
    held: bool = False


@dataclass(slots=True)
class Known:
    """What is known of an input.

    Attributes:
        watermark: its own, as far as rows have brought it; None before that. It never goes back.
        beat: the last heartbeat given to it in this run; None if none.
        beat_at: when that was.
        ended: whether a bounded one is through.
        idle: whether it holds nobody back now.
        resumed: whether Spark does not know yet how far it was before a restart.
        smallest: the smallest event time of all splits, if it was told.
        measure: ``Input.measure`` of these times.
        lateness: how late its rows were.
    """

    splits: dict[str, Split] = field(default_factory=dict)
    watermark: int | None = None
    beat: int | None = None
    beat_at: int | None = None
    ended: bool = False
    idle: bool = False
    resumed: bool = False
    smallest: int | None = None
    measure: str = ROWTIME
    lateness: Sketches = field(default_factory=Sketches)

    @property
    def reached(self) -> int | None:
        """How far its watermark is to Spark: by its rows or by a heartbeat."""
        known = [w for w in (self.watermark, self.beat) if w is not None]
        return max(known) if known else None

    @property
    def largest(self) -> int | None:
        """The largest event time of all splits."""
        known = [s.largest for s in self.splits.values() if s.largest is not None]
        return max(known) if known else None

    def to_json(self) -> dict[str, Any]:
        """Return what a restart needs; heartbeats are given anew then."""
        splits = {n: [s.since, s.largest, s.rows] for n, s in self.splits.items()}
        # With what heartbeats have brought, because Spark's own watermark has it too.
        own = {"watermark": self.reached, "ended": self.ended, "idle": self.idle, "smallest": self.smallest}
        return {"splits": splits, "measure": self.measure, "lateness": self.lateness.to_json(), **own}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Known:
        """Return what ``to_json`` wrote."""
        splits = {n: Split(*s) for n, s in value["splits"].items()}
        own = {key: value[key] for key in ("watermark", "ended", "idle", "smallest")}
        # An older keeper.json has neither of these.
        lateness = Sketches.from_json(value.get("lateness", {}))
        return Known(splits, measure=value.get("measure", ROWTIME), lateness=lateness, **own)
