"""What a micro-batch had of an input, by what Spark's progress says of it."""

from __future__ import annotations

import json

import numpy as np

from sqlext.jobs.arrived import RowCounts, observed
from sqlext.sources.times import PLACES, Times
from sqlext.watermarks.sketch import SplitTimes


def _slice(place: int, split: str, *seconds: int) -> str:
    """Return the text of a slice with one row at each second, and one without a time."""
    times, micros = Times(), np.array(seconds, np.int64) * 1_000_000
    times.take(micros)
    span = (int(micros.min()), int(micros.max())) if seconds else (None, None)
    return times.text(place, split, len(seconds) + 1, span)


def test_slices_are_summed_up_by_split() -> None:
    texts = [_slice(0, "rows-0", 3, 5), _slice(1, "rows-1", 4), _slice(2, "rows-0", 9), _slice(3, "rows-2", 1)]
    found = observed({"slices": texts, f"packed of {json.dumps(['rows-0', 'rows-1', 'rows-7'])}": 30})
    assert found.counts == {
        "": RowCounts(9, 9_000, 1_000),
        "rows-0": RowCounts(5, 9_000),
        "rows-1": RowCounts(2, 4_000),
        "rows-7": RowCounts(0),  # it is there, and has given nothing
        "rows-2": RowCounts(2, 1_000),  # it came after the query had begun
    }
    assert found.packed == 30
    assert found.times[1] == SplitTimes("rows-1", [(4_000, 4_000, 1)])


def test_an_input_without_splits_has_none() -> None:
    found = observed({"slices": [_slice(0, "files", 3), _slice(1, "files")], "packed of []": 2})
    assert found.counts == {"": RowCounts(3, 3_000, 3_000)}


def test_a_micro_batch_without_rows() -> None:
    for texts in ([], None):
        found = observed({"slices": texts, 'packed of ["rows-0"]': 8})
        assert (found.counts, found.packed) == ({"": RowCounts(0), "rows-0": RowCounts(0)}, 8)
        assert [part.points for part in found.times] == [[]]


def test_slices_without_a_place_count_between_the_times_of_all() -> None:
    texts = [_slice(place, "files", place, place + 1) for place in range(PLACES + 2)]
    found = observed({"slices": texts, "packed of []": 99})
    *told, others = found.times
    assert len(told) == PLACES
    assert others == SplitTimes("", [(0, (PLACES + 2) * 1000, 6)])


def test_rows_of_spark_have_columns() -> None:
    columns = {"largest": 9, "n": 3, "smallest": 1, "largest p-0": 9, "n p-0": 2, "largest p-1": None, "n p-1": None}
    found = observed(columns)
    assert found.counts == {"": RowCounts(3, 9, 1), "p-0": RowCounts(2, 9), "p-1": RowCounts(0)}
    assert found.packed is None
    assert found.times == [SplitTimes("p-0", [(1, 9, 1), (9, 9, 1)])]
