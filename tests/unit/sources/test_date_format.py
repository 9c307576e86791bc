"""Texts of times as Spark's ``date_format`` writes them; tests/sources/test_expressions.py holds them against Spark."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pytest

from sqlext.sources.decoding.date_format import Formatted, tokens
from sqlext_udfs.expressions.columns import Column, Rows
from sqlext_udfs.expressions.functions import WALL_CLOCK


@pytest.mark.parametrize("pattern", ["y", "yyy", "MMM", "d", "SSS", "yyyy'T'MM", "a", "HH:mm:ss.SSS", "EEE, dd"])
def test_patterns_that_stay_sparks(pattern: str) -> None:
    assert tokens(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd", "2024-02-29"),
        ("dd.MM.yyyy, HH:mm:ss", "29.02.2024, 05:06:07"),
        ("HHmm", "0506"),
        ("/", "/"),
        ("yyyy", "2024"),
    ],
)
def test_each_row_has_its_text(pattern: str, text: str) -> None:
    known = tokens(pattern)
    assert known is not None
    time = datetime(2024, 2, 29, 5, 6, 7, 999_999)
    columns = {"t": pa.array([time, None, time], WALL_CLOCK)}
    made = Formatted(pa.string(), inputs=(Column(WALL_CLOCK, name="t"),), pattern=known)
    assert made.evaluate(Rows.of(columns, 3)).to_pylist() == [text, None, text]
    assert made.evaluate(Rows.of({"t": pa.array([], WALL_CLOCK)}, 0)).to_pylist() == []
