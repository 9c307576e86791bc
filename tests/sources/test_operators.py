"""The same rows, whether operators of ours stand over rows that Arrow packs where it reads them or over Spark's."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from workspace import Workspace

from .run_by import CHANGES, Case

_COLUMNS = "id BIGINT, k STRING, v INT, d DOUBLE, e BIGINT"
_TIMES = "ts AS TO_TIMESTAMP_LTZ(e, 3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"
_TABLES = f"""
CREATE TABLE c ({_COLUMNS}, {_TIMES})
WITH ('connector' = 'filesystem', 'path' = '${{IN}}/csv', 'format' = 'csv', 'csv.null-literal' = 'NULL');
CREATE TABLE j ({_COLUMNS}, {_TIMES}) WITH ('connector' = 'filesystem', 'path' = '${{IN}}/json', 'format' = 'json');
CREATE TABLE n (kind INT, a ROW<{_COLUMNS}>, b ROW<{_COLUMNS}>,
  ts AS TO_TIMESTAMP_LTZ(CASE WHEN kind = 0 THEN a.e ELSE b.e END, 3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${{IN}}/rows', 'format' = 'json');
"""
_A = "SELECT a.id, a.k, a.v, a.d, ts FROM n WHERE kind = 0"
_B = "SELECT b.id, b.k, b.v, b.d, ts FROM n WHERE kind = 1"
_ONE, _NUMBER = "INTERVAL '1' SECOND", "ROW_NUMBER() OVER (PARTITION BY k ORDER BY {}) AS place"
#: What it is about: the case, and how often EXPLAIN says that Arrow reads a table.
_QUERIES = {
    "top": (
        Case(
            _TABLES,
            "id BIGINT, k STRING, v INT",
            f"""SELECT id, k, v FROM (SELECT *, {_NUMBER.format("v DESC, id")} FROM c WHERE d IS NOT NULL)
        WHERE place <= 3""",
            CHANGES,
        ),
        1,
    ),
    "first by time": (
        Case(
            _TABLES,
            "id BIGINT, k STRING, ts TIMESTAMP_LTZ(3)",
            f"SELECT id, k, ts FROM (SELECT *, {_NUMBER.format('ts')} FROM j) WHERE place = 1",
            CHANGES,
        ),
        1,
    ),
    "over": (
        Case(
            _TABLES,
            "id BIGINT, n BIGINT, t BIGINT",
            """SELECT id, COUNT(*) OVER w, SUM(CAST(v AS BIGINT)) OVER w FROM c
        WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW)""",
        ),
        1,
    ),
    "match": (
        Case(
            _TABLES,
            "k STRING, x BIGINT, y BIGINT",
            """SELECT k, x, y FROM j MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id MEASURES A.id AS x, B.id AS y
        AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE A AS A.v > 1, B AS B.v < 1) AS m""",
        ),
        1,
    ),
    "interval join of two tables": (
        Case(
            _TABLES,
            "x BIGINT, y BIGINT",
            f"""SELECT c.id, j.id FROM c LEFT JOIN j ON c.k = j.k AND j.v = 3 AND j.ts BETWEEN c.ts - {_ONE} AND c.ts
        WHERE c.v <> 2""",
        ),
        2,
    ),
    "join of a table with itself": (
        Case(
            _TABLES,
            "x BIGINT, y BIGINT, k STRING, t TIMESTAMP_LTZ(3)",
            f"SELECT x.id, y.id, x.k, y.ts FROM ({_A}) AS x JOIN ({_B}) AS y ON x.k = y.k AND x.v = y.v",
        ),
        1,
    ),
    "outer join of a table with itself": (
        Case(
            _TABLES,
            "x BIGINT, y BIGINT, n INT",
            f"""SELECT x.id, y.id, y.v FROM ({_A}) AS x LEFT JOIN ({_B}) AS y
        ON x.k = y.k AND y.v > 0 AND y.ts BETWEEN x.ts AND x.ts + {_ONE}""",
        ),
        1,
    ),
    "join with the first rows of another": (
        Case(
            _TABLES,
            "x BIGINT, y BIGINT",
            f"""SELECT x.id, y.id FROM (SELECT * FROM c WHERE v = 3) AS x JOIN (
        SELECT * FROM (SELECT *, {_NUMBER.format("ts")} FROM j) WHERE place = 1) AS y ON x.k = y.k""",
            CHANGES,
        ),
        1,
    ),
}


def _rows(count: int) -> list[dict[str, object]]:
    random, start = Random(11), 1_704_067_200_000
    return [
        {
            "id": i,
            "k": random.choice(["a", "x", "ä€𝄞", "1", None]),
            "v": random.choice([-5, 0, 1, 2, 3]),
            "d": random.choice([0.5, -0.25, 1e300, None]),
            "e": start + i * 40 + random.randrange(1500),
        }
        for i in range(count)
    ]


def _put(folder: Path, rows: list[dict[str, object]]) -> None:
    nested = [{"kind": row["id"] % 2, "ab"[row["id"] % 2]: row} for row in rows]  # type: ignore[operator]
    texts = {
        "csv/a.csv": [",".join("NULL" if v is None else str(v) for v in row.values()) for row in rows],
        "json/a.json": [json.dumps(row) for row in rows],
        "rows/a.json": [json.dumps(row) for row in nested],
    }
    for place, lines in texts.items():
        (folder / place).parent.mkdir()
        (folder / place).write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.sampled
@pytest.mark.parametrize("name", _QUERIES)
def test_both_readers_give_the_same_rows(workspace: Workspace, name: str) -> None:
    _put(workspace.input, _rows(400))
    case, read = _QUERIES[name]
    assert case.run_by("arrow", workspace).count(": Arrow reads") == read
    assert "Arrow reads" not in case.run_by("spark", workspace)
    assert workspace.files("spark")
    assert workspace.files("arrow") == workspace.files("spark")


@pytest.mark.sampled
@pytest.mark.parametrize("table", ["c", "j"])
def test_groups_without_a_window_that_spark_could_keep(workspace: Workspace, table: str) -> None:
    _put(workspace.input, _rows(400))
    query = f"""SELECT k, COUNT(*), SUM(CAST(v AS BIGINT)), AVG(v) FILTER (WHERE v > 0), MAX(ts) FROM {table}
    WHERE v <> 2 AND k IS NOT NULL GROUP BY k HAVING COUNT(*) > 70"""
    columns = "k STRING, n BIGINT, t BIGINT, a DOUBLE, last TIMESTAMP_LTZ(3), PRIMARY KEY (k) NOT ENFORCED"
    case = Case(_TABLES, columns, query, "'connector' = 'delta'")
    for source in ("arrow", "spark"):
        assert ("rows are combined by key" in case.run_by(source, workspace)) == (source == "arrow")
    assert workspace.delta("spark")
    assert workspace.delta("arrow") == workspace.delta("spark")
