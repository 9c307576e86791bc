"""Late rows of windows that overlap and that SQL makes, on Spark: a row is late when all its windows are over, once."""

from __future__ import annotations

import json

import pytest

from tests.workspace import Workspace

SOURCE = """CREATE TABLE ev (k STRING, v INT, ts {}, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = '{}', 'sqlext.source' = 'spark',
'maxFilesPerTrigger' = '1');"""
SINK = "CREATE TABLE counts (k STRING, s STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');"
LATE = "CREATE TABLE late (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/late');"
OF_KEY = "CASE k WHEN 'a' THEN INTERVAL '0' SECOND ELSE INTERVAL '5' SECOND END"
INSERT = """INSERT INTO counts SELECT k, DATE_FORMAT(window_start, '{}'), COUNT(*) FROM TABLE({})
GROUP BY k, window_start, window_end EMIT {} LATE DATA TO late;"""
#: The watermark that the last file meets is 01:25.
FILES = (("a,1,01:01",), ("a,2,01:30",), ("a,3,01:31",), ("a,4,01:08", "a,5,01:12", "b,6,01:08", "b,7,01:16"))
#: Function -> windows with their counts, and late rows.
OFFSETS = {
    # At 01:12 and 01:16 one window of two is over: the row is in the other, and not late.
    "HOP": (
        [("a", "00:50", "1"), ("a", "01:00", "1"), ("a", "01:10", "1"), ("a", "01:20", "2"), ("a", "01:30", "2"),
         ("b", "01:15", "1")],
        [("a", "4"), ("b", "6")],
    ),
    "CUMULATE": (
        [("a", "01:00", "1"), ("a", "01:00", "1"), ("a", "01:20", "2")],
        [("a", "4"), ("a", "5"), ("b", "6"), ("b", "7")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("function", OFFSETS)
def test_with_an_offset_of_each_key(workspace: Workspace, function: str) -> None:
    for number, rows in enumerate(FILES):
        times = (row.rsplit(",", 1) for row in rows)
        workspace.put(f"{number}.csv", *(f"{row},2024-01-01 00:{time}" for row, time in times))
    windows = f"{function}(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND, {OF_KEY})"
    insert = INSERT.format("mm:ss", windows, "AFTER WATERMARK")
    result = workspace.run(SOURCE.format("TIMESTAMP(3)", "csv"), SINK, LATE, insert)[-1]
    assert (workspace.delta(), workspace.delta("late")) == OFFSETS[function]
    # None is dropped: each late row is in the table.
    assert (result.query.progress["rows_late"], result.query.progress["rows_dropped"]) == (
        len(OFFSETS[function][1]),
        0,
    )


@pytest.mark.parametrize("emit", ["AFTER WATERMARK", "FILL FOR 2d"])
def test_days_of_a_zone_with_summer_time(workspace: Workspace, emit: str) -> None:
    """Clocks are put on on March 31. The last file meets a watermark of April 5."""
    files = (["03-30 12:00"], ["04-05 12:00"], ["04-05 13:00"], ["03-31 12:00", "04-04 12:00"])
    value = 0
    for number, times in enumerate(files):
        rows = [{"k": "a", "v": (value := value + 1), "ts": f"2024-{t}:00Z"} for t in times]
        workspace.put(f"{number}.json", *map(json.dumps, rows))
    insert = INSERT.format("MM-dd", "HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '2' DAY)", emit)
    if "FILL" in emit:
        insert = insert.replace("FILL FOR 2d LATE DATA TO late", "AFTER WATERMARK LATE DATA TO late FILL FOR 2d")
    zone = "SET 'table.local-time-zone' = 'Europe/Berlin';"
    workspace.run(zone, SOURCE.format("TIMESTAMP_LTZ(3)", "json"), SINK, LATE, insert)
    counts = {"03-29": 1, "03-30": 1, "04-04": 3, "04-05": 2}
    filled = {"03-31": 0, "04-01": 0, "04-06": 0, "04-07": 0} if "FILL" in emit else {}
    assert workspace.delta() == sorted(("a", day, str(n)) for day, n in (counts | filled).items())
    assert workspace.delta("late") == [("a", "4")]
