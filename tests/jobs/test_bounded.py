"""Bounded jobs: the whole input to the end of time, or what is new."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';"
ROWS = ("a,1,1", "a,2,12", "b,3,13", "a,5,3")
WINDOWS = [
    ("a", "2024-01-01 00:00:00", "2", "6"),
    ("a", "2024-01-01 00:00:10", "1", "2"),
    ("b", "2024-01-01 00:00:10", "1", "3"),
]
ONE_BY_ONE = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'spark', 'format' = 'csv', 'path' = '${IN}', 'maxFilesPerTrigger' = '1');
"""


def test_last_windows_come_out(workspace: Workspace) -> None:
    workspace.put("a.csv", *ROWS)
    query = workspace.run(EVENTS, COUNTS, WINDOWED)[-1].query
    assert workspace.delta() == WINDOWS
    progress = query.progress
    assert (progress["rows_in"], progress["rows_out"], progress["status"]) == (4, 3, "finished")
    assert (progress["state_rows"], progress["rows_dropped"]) == (0, 0)
    assert not query.is_active
    assert query.exception is None


def test_every_start_takes_the_whole_input(workspace: Workspace) -> None:
    workspace.put("a.csv", *ROWS)
    workspace.run(EVENTS, COUNTS, WINDOWED)
    workspace.run(EVENTS, COUNTS, WINDOWED)
    assert workspace.delta() == sorted(WINDOWS * 2)


def test_sources_in_several_batches_end_after_the_data(workspace: Workspace) -> None:
    for i, row in enumerate(("a,1,1", "a,2,3", "b,3,30", "a,4,31")):
        workspace.put(f"{i}.csv", row)
    query = workspace.run(ONE_BY_ONE, COUNTS, WINDOWED)[-1].query
    assert [(k, n) for k, _, n, _ in workspace.delta()] == [("a", "2"), ("a", "1"), ("b", "1")]
    assert query.progress["rows_in"] == 4
    assert query.progress["batch"] >= 5


def test_a_key_that_is_never_null(workspace: Workspace) -> None:
    # Text of a CSV file is never NULL, and COALESCE is not; in the row that ends the input both are.
    for i, row in enumerate(("a,1,1", "a,2,3", "b,3,30", "a,4,31")):
        workspace.put(f"{i}.csv", row)
    table = EVENTS.replace("v INT,", "v INT, c AS COALESCE(k, '') || '!',").replace(
        "'csv'", "'csv', 'sqlext.source' = 'spark', 'maxFilesPerTrigger' = '1'"
    )
    windowed = WINDOWED.replace("SELECT k,", "SELECT c,").replace("GROUP BY k,", "GROUP BY k, c,")
    query = workspace.run(table, COUNTS, windowed)[-1].query
    assert [(c, n) for c, _, n, _ in workspace.delta()] == [("a!", "2"), ("a!", "1"), ("b!", "1")]
    assert query.progress["batch"] >= 5


def test_delta_source_ends_after_the_data(workspace: Workspace) -> None:
    spark = workspace.spark.newSession()
    place = str(workspace.folder / "source")
    for second in (1, 3, 30):
        one = spark.sql(f"SELECT 'a' AS k, {second} AS v, timestamp_ntz'2024-01-01 00:00:{second:02d}' AS ts")
        one.write.format("delta").mode("append").save(place)
    table = f"""CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'delta', 'path' = '{place}', 'maxFilesPerTrigger' = '1');"""
    query = workspace.run(table, COUNTS, WINDOWED)[-1].query
    assert [(n, s) for _, _, n, s in workspace.delta()] == [("2", "4"), ("1", "30")]
    assert query.progress["rows_in"] == 3


def test_catch_up_leaves_windows_open_and_goes_on(workspace: Workspace) -> None:
    script = (CATCH_UP, EVENTS, COUNTS, WINDOWED)
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    first = workspace.run(*script)[-1].query
    assert workspace.delta() == [("a", "2024-01-01 00:00:00", "1", "1")]
    assert first.progress["state_rows"] == 2
    nothing_new = workspace.run(*script)[-1].query
    assert (nothing_new.progress["rows_in"], nothing_new.progress["rows_out"]) == (0, 0)
    workspace.put("b.csv", "a,7,14", "a,1,40")
    workspace.run(*script)
    assert workspace.delta() == [
        ("a", "2024-01-01 00:00:00", "1", "1"),
        ("a", "2024-01-01 00:00:10", "2", "9"),
        ("b", "2024-01-01 00:00:10", "1", "3"),
    ]
    with pytest.raises(SqlExtError, match="end of input was catch-up, is finish") as refused:
        workspace.run(EVENTS, COUNTS, WINDOWED)
    assert refused.value.code == "RUN-020"


def test_a_finished_run_cannot_go_on_as_catch_up(workspace: Workspace) -> None:
    workspace.put("a.csv", *ROWS)
    workspace.run(EVENTS, COUNTS, WINDOWED)
    with pytest.raises(SqlExtError, match="end of input was finish, is catch-up"):
        workspace.run(CATCH_UP, EVENTS, COUNTS, WINDOWED)


def test_catch_up_has_no_heartbeat_in_its_plan(workspace: Workspace) -> None:
    workspace.put("a.csv", *ROWS)
    session = workspace.session()
    queries = workspace.run(CATCH_UP, EVENTS, COUNTS, WINDOWED, session=session)
    assert queries[-1].query.progress["watermark"] == 1704067203000 + 8000  # 00:00:13 less two seconds
    assert not list(session.folder.rglob("end.txt"))


def test_empty_input(workspace: Workspace) -> None:
    query = workspace.run(EVENTS, COUNTS, WINDOWED)[-1].query
    assert workspace.delta() == []
    assert query.progress["status"] == "finished"


@pytest.mark.parametrize("expressions", ["spark", "flink"])
def test_batch_mode_is_plain_batch(workspace: Workspace, expressions: str) -> None:
    workspace.put("a.csv", *ROWS)
    mode = f"SET 'execution.runtime-mode' = 'batch'; SET 'sqlext.expressions' = '{expressions}';"
    select = "SELECT k, SUM(v) AS s FROM events GROUP BY k ORDER BY k;"
    inserted, selected = workspace.run(mode, EVENTS, COUNTS, WINDOWED, select)[-2:]
    assert not inserted.query.streaming
    assert inserted.query.progress["rows_out"] == 3
    assert workspace.delta() == WINDOWS
    assert (selected.query, selected.rows) == (None, [("a", 8), ("b", 3)])
    assert selected.df.columns == ["k", "s"]


def test_insert_overwrite(workspace: Workspace) -> None:
    workspace.put("a.csv", *ROWS)
    mode = "SET 'execution.runtime-mode' = 'batch';"
    files = (
        "CREATE TABLE f (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/f', 'format' = 'csv');"
    )
    overwrite = WINDOWED.replace("INTO", "OVERWRITE")
    to_files = "INSERT OVERWRITE f SELECT k, SUM(v) FROM events GROUP BY k;"
    for _ in range(2):
        workspace.run(mode, EVENTS, COUNTS, files, overwrite, to_files)
    assert workspace.delta() == WINDOWS
    assert workspace.files("f") == ["a,8", "b,3"]


def test_between_runs_that_catch_up_the_clock_goes_on(workspace: Workspace) -> None:
    """Deadlines of processing time that have passed since the last run fire in the next one."""
    idle = "INSERT INTO idle SELECT k, COUNT(*), PANE_INDEX() FROM events GROUP BY k EMIT AFTER IDLE 1ms DISCARDING;"
    early = WINDOWED.rstrip().rstrip(";") + " EMIT AFTER WATERMARK EARLY EVERY 1ms;"
    tables = (
        EVENTS,
        COUNTS.replace("s BIGINT", "s BIGINT, PRIMARY KEY (k, w) NOT ENFORCED"),
        "CREATE TABLE idle (k STRING, n BIGINT, i BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/idle');",
    )
    statements = (CATCH_UP, *tables, f"EXECUTE STATEMENT SET BEGIN {early} {idle} END;")
    workspace.put("1.csv", "a,1,1", "b,2,2")
    workspace.run(*statements)
    assert (workspace.delta(), workspace.delta("idle")) == ([], [])
    workspace.run(*statements)  # nothing new is there
    assert workspace.delta() == [("a", "2024-01-01 00:00:00", "1", "1"), ("b", "2024-01-01 00:00:00", "1", "2")]
    assert workspace.delta("idle") == [("a", "1", "0"), ("b", "1", "0")]
    workspace.put("2.csv", "a,4,3")
    workspace.run(*statements)
    workspace.run(*statements)
    assert workspace.delta() == [("a", "2024-01-01 00:00:00", "2", "5"), ("b", "2024-01-01 00:00:00", "1", "2")]
    assert workspace.delta("idle") == [("a", "1", "0"), ("a", "1", "1"), ("b", "1", "0")]


def test_windows_of_the_clock_count_changes_when_they_come(workspace: Workspace) -> None:
    """What takes back comes in a window of its own: one with less than nothing gives no row."""
    changes = "(SELECT n, PROCTIME() AS p FROM (SELECT k, COUNT(*) AS n FROM events GROUP BY k))"
    insert = "INSERT INTO {0} SELECT n, COUNT(*) FROM " + changes + " GROUP BY n, {1}(p, INTERVAL '0.001' SECOND);"
    table = "CREATE TABLE {0} (n BIGINT, keys BIGINT) WITH ('connector' = 'delta', 'path' = '${{OUT}}/{0}');"
    made = (("tumbled", "TUMBLE"), ("sessions", "SESSION"))
    inserts = " ".join(insert.format(*each) for each in made)
    tables = " ".join(table.format(name) for name, _ in made)
    statements = (CATCH_UP, EVENTS, tables, f"EXECUTE STATEMENT SET BEGIN {inserts} END;")
    for rows in (("a,1,1", "b,2,2"), (), ("a,4,3",), ()):
        if rows:
            workspace.put(f"{rows[0][0]}{len(rows)}.csv", *rows)
        workspace.run(*statements)
    assert workspace.delta("tumbled") == workspace.delta("sessions") == [("1", "2"), ("2", "1")]
