"""Mutated scripts through reading, analysis and rewriting: nothing but SqlExtError comes out."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .scripts import OUTPUTS, SCRIPTS, mutated, refusal, renamed

EXAMPLES = int(os.environ.get("FUZZ", "300"))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.one_of(mutated(), renamed()), st.sampled_from(["spark", "flink"]), st.sampled_from(OUTPUTS))
def test_mutated_scripts(text: str, mode: str, output: str) -> None:
    error = refusal(text, mode, output)
    if error is not None:
        assert error.message
        assert error.render()
        assert error.line is not None, f"no position: {error}"


@pytest.mark.parametrize("output", ["spark", "text"])
@pytest.mark.parametrize("script", SCRIPTS[::4])
def test_scripts_as_they_are(script: str, output: str) -> None:
    refusal(script, "flink", output)


QUERY = "CREATE TABLE t (a INT) WITH ('connector' = 'datagen'); SELECT {} FROM t"
BOMBS = {
    "nested parentheses": QUERY.format("(" * 500 + "a" + ")" * 500),
    "nested functions": QUERY.format("abs(" * 500 + "a" + ")" * 500),
    "nested CASE": QUERY.format("CASE WHEN a > 0 THEN " * 300 + "a" + " END" * 300),
    "nested sub-queries": "SELECT * FROM (" * 300 + "SELECT 1 AS a" + ")" * 300,
    "nested types": f"CREATE TABLE t (a {'ARRAY<' * 500}INT{'>' * 500}) WITH ('connector' = 'blackhole')",
    "a long chain": QUERY.format(" + ".join(["a"] * 5_000)),
    "a long IN list": QUERY.format(f"a IN ({', '.join(map(str, range(5_000)))})"),
    "many columns": QUERY.format(", ".join(f"a AS a{i}" for i in range(3_000))),
    "many unions": " UNION ALL ".join(["SELECT 1"] * 2_000),
    "unary minus": QUERY.format("- " * 2_000 + "a"),
    "NOT": QUERY.format("NOT " * 2_000 + "true"),
    "unclosed parentheses": "SELECT " + "(" * 10_000,
    "unterminated string": "SELECT 'abc",
    "unterminated comment": "SELECT 1 /* abc",
    "unterminated name": "SELECT `abc",
    "NUL": "SELECT \0 FROM t",
    "surrogate": "SELECT '\ud800'",
    "views over views": "CREATE VIEW v0 AS SELECT 1 AS a;"
    + "".join(f"CREATE VIEW v{i + 1} AS SELECT a FROM v{i};" for i in range(200))
    + "SELECT a FROM v200",
    "doubling views": "CREATE VIEW v0 AS SELECT 1 AS a;"
    + "".join(f"CREATE VIEW v{i + 1} AS SELECT * FROM v{i} UNION ALL SELECT * FROM v{i};" for i in range(8))
    + "SELECT a FROM v8",
}


@pytest.mark.parametrize("mode", ["spark", "flink"])
@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_bombs(text: str, mode: str) -> None:
    error = refusal(text, mode)
    assert error is None or error.render()
