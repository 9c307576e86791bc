"""Materialized views: a Delta table kept by a query of its name, until both are dropped."""

from __future__ import annotations

from tests.workspace import EVENTS, Workspace

VIEW = "CREATE MATERIALIZED VIEW totals AS SELECT k, SUM(v) AS s FROM events GROUP BY k;"
READ = "SET 'execution.runtime-mode' = 'batch'; SELECT * FROM totals;"
ENDLESS = EVENTS.replace("'csv')", "'csv', 'source.monitor-interval' = '100 ms')")
WINDOWS = """CREATE MATERIALIZED VIEW totals (k, w, n) AS SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
EMIT ON WINDOW CLOSE;"""


def rows(workspace: Workspace, *script: str) -> list[tuple[str, ...]]:
    """Run a script and return the view's rows, sorted."""
    return sorted(tuple(map(str, row)) for row in workspace.run(*script, READ)[-1].rows)


def tables(workspace: Workspace) -> list[str]:
    """Return the folders of rows in the catalog's."""
    return sorted(p.name.rpartition("-")[0] for p in (workspace.folder / "catalog" / "tables").glob("*"))


def test_a_view_is_filled_once_and_dropped_with_its_rows(workspace: Workspace) -> None:
    workspace.put("0.csv", "a,1,0", "b,2,1", "a,3,2")
    assert rows(workspace, EVENTS, VIEW) == [("a", "4"), ("b", "2")]
    described = workspace.session().sql("DESCRIBE totals").rows
    assert [(r[0], r[1], r[3]) for r in described] == [("k", "STRING", "PRI(k)"), ("s", "BIGINT", None)]
    assert (workspace.queries()["totals"]["status"], tables(workspace)) == (
        "finished",
        ["default_catalog-default_database-totals"],
    )
    # The script again: its query has ended, and its rows are there once.
    assert rows(workspace, EVENTS, VIEW) == [("a", "4"), ("b", "2")]
    workspace.put("1.csv", "a,5,3")
    replaced = VIEW.replace("CREATE", "CREATE OR REPLACE")
    assert rows(workspace, EVENTS, replaced) == [("a", "9"), ("b", "2")]
    workspace.run("DROP MATERIALIZED VIEW totals;")
    assert (workspace.queries(), tables(workspace)) == ({}, [])
    assert workspace.session().sql("SHOW TABLES").rows == [("events",)]
    assert rows(workspace, EVENTS, VIEW) == [("a", "9"), ("b", "2")]


def test_a_running_view_goes_on_and_is_stopped_by_drop(workspace: Workspace) -> None:
    workspace.put("0.csv", "a,1,0")
    session = workspace.session()
    workspace.run(ENDLESS, VIEW, session=session)
    workspace.until(lambda: rows(workspace) == [("a", "1")])
    # IF NOT EXISTS leaves a query alone that runs; a new session goes on from its state.
    workspace.run(VIEW.replace("VIEW", "VIEW IF NOT EXISTS"), session=session)
    assert [q.name for q in session.queries] == ["totals"]
    session.stop()
    workspace.put("1.csv", "a,2,1", "c,7,1")
    later = workspace.session()
    workspace.run(ENDLESS, VIEW, session=later)
    workspace.until(lambda: rows(workspace) == [("a", "3"), ("c", "7")])
    workspace.run("DROP MATERIALIZED VIEW totals;", session=later)
    assert (later.queries, workspace.queries(), tables(workspace)) == ((), {}, [])


def test_windows_names_and_a_place_of_its_own(workspace: Workspace) -> None:
    workspace.put("0.csv", "a,1,0", "b,2,1", "a,3,12")
    placed = WINDOWS.replace(" AS SELECT", " WITH ('path' = '${OUT}/totals') AS SELECT")
    workspace.run(EVENTS, placed)
    day = "2024-01-01 00:00:"
    expected = [("a", f"{day}00", "1"), ("a", f"{day}10", "1"), ("b", f"{day}00", "1")]
    assert workspace.delta("totals") == expected
    workspace.run("DROP MATERIALIZED VIEW totals;")
    assert workspace.delta("totals") == expected, "rows elsewhere are the user's"


def test_in_batch_mode_it_is_written_anew(workspace: Workspace) -> None:
    batch = "SET 'execution.runtime-mode' = 'batch';"
    workspace.put("0.csv", "a,1,0")
    assert rows(workspace, EVENTS, batch, VIEW) == [("a", "1")]
    workspace.put("1.csv", "a,1,0", "b,1,0")
    assert rows(workspace, EVENTS, batch, VIEW) == [("a", "2"), ("b", "1")]


def test_a_table_of_flink_is_suspended_and_goes_on(workspace: Workspace) -> None:
    workspace.put("0.csv", "a,1,0")
    session = workspace.session()
    table = VIEW.replace("VIEW totals", "TABLE totals FRESHNESS = INTERVAL '3' SECOND")
    workspace.run(ENDLESS, table, session=session)
    workspace.until(lambda: rows(workspace) == [("a", "1")])
    workspace.run("ALTER MATERIALIZED TABLE totals SUSPEND;", session=session)
    assert workspace.queries()["totals"]["status"] == "stopped"
    workspace.put("1.csv", "a,2,1")
    workspace.run("ALTER MATERIALIZED TABLE totals RESUME;", session=session)
    workspace.until(lambda: rows(workspace) == [("a", "3")])
    workspace.run("DROP MATERIALIZED TABLE totals;", session=session)
    assert (workspace.queries(), tables(workspace)) == ({}, [])
