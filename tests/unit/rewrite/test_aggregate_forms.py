"""Aggregates as texts over accumulators: what each asks for, and what is refused."""

from __future__ import annotations

import pytest

from sqlext.errors import SqlExtError
from sqlext.rewrite.expressions.accumulators import Accumulators
from sqlext.rewrite.expressions.aggregates import AggregateForm, aggregate_text
from sqlext.source import SourceText, Span


def percentile(*args: str) -> tuple[str, list[float]]:
    """Return the text of a PERCENTILE, and the percentages of its accumulators."""
    into = Accumulators()
    span = Span(SourceText.of("PERCENTILE"), 0, 10)
    text = aggregate_text(AggregateForm("percentile", args, (None,), False, "", False, "", span, into))
    return text, [dict(a.parameters)["percentage"] for a in into.accumulators]


def test_one_percentage() -> None:
    text, found = percentile("v", "0.9")
    assert found == [0.9]
    assert "array" not in text


def test_several_percentages_are_accumulators_of_their_own() -> None:
    text, found = percentile("v", "array(0.0, .25, 1)")
    assert found == [0.0, 0.25, 1.0]
    assert text.startswith("CASE WHEN ")
    assert "array(" in text


def test_percentages_as_the_decimals_of_flink() -> None:
    assert percentile("v", "CAST(0.5 AS DECIMAL(2, 1))")[1] == [0.5]
    assert percentile("v", "array(CAST(0.25 AS DECIMAL(3, 2)), 1)")[1] == [0.25, 1.0]


@pytest.mark.parametrize(
    "args", [("v", "p"), ("v", "array()"), ("v", "array(0.5, p)"), ("v", "0.5", "2"), ("v", "1.5")]
)
def test_what_is_no_number_from_0_to_1_is_refused(args: tuple[str, ...]) -> None:
    with pytest.raises(SqlExtError) as refused:
        percentile(*args)
    assert refused.value.code == "FUNC-020"
