"""Rowtimes before 1970: a query that is one batch needs no watermark, so none is too early. No Spark is started."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import sqlext

if TYPE_CHECKING:
    from pathlib import Path

    from sqlext.session.api import Session

_ROWS = (
    (1, "a", "1969-12-31 23:58:30"),
    (2, "b", "1969-12-31 23:59:59.999"),
    (3, "a", "1970-01-01 00:00:00"),
    (4, "b", "1970-01-01 00:02:03"),
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder: Path = tmp_path_factory.mktemp("early")
    lines = [json.dumps({"id": id_, "k": k, "ts": ts}) for id_, k, ts in _ROWS]
    (folder / "e.json").write_text("\n".join(lines), encoding="utf-8")
    session = sqlext.connect(catalog=folder / "catalog", settings={"sqlext.engine": "local"})
    session.run(
        f"""CREATE TABLE e (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
        WITH ('connector' = 'filesystem', 'path' = '{folder}/e.json', 'format' = 'json');"""
    )
    return session


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            (
                "SELECT CAST(window_start AS STRING), COUNT(*) FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), "
                "INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"
            ),
            [
                ("1969-12-31 23:58:00", 1),
                ("1969-12-31 23:59:00", 1),
                ("1970-01-01 00:00:00", 1),
                ("1970-01-01 00:02:00", 1),
            ],
        ),
        (
            (
                "SELECT k, CAST(window_end AS STRING) FROM TABLE(SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), "
                "INTERVAL '2' MINUTE)) GROUP BY k, window_start, window_end"
            ),
            [("a", "1970-01-01 00:02:00"), ("b", "1970-01-01 00:01:59.999"), ("b", "1970-01-01 00:04:03")],
        ),
        (
            (
                "SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING "
                "AND CURRENT ROW) FROM e"
            ),
            [(1, 1), (2, 1), (3, 2), (4, 1)],
        ),
        (
            "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) r FROM e) WHERE r = 1",
            [(1,), (2,)],
        ),
        (
            "SELECT a.id, b.id FROM e a JOIN e b ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL '2' MINUTE AND a.ts",
            [(1, 1), (2, 2), (3, 1), (3, 3), (4, 4)],
        ),
        (
            (
                "SELECT first_id, last_id FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts "
                "MEASURES A.id AS first_id, B.id AS last_id PATTERN (A B) DEFINE B AS B.id > A.id)"
            ),
            [(1, 3), (2, 4)],
        ),
    ],
    ids=["tumble", "session", "over", "deduplication", "interval join", "match_recognize"],
)
def test_times_before_1970(session: Session, query: str, rows: list[tuple[object, ...]]) -> None:
    assert sorted(session.sql(query).rows) == rows
