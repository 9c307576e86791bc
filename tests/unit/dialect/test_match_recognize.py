"""The clauses of MATCH_RECOGNIZE and its patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sqlext.dialect.ast.queries import MatchRecognize, Select
from sqlext.dialect.queries.whole import parse_query_text
from sqlext.errors import SqlExtError

A, B = "PatternVariable(A)", "PatternVariable(B)"

PATTERNS = {
    "A": A,
    "A B": f"PatternSequence([{A}, {B}])",
    "(A B)": f"PatternSequence([{A}, {B}])",
    "A (B A)": f"PatternSequence([{A}, {B}, {A}])",
    "A* ": f"PatternQuantified({A}, 0, None)",
    "A+?": f"PatternQuantified({A}, 1, None, reluctant=True)",
    "A??": f"PatternQuantified({A}, 0, 1, reluctant=True)",
    "A{2}": f"PatternQuantified({A}, 2, 2)",
    "A{2,}": f"PatternQuantified({A}, 2, None)",
    "A{2,3}?": f"PatternQuantified({A}, 2, 3, reluctant=True)",
    "A{,3}": f"PatternQuantified({A}, 0, 3)",
    "A | B B": f"PatternChoice([{A}, PatternSequence([{B}, {B}])])",
    "(A | B)+ B": f"PatternSequence([PatternQuantified(PatternChoice([{A}, {B}]), 1, None), {B}])",
    "A {- B -}": f"PatternSequence([{A}, PatternExclusion({B})])",
    "^ A $": f"PatternSequence([PatternAnchor(^), {A}, PatternAnchor($)])",
    "PERMUTE(A, B)": f"PatternPermutation([{A}, {B}])",
    "`A`": A,
}


def _match(clauses: str, mode: str = "flink") -> MatchRecognize:
    body = parse_query_text(f"SELECT * FROM t MATCH_RECOGNIZE ({clauses}) AS m", mode).body
    assert isinstance(body, Select)
    assert isinstance(body.from_, MatchRecognize)
    return body.from_


@pytest.mark.parametrize("mode", ["spark", "flink"])
@pytest.mark.parametrize("text", PATTERNS)
def test_patterns(text: str, mode: str, shape: Callable[[Any], str]) -> None:
    assert shape(_match(f"PATTERN ({text})", mode).pattern) == PATTERNS[text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PAST LAST ROW", "AfterMatch(PAST LAST ROW)"),
        ("TO NEXT ROW", "AfterMatch(NEXT ROW)"),
        ("TO FIRST A", "AfterMatch(FIRST, variable=A"),
        ("TO LAST A", "AfterMatch(LAST, variable=A"),
        ("TO A", "AfterMatch(LAST, variable=A"),
        ("TO FIRST", "AfterMatch(LAST, variable=FIRST"),
    ],
)
def test_skips(text: str, expected: str, shape: Callable[[Any], str]) -> None:
    assert shape(_match(f"AFTER MATCH SKIP {text} PATTERN (A)").after).startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ONE ROW PER MATCH", "RowsPerMatch(False)"),
        ("ALL ROWS PER MATCH", "RowsPerMatch(True)"),
        ("ALL ROWS PER MATCH SHOW EMPTY MATCHES", "RowsPerMatch(True, option=SHOW)"),
        ("ALL ROWS PER MATCH OMIT EMPTY MATCHES", "RowsPerMatch(True, option=OMIT)"),
        ("ALL ROWS PER MATCH WITH UNMATCHED ROWS", "RowsPerMatch(True, option=UNMATCHED)"),
    ],
)
def test_rows_per_match(text: str, expected: str, shape: Callable[[Any], str]) -> None:
    assert shape(_match(f"{text} PATTERN (A)").rows) == expected


def test_all_clauses(shape: Callable[[Any], str]) -> None:
    match = _match(
        "PARTITION BY k, l ORDER BY ts, x DESC MEASURES A.x AS x, FINAL LAST(B.y, 1) AS y, final AS z "
        "ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) WITHIN INTERVAL '5' SECOND "
        "SUBSET s = (A, B), u = (B) DEFINE A AS x > ')', B AS PREV(B.x) < A.x"
    )
    assert shape(match.partition_by) == "[k, l]"
    assert shape(match.order_by) == "[OrderItem(ts), OrderItem(x, descending=True)]"
    assert shape(match.measures) == (
        "[Measure(A.x, x), Measure(Call(LAST, args=[B.y, 1]), y, semantics=FINAL), Measure(final, z)]"
    )
    assert shape(match.within) == "Interval(5, SECOND)"
    assert shape(match.subsets) == "[Subset(s, [A, B]), Subset(u, [B])]"
    assert shape(match.definitions) == (
        "[VariableDefinition(A, Binary(>, x, ')')), VariableDefinition(B, Binary(<, Call(PREV, args=[B.x]), A.x))]"
    )
    assert match.alias is not None
    assert match.span.text.startswith("t MATCH_RECOGNIZE (")
    assert match.span.text.endswith("AS m")


@pytest.mark.parametrize(
    ("clauses", "column", "code"),
    [
        ("", 34, "MATCH-001"),
        ("MEASURES A.x AS x", 51, "MATCH-001"),
        ("ORDER BY ts PARTITION BY k PATTERN (A)", 46, "MATCH-001"),
        ("PATTERN (A) DEFINE A AS x > 1 WITHIN INTERVAL '1' SECOND", 64, "MATCH-001"),
        ("PATERN (A)", 34, "MATCH-001"),
        ("PATTERN ()", 43, "MATCH-003"),
        ("PATTERN (A | )", 47, "MATCH-003"),
        ("PATTERN (A{3,2})", 44, "MATCH-002"),
        ("PATTERN (A{0})", 44, "MATCH-002"),
        ("PATTERN (A{})", 45, "PARSE-002"),
        ("PATTERN (A{,})", 46, "PARSE-002"),
        ("PATTERN (A) DEFINE A > 1", 55, "PARSE-002"),
        ("AFTER MATCH SKIP PATTERN (A)", 51, "PARSE-002"),
        ("MEASURES A.x PATTERN (A)", 47, "PARSE-002"),
    ],
)
def test_refusals(clauses: str, column: int, code: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        _match(clauses)
    assert (caught.value.code, caught.value.column) == (code, column)
