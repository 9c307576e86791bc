"""kill -9 of a driver in the middle of a job, and a restart: the rows of an undisturbed run, each once."""

from __future__ import annotations

import random

import pytest

from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

#: Every kind of sink in one job: Delta by append and by MERGE, files, the final state in files, and a static query.
SCRIPT = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'spark', 'format' = 'csv', 'path' = '${IN}', 'maxFilesPerTrigger' = '1');
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
CREATE TABLE totals (k STRING, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/totals');
CREATE TABLE lines (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/lines', 'format' = 'csv');
CREATE TABLE final (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/final', 'format' = 'csv');
CREATE TABLE fixed (k STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/fixed');
SET 'sqlext.sink.updates' = 'final-state';
EXECUTE STATEMENT SET BEGIN
  INSERT INTO counts SELECT k, window_start, COUNT(*)
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
  INSERT INTO totals SELECT k, SUM(v) FROM events GROUP BY k;
  INSERT INTO lines SELECT k, v FROM events;
  INSERT INTO final SELECT k, COUNT(*) FROM events GROUP BY k;
  INSERT INTO fixed VALUES ('one'), ('two');
END;
"""
FILES = (("a,1,1", "b,2,2"), ("a,3,12", "b,4,13"), ("a,5,31",))
#: The four streams have twelve batches of data: the sink's commit is hit in some of them.
BATCHES = random.Random(20240101).sample(range(1, 13), 2)
MOMENTS = [
    "begin:2",
    f"before-commit:{BATCHES[0]}",
    f"after-commit:{BATCHES[1]}",
    "heartbeat:1",
    "before-finish:2",
    "after-finish:3",
    "between-finish:2",
]


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_and_restarted(workspace: Workspace, moment: str) -> None:
    for i, rows in enumerate(FILES):
        workspace.put(f"{i}.csv", *rows)
    workspace.killed(SCRIPT, moment)
    assert {q["status"] for q in workspace.queries().values()} <= {"running"}
    workspace.run(SCRIPT)
    assert workspace.delta("counts") == [
        ("a", "2024-01-01 00:00:00", "1"),
        ("a", "2024-01-01 00:00:10", "1"),
        ("a", "2024-01-01 00:00:30", "1"),
        ("b", "2024-01-01 00:00:00", "1"),
        ("b", "2024-01-01 00:00:10", "1"),
    ]
    assert workspace.delta("totals") == [("a", "9"), ("b", "6")]
    assert workspace.files("lines") == ["a,1", "a,3", "a,5", "b,2", "b,4"]
    assert workspace.files("final") == ["a,3", "b,2"]
    assert workspace.delta("fixed") == [("one",), ("two",)]
    assert {q["status"] for q in workspace.queries().values()} == {"finished"}


@pytest.mark.slow
def test_unbounded_killed_and_restarted(workspace: Workspace) -> None:
    """Killed when the first window had been written, and Spark did not know."""
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    events = EVENTS.replace("'csv')", "'csv', 'source.monitor-interval' = '1 s')")
    script = "\n".join((events, COUNTS, WINDOWED))
    workspace.killed(script, "after-commit:2")
    assert workspace.queries()["sql.counts"]["status"] == "running"
    assert len(workspace.delta()) == 1
    query = workspace.run(script)[-1].query
    workspace.put("b.csv", "a,7,14", "a,1,40")
    workspace.until(lambda: len(workspace.delta()) == 3)
    query.stop()
    assert workspace.delta() == [
        ("a", "2024-01-01 00:00:00", "1", "1"),
        ("a", "2024-01-01 00:00:10", "2", "9"),
        ("b", "2024-01-01 00:00:10", "1", "3"),
    ]


_UPDATED = """
CREATE TABLE totals (k STRING, w TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, w) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/totals');
CREATE TABLE panes (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/panes');
EXECUTE STATEMENT SET BEGIN
  INSERT INTO totals SELECT k, window_start, COUNT(*)
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
    EMIT AFTER WATERMARK EARLY EVERY ROW;
  INSERT INTO panes SELECT k, v FROM events;
END;
"""


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("moment", ["before-small-commit", "after-small-commit"])
@pytest.mark.parametrize("nth", [1, 4])
def test_killed_around_a_commit_in_the_driver(workspace: Workspace, moment: str, nth: int) -> None:
    """Of a stream by key and one that appends; the second start commits by Spark."""
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    events = EVENTS.replace("'csv')", "'csv', 'source.monitor-interval' = '1 s', 'maxFilesPerTrigger' = '1')")
    workspace.put("b.csv", "a,7,14", "b,1,15")
    workspace.put("c.csv", "a,8,16")
    script = events + _UPDATED
    workspace.killed(script, f"{moment}:{nth}")
    query = workspace.run("SET 'sqlext.sink.local-rows' = '0';", script)[-1].query
    query.process_available()
    query.stop()
    assert [(k, w[-2:], n) for k, w, n in workspace.delta("totals")] == [
        ("a", "00", "1"),
        ("a", "10", "3"),
        ("b", "10", "2"),
    ]
    assert workspace.delta("panes") == [("a", "1"), ("a", "2"), ("a", "7"), ("a", "8"), ("b", "1"), ("b", "3")]
