"""Bounded jobs that are one batch without state: their rows, their counts, and that none comes twice."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from pyspark.sql.classic.dataframe import DataFrame

from sqlext.connectors.delta.sink.tables import DeltaSink
from sqlext.errors import SqlExtError
from sqlext.jobs.query import Query
from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

ARROW = "SET 'sqlext.source' = 'arrow';\n"
SCRIPT = ARROW + EVENTS + COUNTS + WINDOWED
ROWS = [
    ("a", "2024-01-01 00:00:00", "2", "4"),
    ("a", "2024-01-01 00:00:10", "1", "5"),
    ("b", "2024-01-01 00:00:00", "1", "2"),
]


@pytest.fixture
def events(workspace: Workspace) -> Workspace:
    """Two files: the second has a row that would be late if the first were a micro-batch of its own."""
    workspace.put("0.csv", "a,1,1", "b,2,2", "a,5,15")
    workspace.put("1.csv", "a,3,3")
    return workspace


def test_rows_and_what_is_counted(events: Workspace) -> None:
    assert "all in one batch without state" in events.run(SCRIPT.replace("INSERT", "EXPLAIN INSERT"))[-1].rows[0][0]
    query = events.run(SCRIPT)[-1].query
    query.await_termination()
    assert events.delta() == ROWS
    progress = query.progress
    assert {k: progress[k] for k in ("batch", "rows_in", "rows_out", "rows_dropped", "status", "streaming")} == {
        "batch": 1,
        "rows_in": 4,
        "rows_out": 3,
        "rows_dropped": 0,
        "status": "finished",
        "streaming": True,
    }
    events.run(SCRIPT)
    assert events.delta() == sorted(2 * ROWS)  # a bounded job that came to its end begins anew


def test_a_select_and_what_is_printed(events: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    select = WINDOWED.replace("INSERT INTO counts", "")
    result = events.run(ARROW, EVENTS, select)[-1]
    result.query.await_termination()
    assert sorted(tuple(map(str, row)) for row in result.rows) == ROWS
    shown = WINDOWED.replace("INTO counts", "INTO shown")
    table = "CREATE TABLE shown (k STRING, w TIMESTAMP(3), n BIGINT, s BIGINT) WITH ('connector' = 'print');"
    query = events.run(ARROW, EVENTS, table, shown)[-1].query
    query.await_termination()
    assert "+I[b, 2024-01-01T00:00, 1, 2]" in capsys.readouterr().out
    assert query.progress["rows_out"] == 3


@pytest.mark.parametrize(
    "options",
    [
        "'connector' = 'delta', 'path' = '${OUT}/there'",
        "'connector' = 'filesystem', 'path' = '${OUT}/there', 'format' = 'parquet'",
        "'connector' = 'filesystem', 'path' = '${OUT}/there', 'format' = 'json', 'sink.parallelism' = '1'",
        "'connector' = 'blackhole'",
    ],
    ids=lambda options: options.split("'")[-2],
)
def test_rows_are_computed_once_and_counted(events: Workspace, monkeypatch: pytest.MonkeyPatch, options: str) -> None:
    """What a sink writes in one job is not kept in memory before that."""

    def persist(self: DataFrame) -> DataFrame:
        raise AssertionError("kept")

    monkeypatch.setattr(DataFrame, "persist", persist)
    table = f"CREATE TABLE there (k STRING, w TIMESTAMP(3), n BIGINT, s BIGINT) WITH ({options});"
    query = events.run(ARROW, EVENTS, table, WINDOWED.replace("INTO counts", "INTO there"))[-1].query
    query.await_termination()
    assert (query.progress["rows_in"], query.progress["rows_out"]) == (4, 3)


def test_a_merge_looks_at_rows_that_are_computed_once(events: Workspace) -> None:
    keyed = COUNTS.replace("s BIGINT)", "s BIGINT, PRIMARY KEY (k, w) NOT ENFORCED)")
    assert keyed != COUNTS
    for _ in range(2):
        query = events.run(ARROW, EVENTS, keyed, WINDOWED)[-1].query
        query.await_termination()
        assert (query.progress["rows_in"], query.progress["rows_out"]) == (4, 3)
        assert events.delta() == ROWS


def test_beside_a_query_that_is_a_stream(events: Workspace) -> None:
    both = f"""CREATE TABLE lines (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${{OUT}}/lines');
    EXECUTE STATEMENT SET BEGIN
      {WINDOWED}
      INSERT INTO lines SELECT k, v FROM events;
      {WINDOWED}
    END;"""
    query = events.run(ARROW, EVENTS, COUNTS, both)[-1].query
    query.await_termination()
    assert events.delta() == sorted(2 * ROWS)
    assert len(events.delta("lines")) == 4
    assert query.progress["rows_in"] == 12


def test_what_is_wrong_with_a_row(events: Workspace) -> None:
    events.put("2.csv", "a,1,")
    with pytest.raises(SqlExtError) as caught:
        events.run(SCRIPT)[-1].query.await_termination()
    assert caught.value.code == "RUN-066"
    assert events.delta() == []
    (events.input / "2.csv").unlink()
    events.run(SCRIPT)[-1].query.await_termination()
    assert events.delta() == ROWS


def test_stopped(events: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    stopping = threading.Event()
    original, original_stop = DeltaSink.write_new, Query.stop

    def stop(self: Query) -> None:
        stopping.set()
        original_stop(self)

    def interrupted(self: DeltaSink, df: object, batch_id: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        assert stopping.wait(60)
        original(self, df, batch_id)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(DeltaSink, "write_new", interrupted)
        patched.setattr(Query, "stop", stop)
        with pytest.raises(KeyboardInterrupt):
            events.run(SCRIPT)
    assert events.queries()["sql.counts"]["status"] == "stopped"
    events.run(SCRIPT)
    assert events.delta() == ROWS


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("moment", ["before-commit:1", "after-commit:1", "before-finish:1", "after-finish:1"])
def test_killed_and_restarted(events: Workspace, moment: str) -> None:
    events.killed(SCRIPT, moment)
    query = events.run(SCRIPT)[-1].query
    query.await_termination()
    assert events.delta() == ROWS
    assert events.queries()["sql.counts"]["status"] == "finished"
