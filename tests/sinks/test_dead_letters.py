"""'sqlext.dead-letters.table': rows that a query cannot use are kept with their cause, up to a limit."""

from __future__ import annotations

import json

import pytest

from sqlext import SqlExtError
from tests.workspace import Workspace

LETTERS = """
CREATE TABLE letters (
  query_name STRING, cause STRING, code STRING, operator STRING, source STRING, place STRING, reason STRING,
  text STRING, read_at TIMESTAMP_LTZ(3)
) WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
SET 'sqlext.dead-letters.table' = 'letters';
"""
EVENTS = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv', 'maxFilesPerTrigger' = '1',
  'sqlext.watermark.max-future' = '1 d');
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
"""
INSERT = """
INSERT INTO counts SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
"""
COUNTED = [("a", "2024-01-01 00:00:00", "2"), ("a", "2024-01-01 00:00:30", "2")]
SOURCE = "default_catalog.default_database.events"
BAD_VALUE = "a value does not fit its column: v"
ANY_LINE = "a,x,2024-01-01 00:00:04.000"
MET = "it came when the watermark was at 2024-01-01 00:00:28.000"


@pytest.fixture
def input_(workspace: Workspace) -> Workspace:
    """Four files; rows of the last one meet the watermark of second 28."""
    workspace.put("0.csv", "a,1,1", "a,x,2024-01-01 00:00:04.000", "a,2,5")
    workspace.put("1.csv", "a,3,30")
    workspace.put("2.csv", "a,4,31", "no row at all")
    workspace.put("3.csv", "b,5,2", "c,6,2999-01-01 00:00:00.000")
    return workspace


def test_each_cause_is_kept_in_one_table(input_: Workspace) -> None:
    query = input_.run(EVENTS, LETTERS, INSERT)[-1].query
    assert input_.delta("counts") == COUNTED
    found = [row[1:-1] for row in input_.delta("letters")]
    late = {"k": "b", "v": 5, "ts": "2024-01-01T00:00:02.000"}
    ahead = {"k": "c", "v": 6, "ts": "2999-01-01T00:00:00.000"}
    assert [(*row[:6], row[6] if row[0] == "decode" else json.loads(row[6])) for row in found] == [
        ("decode", "RUN-066", "Scan", SOURCE, f"{input_.input}/0.csv:2", BAD_VALUE, ANY_LINE),
        ("decode", "RUN-066", "Scan", SOURCE, f"{input_.input}/2.csv:2", "it has not 3 fields", "no row at all"),
        ("future", "RUN-079", "Aggregate", SOURCE, "None", "its time is too far ahead of the clock", ahead),
        ("late", "RUN-078", "Aggregate", SOURCE, "None", MET, late),
    ]
    assert {row[0] for row in input_.delta("letters")} == {"sql.counts"}
    progress = query.progress
    counts = ("rows_in", "rows_out", "rows_bad", "rows_late", "dead_letters")
    assert [progress[name] for name in counts] == [8, 2, 2, 2, 4]


def test_a_limit_ends_the_query_and_a_higher_one_lets_it_go_on(input_: Workspace) -> None:
    with pytest.raises(SqlExtError) as failed:
        input_.run(EVENTS, LETTERS, "SET 'sqlext.dead-letters.limit' = '1';", INSERT)
    assert failed.value.code == "RUN-081"
    assert "2 dead letters" in failed.value.message
    assert "'sqlext.dead-letters.limit' = 1" in failed.value.message
    assert len(input_.delta("letters")) == 1
    input_.run(EVENTS, LETTERS, "SET 'sqlext.dead-letters.limit' = '100';", INSERT)
    assert input_.delta("counts") == COUNTED
    assert len(input_.delta("letters")) == 4
