"""LATE DATA TO: the original row, the watermark that it met and the query, in the same micro-batch."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from tests.workspace import Workspace

EVENTS = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'spark', 'format' = 'csv', 'path' = '${IN}', 'maxFilesPerTrigger' = '1');
"""
COUNTS = """
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
"""
LATE = """
CREATE TABLE late (ts TIMESTAMP(3), k STRING, v BIGINT, `watermark` TIMESTAMP(3), operator STRING)
WITH ('connector' = 'delta', 'path' = '${OUT}/late');
"""
LATE_FILES = """
CREATE TABLE late (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/late', 'format' = 'csv');
"""
INSERT = """
INSERT INTO counts SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK LATE DATA TO late;
"""
COUNTED = [
    ("a", "2024-01-01 00:00:00", "2"),
    ("a", "2024-01-01 00:00:30", "2"),
    ("b", "2024-01-01 00:00:30", "1"),
]


@pytest.fixture
def late(workspace: Workspace) -> Workspace:
    """Four files; rows of the last one meet the watermark of second 28."""
    workspace.put("0.csv", "a,1,1", "a,2,5")
    workspace.put("1.csv", "a,3,30")
    workspace.put("2.csv", "a,4,31")
    workspace.put("3.csv", "a,5,2", "b,6,32", "b,7,9")
    return workspace


def test_into_delta(late: Workspace) -> None:
    query = late.run(EVENTS, COUNTS, LATE, INSERT)[-1].query
    assert late.delta("counts") == COUNTED
    met = ("2024-01-01 00:00:28", "sql.counts")
    assert late.delta("late") == [("2024-01-01 00:00:02", "a", "5", *met), ("2024-01-01 00:00:09", "b", "7", *met)]
    progress = query.progress
    assert (progress["rows_in"], progress["rows_out"], progress["rows_late"], progress["rows_dropped"]) == (7, 3, 2, 0)


def test_into_files(late: Workspace) -> None:
    late.run(EVENTS, COUNTS, LATE_FILES, INSERT)
    assert late.files("late") == ["a,5", "b,7"]
    assert late.delta("counts") == COUNTED


def test_what_stands_above_does_not_touch_them(late: Workspace) -> None:
    """WHERE, HAVING and expressions that would fail are for the query's own rows."""
    late.run(
        EVENTS,
        COUNTS.replace("n BIGINT", "n BIGINT NOT NULL"),
        LATE,
        """INSERT INTO counts SELECT UPPER(k), w, 10 / n FROM (
          SELECT k, window_start AS w, COUNT(*) AS n, COALESCE(SUM(v), 0) AS s
          FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE v <> 4
          GROUP BY k, window_start, window_end HAVING 1 / COALESCE(SUM(v), 0) < 1
          EMIT AFTER WATERMARK LATE DATA TO late) WHERE n > 1 OR 1 / s < 1;""",
    )
    assert [row[1] for row in late.delta("late")] == ["a", "b"]
    assert late.delta("counts") == [
        ("A", "2024-01-01 00:00:00", "5"),
        ("A", "2024-01-01 00:00:30", "10"),
        ("B", "2024-01-01 00:00:30", "10"),
    ]


def test_select(late: Workspace) -> None:
    result = late.run(EVENTS, LATE, INSERT.replace("INSERT INTO counts ", ""))[-1]
    assert sorted(n for _, _, n in result.rows) == [1, 2, 2]
    assert [row[1] for row in late.delta("late")] == ["a", "b"]


def test_without_a_late_table_they_are_dropped(late: Workspace) -> None:
    query = late.run(EVENTS, COUNTS, INSERT.replace("LATE DATA TO late", "DROP LATE DATA"))[-1].query
    assert late.delta("counts") == COUNTED
    assert (query.progress["rows_late"], query.progress["rows_dropped"]) == (0, 2)


def test_rows_that_came_after_once(workspace: Workspace) -> None:
    for i in range(4):
        workspace.put(f"{i}.csv", f"a,{i},{i}", f"b,{i},{i}")
    workspace.run(
        EVENTS,
        LATE_FILES,
        "CREATE TABLE firsts (k STRING, s BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/firsts');",
        "INSERT INTO firsts SELECT k, SUM(v) FROM events GROUP BY k EMIT ONCE AFTER 3 ROWS LATE DATA TO late;",
    )
    assert workspace.delta("firsts") == [("a", "3"), ("b", "3")]
    assert workspace.files("late") == ["a,3", "b,3"]


def test_a_null_that_the_late_table_cannot_take(late: Workspace) -> None:
    strict = LATE_FILES.replace("v INT", "v INT NOT NULL")
    late.put("4.csv", "a,,2024-01-01 00:00:01.000", "a,9,33")
    with pytest.raises(SqlExtError) as caught:
        late.run(EVENTS, COUNTS, strict, INSERT)
    assert caught.value.code == "RUN-003"


def test_two_queries_one_late_table(late: Workspace) -> None:
    second = "CREATE TABLE sums (k STRING, s BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/sums');"
    sums = INSERT.replace("counts", "sums").replace("window_start, COUNT(*)", "SUM(v)")
    late.run(EVENTS, COUNTS, second, LATE, "EXECUTE STATEMENT SET BEGIN", INSERT, sums, "END;")
    assert [row[1::3] for row in late.delta("late")] == [
        ("a", "sql.counts"),
        ("a", "sql.sums"),
        ("b", "sql.counts"),
        ("b", "sql.sums"),
    ]
    assert late.delta("counts") == COUNTED
