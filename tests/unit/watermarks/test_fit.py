"""When a watermark no longer fits what arrives: by the share of late rows of the last minutes of a run."""

from __future__ import annotations

import pytest

from sqlext.watermarks.fit import OF_LATE, misfit
from sqlext.watermarks.history import Sample

SECOND = 1000


def sample(at: int, rows: int, late: int = 0, *, dropped: int = 0, began: int = 0) -> Sample:
    return Sample(at, None, {"orders": (at, "active")}, 0, rows, 0, late, dropped, began=began)


def test_no_sample() -> None:
    assert misfit([], 0) is None


@pytest.mark.parametrize(
    ("rows", "late", "dropped", "fits"),
    [(1000, 0, 9, True), (1000, 0, 10, False), (1000, 5, 5, False), (1001, 0, 10, True), (20, 0, 9, True)],
)
def test_one_row_in_a_hundred_and_ten_at_least(rows: int, late: int, dropped: int, fits: bool) -> None:
    found = misfit([sample(SECOND, rows, late, dropped=dropped)], 2 * SECOND)
    assert (found is None) == fits
    assert found is None or (found.rows, found.late) == (rows, late + dropped)


def test_what_was_late_long_ago_does_not_count() -> None:
    before = [sample(0, 1000, dropped=500), sample(SECOND, 2000, dropped=500)]
    assert misfit([*before, sample(OF_LATE + SECOND, 3000, dropped=505)], OF_LATE + SECOND) is None
    found = misfit([*before, sample(OF_LATE + SECOND, 3000, dropped=510)], OF_LATE + SECOND)
    assert found is not None
    assert (found.rows, found.late) == (1000, 10)


def test_a_query_that_says_nothing_new_fits() -> None:
    assert misfit([sample(0, 1000, dropped=500)], OF_LATE) is None


def test_a_restart_counts_from_nothing() -> None:
    found = misfit([sample(0, 9000, dropped=90), sample(SECOND, 100, dropped=50, began=1)], SECOND)
    assert found is not None
    assert (found.rows, found.late) == (100, 50)


def test_more_late_groups_than_rows() -> None:
    """Spark's operators count what a row became: HOP makes several of one."""
    found = misfit([sample(SECOND, 10, dropped=40)], SECOND)
    assert found is not None
    assert found.late == found.rows == 10


def test_in_words() -> None:
    assert str(misfit([sample(SECOND, 36_809, dropped=594)], SECOND)) == (
        "1.61% of the rows of the last 5 minutes were late (594 of 36,809): the declared watermark leaves them too "
        "little time; `ANALYZE WATERMARK FOR orders` says what another delay would lose"
    )
