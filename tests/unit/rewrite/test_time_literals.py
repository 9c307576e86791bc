"""Literals of times without Spark: an instant is meant on the clock of the session's zone, as Java reads it."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from sqlext.rewrite.arrow.time_literals import time_literal
from sqlext_udfs.expressions.functions import INSTANT, WALL_CLOCK


@pytest.mark.parametrize(
    ("text", "zone", "utc"),
    [
        ("2024-01-15 12:00:00", "Europe/Berlin", "2024-01-15 11:00:00"),
        ("2024-07-15 12:00:00.250", "Europe/Berlin", "2024-07-15 10:00:00.250"),
        ("2024-07-15", "America/New_York", "2024-07-15 04:00:00"),
        # 02:30 is left out on this day, and comes twice on that one.
        ("2024-03-31 02:30:00", "Europe/Berlin", "2024-03-31 01:30:00"),
        ("2024-10-27 02:30:00", "Europe/Berlin", "2024-10-27 00:30:00"),
        ("2024-07-15 12:00:00Z", "Europe/Berlin", "2024-07-15 12:00:00"),
        ("2024-07-15 12:00:00", "UTC", "2024-07-15 12:00:00"),
    ],
)
def test_an_instant(text: str, zone: str, utc: str) -> None:
    found = time_literal(text, INSTANT, zone)
    expected = datetime.fromisoformat(utc).replace(tzinfo=timezone.utc)
    assert found is not None
    assert found.value == round(expected.timestamp() * 1e6)


@pytest.mark.parametrize(
    ("text", "of", "zone"),
    [
        ("2024-02-30 00:00:00", INSTANT, "Europe/Berlin"),
        ("2024-01-01 00:00:00", INSTANT, "No/Where"),
        ("9999-12-31 23:59:59", INSTANT, "America/New_York"),
        ("0001-01-01 00:00:00", INSTANT, "Asia/Kolkata"),
        ("2024-01-01 00:00:00Z", WALL_CLOCK, "Europe/Berlin"),
    ],
)
def test_what_is_left_to_spark(text: str, of: object, zone: str) -> None:
    assert time_literal(text, of, zone) is None
