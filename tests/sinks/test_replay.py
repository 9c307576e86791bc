"""REPLAY: dead letters come back into the query that met them, corrected, once."""

from __future__ import annotations

import json

import pytest

from sqlext import SqlExtError
from tests.workspace import Workspace

LETTERS = """
CREATE TABLE letters (
  letter STRING, query_name STRING, cause STRING, code STRING, source STRING, place STRING, text STRING, batch BIGINT
) WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
SET 'sqlext.dead-letters.table' = 'letters';
SET 'sqlext.bounded' = 'catch-up';
"""
RAW = """
CREATE TABLE raw (k STRING NOT NULL, v STRING, at TIMESTAMP(6)) WITH
('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
CREATE TABLE clean (k STRING, v INT NOT NULL, at TIMESTAMP(6)) WITH ('connector' = 'delta', 'path' = '${OUT}/clean');
"""
INSERT = "INSERT INTO clean SELECT k, CAST(NULLIF(v, '') AS INT), at FROM raw;"
AT = "2024-01-01 00:00:00.123456"


def causes(workspace: Workspace) -> list[tuple[str, ...]]:
    """Return cause and batch of the dead letters."""
    return sorted((row[2], row[7]) for row in workspace.delta("letters"))


def test_a_query_by_row_takes_corrected_rows_once(workspace: Workspace) -> None:
    workspace.put("0.csv", f"a,1,{AT}", f"b,x,{AT}", f"c,y,{AT}", "no row", f"d,,{AT}")
    workspace.run(LETTERS, RAW, INSERT)
    assert workspace.delta("clean") == [("a", "1", AT)]
    replays = """
    REPLAY letters WHERE cause = 'expression' AND text LIKE '%"x"%' SET v = 2;
    REPLAY letters WHERE cause = 'expression' SET v = CASE WHEN v = 'y' THEN 'z' ELSE '0' END;
    REPLAY letters WHERE cause = 'decode' SET k = UPPER(text), v = '4';
    """
    session = workspace.session()
    found = workspace.run(LETTERS, RAW, replays, session=session)[-3:]
    source = "default_catalog.default_database.raw"
    assert [r.rows for r in found] == [
        [("sql.clean", source, 1, 1, 0)],
        [("sql.clean", source, 2, 1, 1)],
        [("sql.clean", source, 3, 1, 0)],
    ]
    assert found[0].notices == ("Query `sql.clean` does not run: it takes them when it is started again.",)
    for where, said in (
        ("", "the rows of cause 'sink' (1) are none of the table"),
        ("WHERE cause = 'decode'", "the rows of cause 'decode' (1) have no columns yet"),
        ("WHERE cause = 'decode' SET v = '4'", "k would be NULL, and is NOT NULL in"),
    ):
        with pytest.raises(SqlExtError) as refused:
            session.sql(f"REPLAY letters {where}")
        assert refused.value.code == "RUN-086"
        assert said in refused.value.message
    query = workspace.run(LETTERS, RAW, INSERT)[-1].query
    # The one that became `z` fails again, and is another dead letter.
    assert workspace.delta("clean") == [("NO ROW", "4", "None"), ("a", "1", AT), ("b", "2", AT)]
    assert query.progress["dead_letters"] == 1
    first, second = "0", "1"
    assert causes(workspace) == [
        ("decode", first),
        *[("expression", first)] * 2,
        ("expression", second),
        *[("replayed", second)] * 3,
        ("sink", first),
    ]
    names = {row[0]: row[2] for row in workspace.delta("letters") if row[2] != "replayed"}
    marks = [row for row in workspace.delta("letters") if row[2] == "replayed"]
    assert len(names) == 5
    assert sorted((names[m[0]], m[3], m[5]) for m in marks) == [
        ("decode", "RUN-066", "replay 3"),
        ("expression", "RUN-046", "replay 1"),
        ("expression", "RUN-046", "replay 2"),
    ]
    assert {"k": "b", "v": "2", "at": "2024-01-01T00:00:00.123456"} in [json.loads(m[6]) for m in marks]


def test_rows_of_views_come_back_as_rows_of_the_table(workspace: Workspace) -> None:
    """Whichever step fails: what comes back is the row of the table, and it goes through all steps again."""
    views = """
    CREATE TEMPORARY VIEW trimmed AS SELECT k, TRIM(v) AS w, at FROM raw WHERE k <> 'skip';
    CREATE TEMPORARY VIEW typed AS SELECT k, CAST(w AS INT) AS n, at FROM trimmed;
    """
    insert = "INSERT INTO clean SELECT k, 100 / n, at FROM typed AS y WHERE n < 90;"
    workspace.put("0.csv", f"a, 4 ,{AT}", f"b,x,{AT}", f"c,0,{AT}", f"d,95,{AT}", f"skip,y,{AT}")
    workspace.run(LETTERS, RAW, views, insert)
    assert workspace.delta("clean") == [("a", "25", AT)]
    found = sorted((row[3], json.loads(row[6])["v"]) for row in workspace.delta("letters"))
    assert found == [("RUN-040", "0"), ("RUN-046", "x")]
    replay = "REPLAY letters WHERE cause = 'expression' SET v = IF(v = 'x', ' 5', ' 50 ');"
    workspace.run(LETTERS, RAW, views, replay)
    workspace.run(LETTERS, RAW, views, insert)
    assert workspace.delta("clean") == [("a", "25", AT), ("b", "20", AT), ("c", "2", AT)]
    assert [cause for cause, _ in causes(workspace)] == ["expression", "expression", "replayed", "replayed"]


@pytest.mark.sampled
def test_windows_judge_a_row_as_one_that_comes_now(workspace: Workspace) -> None:
    events = """
    CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
    WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv', 'maxFilesPerTrigger' = '1');
    CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
    """
    insert = """
    INSERT INTO counts SELECT k, window_start, COUNT(*)
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
    """
    workspace.put("0.csv", "a,1,1", "a,2,35")
    workspace.put("1.csv", "a,3,36")
    workspace.put("2.csv", "a,4,2", "b,5,3", "a,x,2024-01-01 00:00:36.000")
    workspace.run(LETTERS, events, insert)
    late = """
    REPLAY letters WHERE cause = 'late' AND text LIKE '%"b"%';
    REPLAY letters WHERE cause = 'late' SET ts = TIMESTAMP '2024-01-01 00:00:37';
    REPLAY letters WHERE cause = 'decode' SET k = split(text, ',')[0], v = 0, ts = TIMESTAMP '2024-01-01 00:00:38';
    """
    workspace.run(LETTERS, events, late)
    workspace.put("3.csv", "a,6,59")
    workspace.run(LETTERS, events, insert)
    workspace.put("4.csv", "a,7,59")
    workspace.run(LETTERS, events, insert)
    # Of the window of second 30: two as they came, one that was late, one that could not be decoded.
    assert workspace.delta("counts") == [("a", "2024-01-01 00:00:00", "1"), ("a", "2024-01-01 00:00:30", "4")]
    assert [cause for cause, _ in causes(workspace)] == ["decode", "late", "late", "late", *["replayed"] * 3]
