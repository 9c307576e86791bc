"""Read the event times of an input's rows from what was observed of a micro-batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlext.spark.observed import LARGEST, ROWS, SMALLEST, TIMES_OF
from sqlext.watermarks.inputs import WHOLE
from sqlext.watermarks.sketch import Points, SplitTimes, between


def parts_of(row: Mapping[str, Any]) -> Sequence[SplitTimes]:
    """Return the times of the rows: of each slice whose times are told, and of the others together.

    Args:
        row: the columns of ``observed.INPUT``.
    """
    texts: Sequence[str] = row.get(TIMES_OF) or []
    if not texts:
        return _spans(row)
    from sqlext.sources.times import from_text  # it needs numpy, which a query without such slices does not

    told = [from_text(text) for text in texts]
    parts = [SplitTimes(piece["split"], [tuple(point) for point in piece["points"]]) for piece in told]
    others = int(row[ROWS] or 0) - sum(piece["rows"] for piece in told)
    # More slices than there are places for their times.
    return [*parts, SplitTimes(WHOLE, _inside(row[SMALLEST], row[LARGEST], others))]


def _spans(row: Mapping[str, Any]) -> Sequence[SplitTimes]:
    """Return what is known where sources of Spark tell the smallest and the largest time of all rows."""
    splits = [key[len(ROWS) + 1 :] for key in row if key.startswith(f"{ROWS} ")]
    smallest = row[SMALLEST]
    if not splits:
        return [SplitTimes(WHOLE, list(between(smallest, row[LARGEST], int(row[ROWS] or 0))))]
    counted = [(s, row[f"{LARGEST} {s}"], int(row[f"{ROWS} {s}"] or 0)) for s in splits]
    # Which split has the row with the smallest time is not told.
    parts = [
        SplitTimes(split, [*_inside(smallest, largest, rows - 1), *_one(largest, rows)])
        for split, largest, rows in counted
    ]
    return [part for part in parts if part.points]


def _inside(smallest: int | None, largest: int | None, rows: int) -> Points:
    return [(smallest, largest, rows)] if smallest is not None and largest is not None and rows > 0 else []


def _one(largest: int | None, rows: int) -> Points:
    return [(largest, largest, 1)] if largest is not None and rows > 0 else []
