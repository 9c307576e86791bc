"""Several panes of a key and window, on their way into each kind of sink."""

from __future__ import annotations

import pytest

from tests.workspace import Workspace

EVENTS = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'spark', 'format' = 'csv', 'path' = '${IN}', 'maxFilesPerTrigger' = '1');
"""
WINDOWED = """
SELECT k, window_start, SUM(v){more} FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end EMIT {emit}"""
EARLY = "AFTER WATERMARK EARLY EVERY ROW"
FINAL = [("a", "2024-01-01 00:00:00", "3"), ("a", "2024-01-01 00:00:30", "7"), ("b", "2024-01-01 00:00:00", "1")]


@pytest.fixture
def events(workspace: Workspace) -> Workspace:
    """Four micro-batches; the watermark passes the first window in the last one."""
    workspace.put("0.csv", "a,1,1", "b,1,2")
    workspace.put("1.csv", "a,2,5")
    workspace.put("2.csv", "a,3,31")
    workspace.put("3.csv", "a,4,32")
    return workspace


def sink(connector: str, more: str = "", name: str = "panes") -> str:
    return f"CREATE TABLE {name} (k STRING, w TIMESTAMP(3), s BIGINT{more}) WITH ({connector});"


DELTA = "'connector' = 'delta', 'path' = '${OUT}/panes'"
FILES = "'connector' = 'filesystem', 'path' = '${OUT}/panes', 'format' = 'csv'"
KEY = ", PRIMARY KEY (k, w) NOT ENFORCED"


@pytest.mark.parametrize(("key", "mode"), [(KEY, ""), ("", ""), ("", " RETRACTING"), (KEY, " RETRACTING")])
def test_a_delta_table_holds_the_last_pane(events: Workspace, key: str, mode: str) -> None:
    events.run(EVENTS, sink(DELTA, key), "INSERT INTO panes", WINDOWED.format(more="", emit=EARLY + mode))
    assert events.delta("panes") == FINAL


def test_the_final_state_of_a_bounded_job(events: Workspace) -> None:
    final = "SET 'sqlext.sink.updates' = 'final-state';"
    events.run(EVENTS, sink(FILES), final, "INSERT INTO panes", WINDOWED.format(more="", emit=EARLY))
    assert [line.split(",")[::2] for line in events.files("panes")] == [["a", "3"], ["a", "7"], ["b", "1"]]


def test_panes_with_their_number_are_rows_of_their_own(events: Workspace) -> None:
    query = WINDOWED.format(more=", PANE_INDEX()", emit=f"{EARLY} DISCARDING")
    events.run(EVENTS, sink(FILES, ", pane INT"), "INSERT INTO panes", query)
    found = [tuple(line.split(",")[i] for i in (0, 2, 3)) for line in events.files("panes")]
    assert found == [("a", "1", "0"), ("a", "2", "1"), ("a", "3", "0"), ("a", "4", "1"), ("b", "1", "0")]


def test_a_changelog_as_rows(events: Workspace) -> None:
    query = WINDOWED.format(more=", ROW_KIND()", emit=f"CHANGELOG {EARLY}")
    events.run(EVENTS, sink(DELTA, ", kind STRING"), "INSERT INTO panes", query)
    assert sorted((row[0], row[2], row[3]) for row in events.delta("panes")) == [
        ("a", "1", "+I"),
        ("a", "1", "-U"),
        ("a", "3", "+I"),
        ("a", "3", "+U"),
        ("a", "3", "-U"),
        ("a", "7", "+U"),
        ("b", "1", "+I"),
    ]


def test_print_shows_what_each_row_does(events: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    query = WINDOWED.format(more="", emit=f"CHANGELOG {EARLY}")
    events.run(EVENTS, sink("'connector' = 'print'"), "INSERT INTO panes", query)
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if "a, 2024-01-01T00:00," in line] == [
        "+I[a, 2024-01-01T00:00, 1]",
        "-U[a, 2024-01-01T00:00, 1]",
        "+U[a, 2024-01-01T00:00, 3]",
    ]
    assert [line for line in printed if "T00:00:30" in line] == [
        "+I[a, 2024-01-01T00:00:30, 3]",
        "-U[a, 2024-01-01T00:00:30, 3]",
        "+U[a, 2024-01-01T00:00:30, 7]",
    ]
    assert len(printed) == 7


def test_print_of_panes(events: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    query = WINDOWED.format(more="", emit=f"{EARLY} DISCARDING")
    events.run(EVENTS, sink("'connector' = 'print'"), "INSERT INTO panes", query)
    printed = capsys.readouterr().out.splitlines()
    assert [line[-3:] for line in printed if line.startswith("+I[a")] == [" 1]", " 2]", " 3]", " 4]"]
    assert len(printed) == 5


@pytest.mark.parametrize("mode", ["", " RETRACTING"])
def test_select_shows_every_pane(events: Workspace, mode: str) -> None:
    result = events.run(EVENTS, WINDOWED.format(more="", emit=EARLY + mode) + ";")[-1]
    assert result.columns == ("k", "window_start", "EXPR$2")
    again = [] if mode else [3, 7]  # equal rows are not written where they would be taken back
    assert sorted(s for k, _, s in result.rows if k == "a") == sorted([1, 3, 3, 7, *again])


def test_select_of_a_grouping_without_window(events: Workspace) -> None:
    query = "SELECT k, SUM(v) FROM events GROUP BY k"
    assert sorted(events.run(EVENTS, f"{query};")[-1].rows) == [("a", 10), ("b", 1)]
    assert sorted(events.run(EVENTS, f"{query} EMIT CHANGES;")[-1].rows) == [
        ("a", 1),
        ("a", 3),
        ("a", 6),
        ("a", 10),
        ("b", 1),
    ]


SESSIONS = """
SELECT k, window_start, window_end, SUM(v)
FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY ROW"""


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (k, w) NOT ENFORCED", ", PRIMARY KEY (k, w, e) NOT ENFORCED"])
def test_sessions_that_were_merged_away_leave_no_row(workspace: Workspace, key: str) -> None:
    workspace.put("0.csv", "a,1,1", "b,1,2")
    workspace.put("1.csv", "a,2,15")
    workspace.put("2.csv", "a,3,8")
    table = f"""CREATE TABLE panes (k STRING, w TIMESTAMP(3), e TIMESTAMP(3), s BIGINT{key}) WITH ({DELTA});"""
    workspace.run(EVENTS, table, f"INSERT INTO panes {SESSIONS};")
    assert workspace.delta("panes") == [
        ("a", "2024-01-01 00:00:01", "2024-01-01 00:00:25", "6"),
        ("b", "2024-01-01 00:00:02", "2024-01-01 00:00:12", "1"),
    ]


def test_late_panes_and_a_late_table(events: Workspace) -> None:
    """The first window takes rows until second 20; then they are late."""
    events.put("4.csv", "a,5,3", "b,6,33")
    late = """CREATE TABLE late (k STRING, v INT, `watermark` TIMESTAMP(3))
      WITH ('connector' = 'delta', 'path' = '${OUT}/late');"""
    emit = f"{EARLY} LATE EVERY ROW ALLOW LATENESS INTERVAL '10' SECOND LATE DATA TO late"
    query = events.run(EVENTS, sink(DELTA, KEY), late, "INSERT INTO panes", WINDOWED.format(more="", emit=emit))[
        -1
    ].query
    assert events.delta("late") == [("a", "5", "2024-01-01 00:00:29")]
    assert events.delta("panes") == [*FINAL, ("b", "2024-01-01 00:00:30", "6")]
    assert (query.progress["rows_late"], query.progress["rows_dropped"]) == (1, 0)
