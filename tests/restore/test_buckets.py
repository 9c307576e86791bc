"""A query goes on with another number of buckets: its state is divided anew, and nothing of it is lost."""

from __future__ import annotations

import json

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from tests.workspace import EVENTS, Workspace

SCRIPT = """
CREATE TABLE IF NOT EXISTS totals (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/totals');
SET 'sqlext.bounded' = 'catch-up';
INSERT INTO totals SELECT n || k, COUNT(*) FROM (SELECT k, CAST(COUNT(*) AS STRING) AS n FROM events GROUP BY k)
GROUP BY n || k;
"""
WINDOWS = """
CREATE TABLE IF NOT EXISTS counts (k STRING, w TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, w) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
SET 'pipeline.name' = 'q';
SET 'sqlext.bounded' = 'catch-up';
INSERT INTO counts SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end"""
OURS, SPARKS = f"{WINDOWS} EMIT AFTER WATERMARK EARLY EVERY 99 ROWS;", f"{WINDOWS};"


def in_buckets(number: int) -> str:
    return f"SET 'sqlext.state.buckets' = '{number}';"


def begun_with(workspace: Workspace) -> str:
    (run,) = (workspace.folder / "catalog" / "queries").glob("*/run.json")
    return str(json.loads(run.read_text())["fingerprint"].get("state buckets", ["none"])[0])


def test_operators_one_above_the_other(workspace: Workspace) -> None:
    workspace.put("1.csv", "a,1,1", "b,2,2")
    workspace.run(in_buckets(3), EVENTS, SCRIPT)
    assert begun_with(workspace) == "3"
    workspace.put("2.csv", "a,3,3", "c,4,4")
    # A default asks for nothing.
    workspace.run(EVENTS, SCRIPT)
    assert begun_with(workspace) == "3"
    workspace.put("3.csv", "a,3,5", "d,4,6", "c,4,7")
    (planned,) = workspace.session().plan("\n".join((in_buckets(5), EVENTS, SCRIPT)), workspace.variables).queries
    assert planned.outcome == "goes on"
    told = "state buckets was 3, is 5: its state is divided anew when it starts, and nothing of it is lost"
    assert planned.notes == (told,)
    result = workspace.run(in_buckets(5), EVENTS, SCRIPT)[-1]
    assert [told in notice for notice in result.notices] == [True]
    assert begun_with(workspace) == "5"
    workspace.put("4.csv", "d,4,8", "e,1,9")
    workspace.run(EVENTS, SCRIPT)
    assert begun_with(workspace) == "5"
    assert workspace.delta("totals") == [("1b", "1"), ("1e", "1"), ("2c", "1"), ("2d", "1"), ("3a", "1")]


def test_windows_that_are_open(workspace: Workspace) -> None:
    """They get their pane once, with all rows; the watermark goes on, so what was late before is late again."""
    workspace.put("1.csv", "a,1,1", "b,1,12", "c,1,13", "a,1,14")
    workspace.run(in_buckets(2), EVENTS, OURS)
    assert workspace.delta() == [("a", "2024-01-01 00:00:00", "1")]
    workspace.put("2.csv", "z,1,2", "b,1,15")
    workspace.run(in_buckets(7), EVENTS, OURS)
    workspace.put("3.csv", "c,1,16", "d,1,59")
    workspace.run(in_buckets(1), EVENTS, OURS)
    second = "2024-01-01 00:00:10"
    assert workspace.delta()[1:] == [("a", second, "1"), ("b", second, "2"), ("c", second, "2")]


def test_state_beside_that_of_spark_stays(workspace: Workspace) -> None:
    """Spark keeps the windows, and an operator of ours ranks them."""
    ranked = SPARKS.replace(
        "SELECT k, window_start, COUNT(*)\n",
        "SELECT k, w, n FROM (SELECT *, ROW_NUMBER() OVER ("
        "PARTITION BY w ORDER BY n DESC) AS r FROM (SELECT k, window_start AS w, window_time AS t, COUNT(*) AS n\n",
    )
    ranked = ranked.replace("window_end;", "window_end, window_time)) WHERE r <= 1;")
    ranked = ranked.replace("KEY (k, w)", "KEY (w)")
    workspace.put("1.csv", "a,1,1", "b,1,12")
    workspace.run(in_buckets(2), EVENTS, ranked)
    (planned,) = workspace.session().plan("\n".join((in_buckets(7), EVENTS, ranked)), workspace.variables).queries
    assert planned.outcome == "goes on"
    assert [note.partition(":")[0] for note in planned.notes] == ["state stays in 2 buckets"]
    workspace.put("2.csv", "b,1,59")
    workspace.run(in_buckets(7), EVENTS, ranked)
    assert begun_with(workspace) == "2"
    assert workspace.delta() == [("a", "2024-01-01 00:00:00", "1"), ("b", "2024-01-01 00:00:10", "1")]


@pytest.mark.costly
def test_it_dies_on_the_way(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the run begins all is as it was; the old number and the new one go on from there."""
    workspace.put("1.csv", "a,1,1", "b,1,12", "c,1,13")
    workspace.run(in_buckets(2), EVENTS, OURS)
    workspace.put("2.csv", "b,1,15")

    def dies(home: QueryHome, run: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(QueryHome, "begin", dies)
        with pytest.raises(KeyboardInterrupt):
            workspace.run(in_buckets(7), EVENTS, OURS)
    assert begun_with(workspace) == "2"
    workspace.run(EVENTS, OURS)
    workspace.put("3.csv", "c,1,16", "d,1,59")
    workspace.run(in_buckets(7), EVENTS, OURS)
    second = "2024-01-01 00:00:10"
    assert workspace.delta()[1:] == [("b", second, "2"), ("c", second, "2")]


@pytest.mark.parametrize("wrong", ["0", "1025", "-3", "many", "8.0", ""])
def test_numbers_that_cannot_be(wrong: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        sqlext.connect().sql(f"SET 'sqlext.state.buckets' = '{wrong}'")
    assert refused.value.code == "OPT-011"
    assert refused.value.hint == "it is a whole number from 1 to 1024"
