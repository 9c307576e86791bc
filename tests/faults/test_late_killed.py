"""kill -9 around the two commits of a batch with late rows: each row is in its table exactly once."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from sqlext.session.notices import ChangedTimeNotice
from tests.workspace import Workspace

EVENTS = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'spark', 'format' = 'csv', 'path' = '${IN}', 'maxFilesPerTrigger' = '1');
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
"""
INSERT = """
INSERT INTO counts SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK LATE DATA TO late;
"""
DELTA = "'connector' = 'delta', 'path' = '${OUT}/late'"
FILES = "'connector' = 'filesystem', 'path' = '${OUT}/late', 'format' = 'csv'"
INPUT = (("a,1,1", "a,2,5"), ("a,3,30",), ("a,4,31",), ("a,5,2", "b,6,32", "b,7,9"), ("b,8,3",))


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("late", "moment"),
    [
        (DELTA, "between-sinks:4"),
        (FILES, "between-sinks:4"),
        (DELTA, "after-commit:4"),
        (FILES, "after-commit:4"),
        (DELTA, "between-sinks:5"),
    ],
)
def test_killed_and_restarted(workspace: Workspace, late: str, moment: str) -> None:
    for i, rows in enumerate(INPUT):
        workspace.put(f"{i}.csv", *rows)
    script = "\n".join((EVENTS, f"CREATE TABLE late (k STRING, v INT) WITH ({late});", INSERT))
    workspace.killed(script, moment, seconds=400)
    workspace.run(script)
    assert workspace.delta("counts") == [
        ("a", "2024-01-01 00:00:00", "2"),
        ("a", "2024-01-01 00:00:30", "2"),
        ("b", "2024-01-01 00:00:30", "1"),
    ]
    expected = [("a", "5"), ("b", "7"), ("b", "8")]
    if late is DELTA:
        assert workspace.delta("late") == expected
    else:
        assert workspace.files("late") == [",".join(row) for row in expected]


@pytest.mark.slow
@pytest.mark.sampled(8)
def test_declared_otherwise_before_the_batch_has_ended(workspace: Workspace) -> None:
    """Its late rows would be in two tables, so another table must wait; another delay need not: nothing is lost."""
    for i, rows in enumerate(INPUT):
        workspace.put(f"{i}.csv", *rows)
    script = "\n".join((EVENTS, f"CREATE TABLE late (k STRING, v INT) WITH ({DELTA});", INSERT))
    workspace.killed(script, "after-commit:4", seconds=400)
    workspace.session().sql("DROP TABLE late")
    with pytest.raises(SqlExtError, match="may have a micro-batch that was begun and not finished") as refused:
        workspace.run(script.replace("/late'", "/others'"))
    assert refused.value.code == "RUN-026"
    for table in ("late", "events"):
        workspace.session().sql(f"DROP TABLE {table}")
    with pytest.warns(ChangedTimeNotice, match="watermark was ts, 2000 ms behind, is ts, 20000 ms behind"):
        workspace.run(script.replace("INTERVAL '2' SECOND", "INTERVAL '20' SECOND"))
    assert workspace.delta("late") == [("a", "5"), ("b", "7"), ("b", "8")]
    assert workspace.delta("counts") == [
        ("a", "2024-01-01 00:00:00", "2"),
        ("a", "2024-01-01 00:00:30", "2"),
        ("b", "2024-01-01 00:00:30", "1"),
    ]
