"""Rows with the watermark that they meet."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT
from sqlext_udfs.watermark_column import WatermarkOperator, WatermarkSpecification

ROWS = pa.table({"c0": [7, 8], "c1": ["a", None], "c2": pa.array([INSERT, DELETE], pa.int8())})
TYPES = ROWS.schema.types


def rows(clock: Clock, kind: int | None = None) -> list[dict[str, object]]:
    """Return what comes out of a step."""
    operator = WatermarkOperator(WatermarkSpecification(1, (1, 0), kind), TYPES)
    step = operator.step(operator.empty(), operator.partial(ROWS), clock)
    assert step.state is None
    assert step.out.schema.types == list(operator.output_types)
    return step.out.to_pylist()


@pytest.mark.parametrize(
    ("watermark", "shown"),
    [(None, None), (0, None), (1, 1), (1_704_067_200_000, 1_704_067_200_000), (Clock.END, 253_370_764_800_000)],
)
def test_each_row_has_the_watermark_of_its_batch(watermark: int | None, shown: int | None) -> None:
    """By the one of this batch, not of the one before, by which rows are late for windows."""
    assert rows(Clock(watermark, 1)) == [
        {"c0": "a", "c1": 7, "c2": shown, "c3": INSERT},
        {"c0": None, "c1": 8, "c2": shown, "c3": INSERT},
    ]


def test_changes_stay_what_they_are() -> None:
    assert [row["c3"] for row in rows(Clock(5), 2)] == [INSERT, DELETE]


def test_nothing_comes_of_no_rows() -> None:
    operator = WatermarkOperator(WatermarkSpecification(1, (0, 1)), TYPES)
    step = operator.step(None, None, Clock(5, 4))
    assert (step.out.num_rows, step.out.schema.types) == (0, list(operator.output_types))
    assert operator.next_wakeup(None) == (None, None)
