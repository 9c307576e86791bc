"""How many rows a SELECT with LIMIT can give: such a query may end."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.queries.whole import parse_query
from sqlext.plan.ranking import most_rows
from sqlext.source import SourceText

TABLE = """CREATE TABLE t (k STRING, n INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'datagen');"""
#: Of each window: others follow.
OF_WINDOWS = """SELECT k, r FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY p) AS r
    FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) WHERE r <= 2"""


@pytest.mark.parametrize(
    ("query", "most"),
    [
        ("SELECT n FROM t LIMIT 5", 5),
        ("SELECT n + 1 FROM (SELECT * FROM t WHERE n > 1) LIMIT 5 OFFSET 3", 5),
        ("SELECT n FROM t LIMIT 0", 0),
        ("SELECT n FROM t", None),
        ("SELECT n FROM t ORDER BY n LIMIT 5", None),
        ("SELECT k, COUNT(*) FROM t GROUP BY k LIMIT 5", None),
        (OF_WINDOWS, None),
        ("SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) AS r FROM t) WHERE r < 5", None),
    ],
)
def test_most_rows(query: str, most: int | None, tmp_path: Path) -> None:
    session = sqlext.connect(catalog=tmp_path / "catalog")
    session.run(TABLE)
    env = session._state.environment()
    text = SourceText.of(query)
    plan = QueryBinder(env).bind_whole(parse_query(Cursor.over(text.span(0, len(query)), env.mode)))
    assert most_rows(plan) == most
