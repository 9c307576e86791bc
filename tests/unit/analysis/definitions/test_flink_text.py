"""Expressions and views in the form in which Flink 2.3.0 printed them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlext.analysis.definitions.flink_text import expression_text
from sqlext.analysis.definitions.view_text import view_text
from sqlext.dialect.expressions.operations import parse_expression_text

from .conftest import Definitions

HERE = Path(__file__).parent
#: A correlated sub-query waits for its operator.
NOT_YET = "EXISTS ("
TABLES = """
CREATE TABLE ev (id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3), r ROW<x INT>, ar ARRAY<INT>,
  WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
CREATE TABLE u (a INT, z STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
"""


def recorded(name: str) -> list[tuple[str, str]]:
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [(text, printed) for text, printed in map(json.loads, lines)]


@pytest.mark.parametrize(("text", "printed"), recorded("flink_expressions.jsonl"))
def test_expressions(text: str, printed: str) -> None:
    assert expression_text(parse_expression_text(text, "flink")) == printed


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("ts - INTERVAL 5 SECONDS", "`ts` - INTERVAL '5' SECOND"),
        ("transform(a, x -> x + 1)", "transform(a, x -> x + 1)"),
        (r"'a\\b' || k", r"'a\\b' || k"),
        ("a DIV 2", "a DIV 2"),
    ],
)
def test_what_only_spark_has_stays_as_it_is(text: str, printed: str) -> None:
    assert expression_text(parse_expression_text(text, "spark"), "spark") == printed


def test_a_long_chain() -> None:
    text = " + ".join(["a"] * 150)
    assert expression_text(parse_expression_text(text, "flink")) == " + ".join(["`a`"] * 150)


@pytest.mark.parametrize(("query", "printed"), [r for r in recorded("flink_views.jsonl") if NOT_YET not in r[0]])
def test_views(flink: Definitions, query: str, printed: str) -> None:
    flink.run(f"{TABLES} CREATE VIEW w AS {query}")
    assert view_text(flink.view("w"), flink.environment()) == printed


def test_a_view_of_spark_or_of_what_is_gone_shows_its_own_text(flink: Definitions, spark: Definitions) -> None:
    for definitions in (flink, spark):
        definitions.run(f"{TABLES} CREATE VIEW w AS SELECT k FROM ev")
    assert view_text(spark.view("w"), spark.environment()) == "SELECT k FROM ev"
    flink.run("ALTER TABLE ev DROP k")
    assert view_text(flink.view("w"), flink.environment()) == "SELECT k FROM ev"
