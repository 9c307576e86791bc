"""Read the rows and event times of an input from what was observed of a micro-batch."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlext.spark.observed import LARGEST, PACKED_OF, ROWS, SLICES, SMALLEST
from sqlext.watermarks.inputs import WHOLE
from sqlext.watermarks.sketch import Points, SplitTimes, between

#: What a slice held, as its text says it (``sources.times``).
_Slice = Mapping[str, Any]


class ObservedInput(NamedTuple):
    """What a micro-batch had of an input.

    Attributes:
        counts: rows and times of all of it (``WHOLE``), and of its splits where they have a time of their own.
        times: of the rows: those of each slice whose times are told, and of the others together.
        packed: in how many packed rows they came; None where they came as rows.
    """

    counts: Mapping[str, RowCounts]
    times: Sequence[SplitTimes]
    packed: int | None = None


class RowCounts(NamedTuple):
    """Rows, and their largest and smallest time in ms since 1970 UTC; None where no row has one, or nobody says it."""

    rows: int
    largest: int | None = None
    smallest: int | None = None


def observed(row: Mapping[str, Any]) -> ObservedInput:
    """Return what the columns of ``observed.INPUT`` say."""
    packed = next((key for key in row if key.startswith(PACKED_OF)), None)
    if packed is None:
        counts = {key[len(ROWS) :]: int(row[key] or 0) for key in row if key.startswith(ROWS)}
        whole = RowCounts(counts.pop(WHOLE), row[LARGEST], row[SMALLEST])
        splits = {split[1:]: RowCounts(rows, row[f"{LARGEST}{split}"]) for split, rows in counts.items()}
        return ObservedInput({WHOLE: whole, **splits}, _spans(whole, splits))
    from sqlext.sources.times import from_text  # it needs numpy, which a query without such slices does not

    slices = [from_text(text) for text in row[SLICES] or ()]
    named: Sequence[str] = json.loads(packed.removeprefix(PACKED_OF))
    counted = _counts(slices, named)
    return ObservedInput(counted, _times(slices, counted[WHOLE]), int(row[packed] or 0))


def _counts(slices: Sequence[_Slice], named: Sequence[str]) -> Mapping[str, RowCounts]:
    """Return the counts of all slices, and of the splits, also of those that have given nothing."""
    found: dict[str, list[_Slice]] = defaultdict(list, {split: [] for split in named})
    for piece in slices if named else ():  # a split that came later has no name there
        found[piece["split"]].append(piece)
    splits = {split: _summed(pieces)._replace(smallest=None) for split, pieces in found.items()}
    return {WHOLE: _summed(slices), **splits}


def _summed(slices: Sequence[_Slice]) -> RowCounts:
    known = [piece for piece in slices if piece["largest"] is not None]
    largest = max((piece["largest"] for piece in known), default=None)
    smallest = min((piece["smallest"] for piece in known), default=None)
    return RowCounts(sum(piece["rows"] for piece in slices), largest, smallest)


def _times(slices: Sequence[_Slice], whole: RowCounts) -> Sequence[SplitTimes]:
    told = [piece for piece in slices if piece["points"]]
    parts = [SplitTimes(piece["split"], [tuple(point) for point in piece["points"]]) for piece in told]
    others = whole.rows - sum(piece["rows"] for piece in told)
    # More slices than there are places for their times.
    return [*parts, SplitTimes(WHOLE, _inside(whole.smallest, whole.largest, others))]


def _spans(whole: RowCounts, splits: Mapping[str, RowCounts]) -> Sequence[SplitTimes]:
    """Return what is known where sources of Spark tell the smallest and the largest time of all rows."""
    if not splits:
        return [SplitTimes(WHOLE, list(between(whole.smallest, whole.largest, whole.rows)))]
    # Which split has the row with the smallest time is not told.
    parts = [
        SplitTimes(split, [*_inside(whole.smallest, of.largest, of.rows - 1), *_one(of.largest, of.rows)])
        for split, of in splits.items()
    ]
    return [part for part in parts if part.points]


def _inside(smallest: int | None, largest: int | None, rows: int) -> Points:
    return [(smallest, largest, rows)] if smallest is not None and largest is not None and rows > 0 else []


def _one(largest: int | None, rows: int) -> Points:
    return [(largest, largest, 1)] if largest is not None and rows > 0 else []
