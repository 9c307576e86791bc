"""ORDER BY in batch: columns that come out, and keys that do not."""

from __future__ import annotations

import pytest

from sqlext.errors import SqlExtError
from sqlext.session.offline.compilation import compile_source, new_state
from sqlext.source import SourceText

TABLE = "CREATE TABLE t (a INT, b INT) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');"


def columns_and_sql(query: str) -> tuple[list[str], str]:
    source = SourceText.of(f"SET 'execution.runtime-mode' = 'batch'; {TABLE} {query};")
    *_, (_, [compiled]) = compile_source(source, new_state(None))
    return [name for _, name in compiled.script.outputs], compiled.script.query


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT a FROM t ORDER BY b", ["a"]),
        ("SELECT x.a FROM t AS x ORDER BY x.a", ["a"]),
        ("SELECT a AS c FROM t ORDER BY a", ["c"]),
        ("SELECT a, SUM(b) AS s FROM t GROUP BY a ORDER BY COUNT(*), a", ["a", "s"]),
        ("SELECT a, a FROM t ORDER BY b LIMIT 1", ["a", "a0"]),
    ],
)
def test_a_key_that_does_not_come_out(query: str, columns: list[str]) -> None:
    names, sql = columns_and_sql(query)
    assert names == columns
    assert "__sort_0" in sql


@pytest.mark.parametrize("query", ["SELECT a FROM t ORDER BY a", "SELECT a + b AS c FROM t ORDER BY c", "TABLE t"])
def test_other_queries_are_left_alone(query: str) -> None:
    assert "__sort" not in columns_and_sql(query)[1]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a FROM t ORDER BY colour",
        "SELECT DISTINCT a FROM t ORDER BY b",
        "SELECT a FROM t GROUP BY a ORDER BY b",
        "SELECT a FROM t UNION ALL SELECT b FROM t ORDER BY b",
    ],
)
def test_what_cannot_be_sorted_by(query: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        columns_and_sql(query)
    assert refused.value.code.startswith("NAME-")
    assert refused.value.column is not None
