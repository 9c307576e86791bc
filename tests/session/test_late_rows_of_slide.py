"""Late rows of SLIDE on Spark: a table takes them, or dead letters do, whichever reader the rows come from."""

from __future__ import annotations

import json

import pytest

from tests.workspace import Workspace

SOURCE = """CREATE TABLE ev (
  k STRING, v INT, note STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'csv', 'sqlext.source' = '{}',
'maxFilesPerTrigger' = '1');"""
SINK = """CREATE TABLE sums (k STRING, e STRING, n BIGINT, v BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}/sums');"""
LATE = """CREATE TABLE late (k STRING, note STRING, `watermark` TIMESTAMP(3))
WITH ('connector' = 'delta', 'path' = '${OUT}/late');"""
LETTERS = """CREATE TABLE letters (cause STRING, code STRING, operator STRING, text STRING)
WITH ('connector' = 'delta', 'path' = '${OUT}/letters');"""
INSERT = """INSERT INTO sums SELECT k, DATE_FORMAT(window_time, 'mm:ss'), COUNT(*), SUM(v)
FROM TABLE(SLIDE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end, window_time HAVING COUNT(*) < 9"""
#: Those of the rows that are not late.
SUMS = [("a", "00:10", "1", "1"), ("a", "00:14", "2", "3"), ("a", "01:00", "1", "8"), ("b", "02:00", "1", "16")]
SUMS += [("b", "02:01", "2", "48")]


@pytest.fixture
def late(workspace: Workspace) -> Workspace:
    """A row whose window is open, and two that no window takes: of a key that is known, and of another."""
    files = (
        ["a,1,one,00:10", "a,2,two,00:14"],
        ["a,8,far,01:00"],
        ["b,16,far,02:00"],
        ["a,4,late,00:12", "c,4,late too,00:13", "b,32,in time,02:01"],
    )
    for number, rows in enumerate(files):
        times = (row.rsplit(",", 1) for row in rows)
        workspace.put(f"{number}.csv", *(f"{row},2024-01-01 00:{time}" for row, time in times))
    return workspace


@pytest.mark.parametrize("reader", ["arrow", "spark"])
def test_a_table_takes_them(late: Workspace, reader: str) -> None:
    late.run(SOURCE.format(reader), SINK, LATE, f"{INSERT} EMIT AFTER WATERMARK LATE DATA TO late;")
    assert late.delta("sums") == SUMS
    # Columns that nobody else reads, and the watermark of the micro-batch before.
    assert late.delta("late") == [
        ("a", "late", "2024-01-01 00:00:55"),
        ("c", "late too", "2024-01-01 00:00:55"),
    ]


def test_they_are_dead_letters(late: Workspace) -> None:
    late.run(SOURCE.format("spark"), SINK, LETTERS, "SET 'sqlext.dead-letters.table' = 'letters';", f"{INSERT};")
    assert late.delta("sums") == SUMS
    found = late.delta("letters")
    assert [row[:3] for row in found] == [("late", "RUN-078", "Slide")] * 2
    assert sorted(json.loads(row[3])["note"] for row in found) == ["late", "late too"]
