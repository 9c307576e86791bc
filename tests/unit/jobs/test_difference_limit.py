"""How many rows may differ, and what is said of those that do."""

from __future__ import annotations

import pytest

from sqlext.jobs.comparison import DifferenceLimit, RowComparison, RowDifference


@pytest.mark.parametrize(
    ("limit", "allowed"),
    [("0", False), ("2", False), ("3", True), ("2.9%", False), ("3%", True), ("100%", True), ("0%", False)],
)
def test_limit(limit: str, allowed: bool) -> None:
    found = RowComparison(old=100, new=101, changed=2, missing=1, extra=2, expected=2)
    assert found.unexpected == 3
    assert DifferenceLimit.parse(limit).allows(found) is allowed


def test_all_may_differ_where_no_row_was() -> None:
    found = RowComparison(old=0, new=5, extra=5)
    assert DifferenceLimit.parse("100%").allows(found)
    assert not DifferenceLimit.parse("99%").allows(found)


@pytest.mark.parametrize("limit", ["", "-1", "1.5", "many", "101%", "-1%", "nan%", "few%"])
def test_no_limit(limit: str) -> None:
    with pytest.raises(ValueError, match="neither a number of rows nor a share"):
        DifferenceLimit.parse(limit)


def test_lines() -> None:
    changed = RowDifference("changed", {"item": "pen"}, {"total": ("4.5", "3.0")})
    missing = RowDifference("missing", {"item": "ink", "total": "1.0"}, count=2)
    found = RowComparison(2, 1, changed=1, missing=1, columns={"total": 1}, shown=(changed, missing))
    assert list(found.lines()) == [
        "2 rows before, 1 now: 1 changed, 1 missing",
        "column total differs in 1 rows",
        "changed  item=pen: total 4.5 -> 3.0",
        "missing  item=ink, total=1.0 (2 times)",
    ]
    assert list(RowComparison(3, 3).lines()) == ["3 rows before, 3 now: the same"]
