"""kill -9 within a micro-batch of a job that keeps its bad rows and its late ones: each is in its table once."""

from __future__ import annotations

import pytest

from tests.workspace import Workspace

SCRIPT = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv', 'maxFilesPerTrigger' = '1',
  'sqlext.bad-rows' = 'broken');
CREATE TABLE broken (text STRING, source STRING, place STRING, reason STRING)
WITH ('connector' = 'delta', 'path' = '${OUT}/broken');
CREATE TABLE late (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/late');
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
INSERT INTO counts SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK LATE DATA TO late;
"""
#: A file is a micro-batch. The third closes the first window; the fourth has a row for each of the three tables.
INPUT = (
    ("a,1,1", "a,x,2024-01-01 00:00:04.000", "a,2,5"),
    ("a,3,30", "b,1"),
    ("a,4,31", "c,9,never"),
    ("a,5,2", "b,6,44", "b,7,9", "b,,,,", "b,y,2024-01-01 00:00:45.000"),
    ("b,8,3", "no row at all"),
)
FIELDS, FITS = "it has not 3 fields", "a value does not fit its column: "
#: (file, line, text, what is wrong with it)
BROKEN = (
    (0, 2, "a,x,2024-01-01 00:00:04.000", f"{FITS}v"),
    (1, 2, "b,1", FIELDS),
    (2, 2, "c,9,never", f"{FITS}ts"),
    (3, 4, "b,,,,", FIELDS),
    (3, 5, "b,y,2024-01-01 00:00:45.000", f"{FITS}v"),
    (4, 2, "no row at all", FIELDS),
)
#: How many tables a micro-batch writes beside that of its rows.
SIDES = 2


def place_in(batch: int, side: int) -> str:
    """Return the moment before a table beside the query's own is written; both count from 1."""
    return f"between-sinks:{SIDES * (batch - 1) + side}"


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize(
    "moment",
    # Between each two of the tables of one batch, after all of them, and in the first batch.
    [place_in(4, 2), place_in(4, 1), "after-commit:4", place_in(1, 2)],
)
def test_killed_and_restarted(workspace: Workspace, moment: str) -> None:
    for i, rows in enumerate(INPUT):
        workspace.put(f"{i}.csv", *rows)
    workspace.killed(SCRIPT, moment, seconds=400)
    workspace.run(SCRIPT)
    source = "default_catalog.default_database.events"
    expected = [(text, source, f"{workspace.input}/{i}.csv:{line}", reason) for i, line, text, reason in BROKEN]
    assert workspace.delta("broken") == sorted(expected)
    assert workspace.delta("late") == [("a", "5"), ("b", "7"), ("b", "8")]
    assert workspace.delta("counts") == [
        ("a", "2024-01-01 00:00:00", "2"),
        ("a", "2024-01-01 00:00:30", "2"),
        ("b", "2024-01-01 00:00:40", "1"),
    ]
