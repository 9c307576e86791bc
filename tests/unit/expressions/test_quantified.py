"""Comparisons with ANY, SOME and ALL: what they become in Spark."""

from __future__ import annotations

import pytest
from recorded_flink import Strs

from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.rewrite.expressions.renderer import render


def flink(text: str) -> str:
    return render(parse_expression_text(text, "flink"), Strs("flink"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n = ANY (1, 2)", "(n = 1 OR n = 2)"),
        ("n = SOME (l)", "(n = l)"),
        ("n <> ALL (1, 2) AND b", "(n <> 1 AND n <> 2) AND b"),
        ("NOT n >= ALL (x + 1, 2)", "NOT (n >= (x + 1) AND n >= 2)"),
    ],
)
def test_lists(text: str, expected: str) -> None:
    assert flink(text) == expected
