"""Every recorded type and refusal of Flink 2.3 against ours, without Spark."""

from __future__ import annotations

import pytest
from recorded_flink import ANSWERS, Strs, differences, recorded

from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError
from sqlext.rewrite.expressions.renderer import render

ALL = {r["expression"]: {**r, "table": ANSWERS[name]} for name in ANSWERS for r in recorded(name)}
TYPED = {k: r["type"] for k, r in ALL.items() if "type" in r}
REFUSED = {k: r["refused"] for k, r in ALL.items() if "refused" in r}


def ours(expression: str) -> str:
    """Return the type of an expression over the recorded table, or the code of the refusal."""
    try:
        return str(Strs(columns=ALL[expression]["table"].columns).type_of(parse_expression_text(expression, "flink")))
    except SqlExtError as error:
        return error.code


@pytest.mark.parametrize("expression", TYPED)
def test_type_is_flinks(expression: str) -> None:
    if expression in differences("types"):
        assert ours(expression) != TYPED[expression]
    else:
        assert ours(expression) == TYPED[expression]


@pytest.mark.parametrize("expression", REFUSED)
def test_refused_as_by_flink(expression: str) -> None:
    refused = ours(expression).split("-")[0] in ("TYPE", "FUNC", "PARSE")
    assert refused != (expression in differences("accepted")), REFUSED[expression]


@pytest.mark.parametrize(
    ("expression", "code", "column"),
    [
        ("n || s", "TYPE-001", 1),
        ("1 + (n || s)", "TYPE-001", 6),
        ("n = b", "TYPE-001", 1),
        ("SUM(s)", "TYPE-004", 1),
        ("n IN (1, 'a')", "TYPE-002", 1),
        ("NOT n", "TYPE-003", 5),
        ("COUNT(DISTINCT n, s)", "FUNC-003", 1),
        ("FOO(n)", "FUNC-001", 1),
        ("ABS(n, 1)", "FUNC-002", 1),
        ("DATE '2024-13-01'", "TYPE-006", 1),
        ("CAST(d AS INT)", "TYPE-005", 1),
        ("ai[0]", "TYPE-001", 4),
        ("ABS(DISTINCT n)", "FUNC-003", 1),
        ("ABS(n) FILTER (WHERE b)", "FUNC-003", 1),
        ("JSON_OBJECT('d' VALUE d)", "TYPE-004", 1),
        ("s IS DISTINCT FROM 1", "TYPE-001", 1),
        ("n IS NOT DISTINCT FROM '1'", "TYPE-001", 1),
        ("NULLIF(n, s)", "TYPE-001", 1),
        ("FLOOR(tm TO MONTH)", "TYPE-004", 13),
        ("CEIL(tm TO DAY)", "TYPE-004", 12),
    ],
)
def test_refusals_have_code_and_position(expression: str, code: str, column: int) -> None:
    with pytest.raises(SqlExtError) as caught:
        Strs().type_of(parse_expression_text(expression, "flink"))
    assert (caught.value.code, caught.value.column) == (code, column)


@pytest.mark.parametrize("expression", differences("fails"))
def test_a_path_that_is_not_supported_is_refused(expression: str) -> None:
    scope = Strs(columns=ALL[expression]["table"].columns)
    with pytest.raises(SqlExtError) as caught:
        render(parse_expression_text(expression, "flink"), scope)
    assert caught.value.code == "FUNC-013"


def test_an_unknown_function_has_close_matches() -> None:
    with pytest.raises(SqlExtError) as caught:
        Strs("spark").type_of(parse_expression_text("UPER(s)", "spark"))
    assert caught.value.hint is not None
    assert "`UPPER`" in caught.value.hint


def test_unknown_types_refuse_nothing() -> None:
    env = Strs(columns={})
    for expression in ("a || b", "SUM(a)", "a = b", "CASE WHEN a THEN b ELSE c END", "a[1]", "UPPER(a)", "a + b"):
        env.type_of(parse_expression_text(expression, "flink"))


def test_spark_mode_refuses_no_types() -> None:
    for expression in ("n || s", "n = b", "n + s", "SUM(s)", "CASE WHEN b THEN n ELSE s END"):
        Strs("spark").type_of(parse_expression_text(expression, "spark"))


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("AVG(n)", "DOUBLE"),
        ("SUM(n)", "BIGINT"),
        ("SUM(de)", "DECIMAL(20, 2)"),
        ("AVG(de)", "DECIMAL(14, 6)"),
        ("n / 2", "DOUBLE"),
        ("'a'", "STRING NOT NULL"),
        ("YEAR(ts)", "INT"),
        ("COUNT(*)", "BIGINT NOT NULL"),
        ("TO_TIMESTAMP_LTZ(l, 3)", "TIMESTAMP_LTZ(3)"),
        ("ROW_NUMBER() OVER (ORDER BY n)", "INT NOT NULL"),
    ],
)
def test_spark_mode_has_sparks_types(expression: str, type_: str) -> None:
    assert str(Strs("spark").type_of(parse_expression_text(expression, "spark"))) == type_
