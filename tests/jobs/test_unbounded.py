"""Unbounded jobs: until stopped, on a checkpoint."""

from __future__ import annotations

import threading

import pytest

import sqlext
from sqlext import SqlExtError
from tests.workspace import COUNTS, WINDOWED, Workspace

EVENTS = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv', 'source.monitor-interval' = '1 s');
"""
TICKS = """
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'rate', 'rows-per-second' = '50');
CREATE TABLE copies (n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/copies');
"""
COPY = "INSERT INTO copies SELECT n FROM ticks;"


def test_stops_and_resumes(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    script = (EVENTS, COUNTS, WINDOWED)
    query = workspace.run(*script)[-1].query
    assert query.await_termination(0.01) is False
    workspace.until(lambda: query.progress["rows_out"] == 1)
    assert query.is_active
    assert query.progress["status"] == "running"
    assert query.progress["watermark"] == 1704067211000
    with pytest.raises(SqlExtError) as refused:
        workspace.run(*script)
    assert refused.value.code == "RUN-022"
    query.stop()
    assert not query.is_active
    assert query.await_termination(0) is True
    assert (query.exception, query.progress["status"]) == (None, "stopped")
    assert workspace.queries()["sql.counts"]["status"] == "stopped"
    workspace.put("b.csv", "a,7,14", "a,1,40")
    again = workspace.run(*script)[-1].query
    workspace.until(lambda: again.progress["rows_out"] == 2)
    assert again.progress["rows_in"] == 2
    again.stop()
    assert [(k, n, s) for k, _, n, s in workspace.delta()] == [("a", "1", "1"), ("a", "2", "9"), ("b", "1", "3")]


def test_run_for_and_interval(workspace: Workspace) -> None:
    query = workspace.run(TICKS, COPY, run_for=3000, trigger_interval=500)[-1].query
    assert not query.is_active
    assert query.progress["status"] == "stopped"
    rows = _copied(workspace)
    # A micro-batch that was stopped may have written its rows; it is counted when it is done, after a restart.
    assert query.progress["rows_in"] <= len(rows)
    again = workspace.run(TICKS, COPY, trigger_interval=500)[-1].query
    workspace.until(lambda: again.progress["rows_in"] > len(rows) - query.progress["rows_in"])
    again.stop()
    assert len(_copied(workspace)) > len(rows)


def _copied(workspace: Workspace) -> list[int]:
    """Return all that was copied: no row twice and none left out."""
    rows = sorted(int(n) for (n,) in workspace.delta("copies"))
    assert rows == list(range(len(rows)))
    return rows


def test_ticks_of_our_clock_are_no_rows_of_the_users(workspace: Workspace) -> None:
    script = """
    CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'rate', 'rows-per-second' = '2');
    CREATE TABLE b (n BIGINT) WITH ('connector' = 'blackhole');
    INSERT INTO b SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 1s;
    """
    query = workspace.run(script)[-1].query
    workspace.until(lambda: query.progress["rows_out"] >= 2)
    query.stop()
    (seen,) = query.progress["inputs"]
    assert query.progress["rows_in"] == seen["rows"] > 0


def test_session_stops_what_it_started(workspace: Workspace) -> None:
    session = workspace.session()
    workspace.run(TICKS, "CREATE TABLE b (n BIGINT) WITH ('connector' = 'blackhole');", COPY, session=session)
    other = session.sql("INSERT INTO b SELECT n FROM ticks").query
    assert {q.name for q in session.queries} == {"sql.copies", "sql.b"}
    session.stop()
    assert session.queries == ()
    assert other.progress["status"] == "stopped"


def test_progress_of_long_jobs_is_complete(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(12):
        workspace.put(f"{i:02}.csv", f"a,{i},{i}")
    session = workspace.session()
    # Spark forgets all but its last reports.
    session.spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "2")
    script = """CREATE TABLE t (k STRING, v INT) WITH
    ('connector' = 'spark', 'format' = 'csv', 'path' = '${IN}', 'maxFilesPerTrigger' = '1');
    CREATE TABLE b (k STRING, v INT) WITH ('connector' = 'blackhole');
    INSERT INTO b SELECT k, v FROM t;"""
    progress = workspace.run(script, session=session)[-1].query.progress
    assert (progress["batch"], progress["rows_in"], progress["rows_out"]) == (12, 12, 12)


def test_a_failure_reaches_the_caller(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1", "b,0")
    script = """CREATE TABLE t (k STRING, v INT) WITH
    ('connector' = 'filesystem', 'format' = 'csv', 'path' = '${IN}', 'source.monitor-interval' = '1 s');
    CREATE TABLE b (v BIGINT) WITH ('connector' = 'blackhole');
    INSERT INTO b SELECT 10 DIV v FROM t;"""
    query = workspace.run(script)[-1].query
    with pytest.raises(SqlExtError, match="division by zero") as failed:
        query.await_termination(90)
    assert (failed.value.code, failed.value.line) == ("RUN-040", 4)
    assert query.exception is failed.value
    assert query.progress["status"] == "failed"
    assert workspace.queries()["sql.b"]["status"] == "failed"


def test_a_micro_batch_costs_no_catalog_io(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlext_catalog.store import CatalogStore

    calls: list[str] = []

    def counting(name: str) -> None:
        original = getattr(CatalogStore, name)

        def counted(self: CatalogStore, *arguments: object, **named: object) -> object:
            calls.append(name)
            return original(self, *arguments, **named)

        monkeypatch.setattr(CatalogStore, name, counted)

    workspace.put("0.csv", "a,0,0")
    session = workspace.session()
    query = workspace.run(EVENTS, COUNTS, WINDOWED, session=session)[-1].query
    workspace.until(lambda: query.progress["batch"] >= 1)
    counting("snapshot")
    counting("commit")
    counting("_load")
    for i in range(1, 4):
        workspace.put(f"{i}.csv", f"a,{i},{i * 20}")
        workspace.until(lambda rows=i + 1: query.progress["rows_in"] == rows)
    assert calls == []
    query.stop()
    assert calls.count("commit") == 1


def test_two_sessions_at_the_same_time(workspace: Workspace) -> None:
    """Same table names, other meaning, other zone: each has its own."""
    workspace.put("a.csv", "x,1,1", "y,2,2")
    errors: list[Exception] = []
    outcomes: dict[str, list[tuple[object, ...]]] = {}

    def work(zone: str, offset: int) -> None:
        try:
            session = sqlext.connect(workspace.spark, catalog=workspace.folder / f"catalog{offset}")
            script = f"""SET 'table.local-time-zone' = '{zone}';
            CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), o AS v + {offset})
            WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '${{IN}}');
            CREATE TABLE s (k STRING, o INT, at STRING) WITH ('connector' = 'delta', 'path' = '${{OUT}}/s{offset}');
            INSERT INTO s SELECT k, o, CAST(CAST(TIMESTAMP '2024-01-01 00:00:00' AS TIMESTAMP_LTZ(3)) AS STRING) FROM t;
            SELECT k, o FROM t;"""
            for _ in range(2):
                results = session.run(script, variables=workspace.variables)
            outcomes[zone] = sorted(results[-1].rows)
        except Exception as error:  # noqa: BLE001 - told in the main thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=a) for a in (("UTC", 100), ("Asia/Tokyo", 200))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert outcomes == {"UTC": [("x", 101), ("y", 102)], "Asia/Tokyo": [("x", 201), ("y", 202)]}
    assert len(workspace.delta("s100")) == len(workspace.delta("s200")) == 4
