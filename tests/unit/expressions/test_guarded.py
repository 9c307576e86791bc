"""Which expressions can fail for a row, what is rendered in their place, and why they fail."""

from __future__ import annotations

import pytest
from recorded_flink import Strs

from sqlext.analysis.expressions.failing import first_failing
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.rewrite.expressions.guarded import SafeContext, reason
from sqlext.rewrite.expressions.renderer import render


@pytest.mark.parametrize(
    ("written", "safe"),
    [
        ("CAST(s AS INT)", "TRY_CAST(s AS INT)"),
        ("1 + CAST(s AS INT)", "try_add(1, TRY_CAST(s AS INT))"),
        ("n / l", "(n / nullif(l, 0))"),
        ("n % (l - 1)", "(n % nullif((try_subtract(l, 1)), 0))"),
        ("ai[n]", "get(ai, n)"),
        ("to_date(s)", "TRY_CAST(s AS DATE)"),
        ("to_date(s, 'dd.MM.yyyy')", "CAST(try_to_timestamp(s, 'dd.MM.yyyy') AS DATE)"),
        ("upper(CAST(s AS INT))", "upper(TRY_CAST(s AS INT))"),
    ],
)
def test_what_can_fail_is_null(written: str, safe: str) -> None:
    expr = parse_expression_text(written, "spark")
    assert render(expr, SafeContext(Strs("spark"))) == safe
    assert reason(expr, Strs("spark")) is not None


@pytest.mark.parametrize(
    "written",
    [
        "s",
        "n + 1.5E0",
        "CAST(n AS BIGINT)",
        "CAST(n AS STRING)",
        "TRY_CAST(s AS INT)",
        "n / 2",
        "mp['k']",
        "CAST(ai AS ARRAY<TINYINT>)",
        "CAST(ts AS DATE)",
        "CAST(n AS DECIMAL(12, 1))",
    ],
)
def test_what_cannot_fail_stays(written: str) -> None:
    expr = parse_expression_text(written, "spark")
    context = Strs("spark")
    assert first_failing(expr, context.type_of, "spark") is None
    assert render(expr, SafeContext(context)) == written
    assert reason(expr, context) is None


def test_flink_wraps_around_and_divides_inexact_numbers_by_zero() -> None:
    context = Strs("flink")
    found = {w: reason(parse_expression_text(w, "flink"), context) for w in ("n + l", "x / 0", "n / l")}
    assert [w for w, why in found.items() if why is not None] == ["n / l"]


def test_a_reason_has_code_and_text() -> None:
    assert reason(parse_expression_text("n / l", "spark"), Strs("spark")) == (
        "CASE WHEN n IS NOT NULL AND l IS NOT NULL AND (l) = 0 "
        "THEN named_struct('code', 'RUN-040', 'reason', 'n / l: division by zero') END"
    )


@pytest.mark.parametrize(
    ("written", "asked_first"),
    [
        ("CASE WHEN l <> 0 THEN n / l END", "CASE WHEN (l <> 0) THEN CASE WHEN n"),
        ("CASE l WHEN 0 THEN 0 ELSE n / l END", "CASE WHEN (l) = (0) THEN NULL ELSE CASE WHEN n"),
        ("l <> 0 AND n / l > 1", "CASE WHEN coalesce((l <> 0), true) THEN CASE WHEN n"),
        ("l = 0 OR n / l > 1", "CASE WHEN NOT coalesce((l = 0), false) THEN CASE WHEN n"),
        ("coalesce(n, n / l)", "CASE WHEN (n) IS NULL THEN CASE WHEN n"),
        ("nvl2(l, 1, n / l)", "CASE WHEN (l) IS NOT NULL THEN NULL ELSE CASE WHEN n"),
        ("n IN (l, n / l)", "CASE WHEN NOT coalesce(n = (l), false) THEN CASE WHEN n"),
        ("if(l = 0, 0, n / l)", "CASE WHEN l = 0 THEN NULL ELSE CASE WHEN n"),
    ],
)
def test_what_sql_does_not_look_at_does_not_fail(written: str, asked_first: str) -> None:
    why = reason(parse_expression_text(written, "spark"), Strs("spark"))
    assert why is not None
    assert why.startswith(asked_first)


def test_an_element_that_is_there_may_be_null() -> None:
    why = reason(parse_expression_text("ai[n]", "spark"), Strs("spark"))
    assert why is not None
    assert why.startswith("CASE WHEN ai IS NOT NULL AND n IS NOT NULL AND ((n) < 0 OR (n) >= size(ai)) THEN")


@pytest.mark.parametrize("zero", ["0", "0.0", "0E1", "00"])
def test_zero_is_zero_however_it_is_written(zero: str) -> None:
    assert reason(parse_expression_text(f"n / {zero}", "spark"), Strs("spark")) is not None
