"""Relations between windows that hold whatever the rows are."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import sqlext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.session.api import Session

TABLE = """
SET 'sqlext.expressions' = 'flink';
CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' HOUR)
WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json');
CREATE VIEW minutes AS SELECT k, window_time AS t, COUNT(*) AS n, SUM(v) AS total
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end, window_time;
"""
GROUPED = "GROUP BY k, window_start, window_end"
TUMBLE = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE))"
WHOLE = f"SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS total FROM {TUMBLE} {GROUPED}"

EQUAL = {
    "minutes of ten minutes": f"""SELECT k, window_start, window_end, SUM(n) AS n, SUM(total) AS total
        FROM TABLE(TUMBLE(TABLE minutes, DESCRIPTOR(t), INTERVAL '10' MINUTE)) {GROUPED}""",
    "HOP whose slide is its size": WHOLE.replace("TUMBLE(", "HOP(").replace(
        "INTERVAL '10' MINUTE", "INTERVAL '10' MINUTE, INTERVAL '10' MINUTE"
    ),
    "an offset of a whole window": WHOLE.replace("'10' MINUTE", "'10' MINUTE, INTERVAL '0' MINUTE"),
    "the group window": """SELECT k, TUMBLE_START(ts, INTERVAL '10' MINUTE) AS window_start,
        TUMBLE_END(ts, INTERVAL '10' MINUTE) AS window_end, COUNT(*) AS n, SUM(v) AS total
        FROM t GROUP BY k, TUMBLE(ts, INTERVAL '10' MINUTE)""",
    "a union of its parts": WHOLE.replace(
        "TABLE t",
        "TABLE (SELECT * FROM t WHERE v > 4 UNION ALL SELECT * FROM t WHERE NOT v > 4 "
        "UNION ALL SELECT * FROM t WHERE v > 4 IS NULL)",
    ),
    "windows first, groups after": f"""SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS total
        FROM (SELECT * FROM {TUMBLE}) {GROUPED}""",
}


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("windows")
    (folder / "in").mkdir()
    chance = random.Random(7)
    for part in range(3):
        rows = [_row(chance) for _ in range(150)]
        (folder / "in" / f"{part}.json").write_text("".join(json.dumps(r) + "\n" for r in rows))
    made = sqlext.connect(spark, catalog=str(folder / "catalog"))
    made.run(TABLE.format(folder=folder / "in"))
    return made


def _row(chance: random.Random) -> dict[str, Any]:
    millis = chance.randrange(3_600_000)
    minute, rest = divmod(millis, 60_000)
    ts = f"2024-01-01 00:{minute:02d}:{rest // 1000:02d}.{rest % 1000:03d}"
    return {"k": chance.choice(["a", "b", None]), "v": chance.choice([*range(10), None]), "ts": ts}


def rows(session: Session, query: str) -> Counter[tuple[Any, ...]]:
    return Counter(session.sql(query).rows)


@pytest.fixture(scope="module")
def whole(session: Session) -> Counter[tuple[Any, ...]]:
    found = rows(session, WHOLE)
    assert sum(n for row, times in found.items() for n in [row[3] * times]) == 450
    return found


@pytest.mark.parametrize("query", EQUAL.values(), ids=EQUAL)
def test_equal(session: Session, whole: Counter[tuple[Any, ...]], query: str) -> None:
    assert rows(session, query) == whole


def test_a_hop_counts_each_row_as_often_as_it_slides(session: Session) -> None:
    hop = TUMBLE.replace("TUMBLE(", "HOP(").replace("INTERVAL '10'", "INTERVAL '2' MINUTE, INTERVAL '10'")
    found = rows(session, f"SELECT k, window_start, COUNT(*) AS n FROM {hop} {GROUPED}")
    assert sum(row[2] * times for row, times in found.items()) == 450 * 5


def test_a_hop_with_gaps_takes_a_part_of_the_rows(session: Session) -> None:
    gaps = "HOP(ts, INTERVAL '10' MINUTE, INTERVAL '4' MINUTE)"
    found = rows(session, f"SELECT HOP_START{gaps[3:]} AS s, COUNT(*) AS n FROM t GROUP BY {gaps}")
    inside = "SELECT COUNT(*) AS n FROM t WHERE MOD(EXTRACT(MINUTE FROM ts), 10) < 4"
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    try:
        assert sum(row[1] for row in found) == session.sql(inside).rows[0][0]
    finally:
        session.sql("RESET 'execution.runtime-mode'")


def test_a_session_with_a_wide_gap_is_one_window_a_key(session: Session) -> None:
    wide = "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' HOUR))"
    found = rows(session, f"SELECT k, COUNT(*) AS n FROM {wide} {GROUPED}")
    assert len(found) == 3
    assert sum(row[1] for row in found) == 450


@pytest.mark.parametrize("batches", ["all at once", "a file each"])
def test_a_chain_of_windows_below_a_join_is_the_same_where_its_first_are_combined_as_rows_are_read(
    session: Session, batches: str
) -> None:
    """The keys with most rows of every window: Nexmark's fifth query."""
    hop = TUMBLE.replace("TUMBLE(", "HOP(").replace("INTERVAL '10'", "INTERVAL '5' MINUTE, INTERVAL '10'")
    hinted = hop.replace("TABLE t", "TABLE t /*+ OPTIONS('maxFilesPerTrigger' = '1') */")
    source = hop if batches == "all at once" else hinted
    counts = f"SELECT k, COUNT(*) AS n, window_start AS s, window_end AS e FROM {source} {GROUPED}"
    query = f"""SELECT a.k, a.n, a.s FROM ({counts}) a JOIN
        (SELECT MAX(n) AS most, s, e FROM ({counts}) GROUP BY s, e) b
        ON a.s = b.s AND a.e = b.e AND a.n >= b.most"""
    found = {}
    for reader in ("spark", "arrow"):
        session.sql(f"SET 'sqlext.source' = '{reader}'")
        assert ("rows are combined" in session.explain(query)[-1]) == (reader == "arrow")
        found[reader] = rows(session, query)
    session.sql("RESET 'sqlext.source'")
    assert len(found["spark"]) > 10
    assert found["arrow"] == found["spark"]
