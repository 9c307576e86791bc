"""Nested or chained without end: refused with a position or handled, never a RecursionError."""

from __future__ import annotations

import pytest

from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.ast.queries import Select
from sqlext.dialect.emit.nodes import EmitClause
from sqlext.dialect.emit.printing import emit_text
from sqlext.dialect.expressions.types import parse_type_text
from sqlext.dialect.queries.whole import parse_query_text
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.source import SourceText

NESTED = {
    "parentheses": ("(", "a", ")"),
    "CASE": ("CASE WHEN ", "a", " THEN 1 END"),
    "CASE results": ("CASE WHEN a THEN ", "a", " END"),
    "NOT": ("NOT ", "a", ""),
    "!": ("!", "a", ""),
    "minus": ("- ", "a", ""),
    "sums": ("a + (", "a", ")"),
    "conditions": ("a OR b AND (c = ", "a", ")"),
    "calls": ("f(", "a", ")"),
    "casts": ("CAST(", "a", " AS INT)"),
    "arrays": ("ARRAY[", "a", "]"),
    "subscripts": ("a[", "1", "]"),
    "scalar queries": ("(SELECT ", "1", ")"),
    "IN queries": ("a IN (SELECT ", "1", ")"),
    "EXISTS": ("EXISTS (SELECT ", "1", ")"),
    "lambdas": ("x -> ", "a", ""),
    "named arguments": ("f(a => ", "1", ")"),
    "windows": ("SUM(a) OVER (ORDER BY ", "a", ")"),
    "filters": ("SUM(a) FILTER (WHERE ", "a", ")"),
    "TRIM": ("TRIM(BOTH FROM ", "a", ")"),
    "JSON": ("JSON_OBJECT(KEY 'a' VALUE ", "a", ")"),
    "types": ("CAST(a AS " + "ARRAY<" * 500 + "INT" + ">" * 500 + ")", "", ""),
    "fields": ("(SELECT * FROM ", "t", ")"),
}
EMITTED = {
    "parentheses": ("(", "NEVER", ")"),
    "REPEAT": ("REPEAT (", "NEVER", ")"),
    "lists": ("ANY OF (NEVER, ", "NEVER", ")"),
    "operators": ("NEVER AND (NEVER OR ", "NEVER", ")"),
    "UNTIL": ("NEVER UNTIL (", "NEVER", ")"),
    "EARLY": ("AFTER WATERMARK EARLY ", "NEVER", ""),
    "EARLY in parentheses": ("AFTER WATERMARK EARLY (", "NEVER", ")"),
    "TIMEOUT": ("", "NEVER", " TIMEOUT 5s"),
    "PURGING": ("", "NEVER", " PURGING"),
}
CHAINED = {
    "plus": " + a",
    "equals": " = a",
    "IS NULL": " IS NULL",
    "subscripts": "[1]",
    "casts": "::INT",
    "joins": " JOIN t ON a = b",
    "tables": ", t",
}


@pytest.mark.parametrize("what", NESTED)
@pytest.mark.parametrize("levels", [500, 3_000])
def test_nested_too_deeply(what: str, levels: int) -> None:
    opening, inner, closing = NESTED[what]
    text = "SELECT 1,\n " + opening * (levels if inner else 1) + inner + closing * levels
    with pytest.raises(SqlExtError) as caught:
        list(parse_script(SourceText.of(text)))
    assert caught.value.code == "PARSE-003"
    assert caught.value.line == 2
    assert caught.value.hint


@pytest.mark.parametrize("what", NESTED)
def test_nested_as_people_and_programs_do(what: str) -> None:
    opening, inner, closing = NESTED[what]
    if inner:
        query = parse_query_text("SELECT " + opening * 30 + inner + closing * 30)
        assert _recursive_count(query) >= 30


@pytest.mark.parametrize("what", EMITTED)
@pytest.mark.parametrize("levels", [500, 3_000])
def test_emit_nested_too_deeply(what: str, levels: int) -> None:
    opening, inner, closing = EMITTED[what]
    with pytest.raises(SqlExtError) as caught:
        parse_query_text("SELECT 1\nEMIT " + opening * levels + inner + closing * levels)
    assert (caught.value.code, caught.value.line) == ("PARSE-003", 2)


@pytest.mark.parametrize("what", EMITTED)
def test_emit_nested_as_people_and_programs_do(what: str) -> None:
    opening, inner, closing = EMITTED[what]
    if "EARLY" not in what:
        clause = emit_of("SELECT 1 EMIT " + opening * 30 + inner + closing * 30)
        assert emit_of("SELECT 1 " + emit_text(clause)).trigger


@pytest.mark.parametrize("word", ["AND", "OR", "THEN"])
def test_long_flat_emit_chains_make_flat_trees(word: str) -> None:
    clause = emit_of("SELECT 1 EMIT NEVER" + f" {word} AFTER 5 ROWS" * 10_000)
    assert _recursive_count(clause) >= 10_000


@pytest.mark.parametrize("what", CHAINED)
def test_chained_too_long(what: str) -> None:
    start = "SELECT * FROM t" if what in ("joins", "tables") else "SELECT (a)"
    with pytest.raises(SqlExtError) as caught:
        parse_query_text(start + CHAINED[what] * 10_000)
    assert caught.value.code == "PARSE-003"
    assert _recursive_count(parse_query_text(start + CHAINED[what] * 100))


@pytest.mark.parametrize("link", [" AND a", " OR a = 1", " || a", " UNION ALL SELECT a", " INTERSECT SELECT a", ", a"])
def test_long_flat_chains_make_flat_trees(link: str) -> None:
    query = parse_query_text("SELECT a" + link * 10_000)
    assert _recursive_count(query) >= 10_000


def test_a_megabyte_of_literals() -> None:
    query = parse_query_text("SELECT a IN (" + ", ".join(str(i) for i in range(140_000)) + ")")
    assert sum(1 for _ in query.walk()) > 140_000


def test_long_chains_within_each_other() -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_query_text("SELECT " + "(" * 60 + "a" + (" + 1" * 60 + ")") * 60)
    assert caught.value.code == "PARSE-003"


@pytest.mark.parametrize("text", ["ARRAY<" * 500 + "INT" + ">" * 500, "INT" + " ARRAY" * 500])
def test_types(text: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_type_text(text)
    assert caught.value.code == "PARSE-003"


def test_parts_of_long_chains_are_what_their_text_says() -> None:
    query = parse_query_text("SELECT a0" + "".join(f" AND a{i}" for i in range(1, 40)))
    parts = [node.span.text for node in query.walk()]
    assert parts[2] == query.span.text.removeprefix("SELECT ")
    assert parts[4].endswith("a19")


def emit_of(text: str) -> EmitClause:
    body = parse_query_text(text).body
    assert isinstance(body, Select)
    assert body.emit is not None
    return body.emit


def _recursive_count(node: Node) -> int:
    """Walk as later stages do."""
    return 1 + sum(_recursive_count(child) for child in node.children())
