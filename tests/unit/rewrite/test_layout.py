"""Layout changes white space alone, and a reader finds each clause on a line of its own."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from sqlext.dialect.tokens import TokenKind, tokenize
from sqlext.rewrite.export.layout import layout
from sqlext.source import SourceText

CASES = Path(__file__).parents[2] / "conformance" / "cases" / "flink"


def shown(sql: str) -> list[tuple[TokenKind, str]]:
    return [(t.kind, t.text) for t in tokenize(SourceText.of(sql))]


@pytest.mark.parametrize("path", sorted(CASES.glob("*/*/script.sql"))[::5], ids=lambda p: p.parent.name)
def test_only_white_space_changes(path: Path) -> None:
    text = path.read_text("utf-8")
    assert shown(layout(text)) == shown(text)
    assert layout(layout(text)) == layout(text)


def test_clauses_and_sub_queries() -> None:
    sql = "SELECT a, count(*) FROM (SELECT * FROM t WHERE x IN (1, 2)) AS u LEFT JOIN v ON u.a = v.a GROUP BY a LIMIT 1"
    expected = """\
        SELECT a, count(*)
        FROM (
          SELECT *
          FROM t
          WHERE x IN (1, 2)
        ) AS u
        LEFT JOIN v ON u.a = v.a
        GROUP BY a
        LIMIT 1"""
    assert layout(sql) == dedent(expected)


def test_a_long_select_list_has_a_line_per_item() -> None:
    items = [f"column_number_{i} + 1 AS c{i}" for i in range(5)]
    assert layout(f"SELECT {', '.join(items)} FROM t GROUP BY a, b") == (
        "SELECT\n  " + ",\n  ".join(items) + "\nFROM t\nGROUP BY a, b"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a IS DISTINCT FROM b",
        "SELECT EXTRACT(YEAR FROM d), TRIM(BOTH ' ' FROM s), left(s, 1)",
        "SELECT sum(a) FILTER (WHERE b) OVER (PARTITION BY c ORDER BY d)",
        "SELECT 'FROM (SELECT 1)'",
    ],
)
def test_words_inside_expressions_stay(sql: str) -> None:
    assert layout(sql) == sql


def test_comments_stay() -> None:
    assert layout("SELECT a -- why\nFROM t") == "SELECT a -- why\nFROM t"


def test_set_operations() -> None:
    assert layout("SELECT 1 UNION ALL SELECT 2") == "SELECT 1\nUNION ALL\nSELECT 2"
