"""A query that stands in WITH and is read twice is read and computed once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sqlext

_TABLES = """
SET 'sqlext.engine' = 'local';
SET 'sqlext.sink.updates' = 'final-state';
CREATE TABLE bids (item STRING, price BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE out (item STRING, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'parquet');
"""
_TWICE = """
INSERT INTO out WITH counts AS (SELECT item, COUNT(*) AS n FROM bids GROUP BY item)
SELECT a.item, a.n FROM counts a JOIN counts b ON a.item = b.item;
"""
#: The second one is another query.
_OTHER = """
INSERT INTO out SELECT a.item, a.n FROM (SELECT item, COUNT(*) AS n FROM bids GROUP BY item) a
JOIN (SELECT item, COUNT(*) AS n FROM bids WHERE price > 1 GROUP BY item) b ON a.item = b.item;
"""


@pytest.mark.parametrize("source", ["arrow", "auto"])
@pytest.mark.parametrize(("query", "read"), [(_TWICE, 1), (_OTHER, 2)], ids=["equal", "another"])
def test_read_once(tmp_path: Path, query: str, read: int, source: str) -> None:
    (tmp_path / "in").mkdir()
    rows = [("a", 1), ("a", 2), ("b", 5)]
    (tmp_path / "in" / "a.json").write_text("".join(json.dumps({"item": i, "price": p}) + "\n" for i, p in rows))
    script = f"SET 'sqlext.source' = '{source}';" + _TABLES.format(root=tmp_path) + query
    done = sqlext.connect(catalog=str(tmp_path / "catalog")).run(script)[-1].query
    assert done is not None
    assert done.progress["rows_in"] == read * len(rows)
    assert done.progress["rows_out"] == 2
