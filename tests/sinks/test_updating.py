"""Updating results over several micro-batches: one row per key, gone where HAVING takes it away."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from tests.workspace import Workspace

SOURCE = """
CREATE TABLE moves (k STRING, v INT)
WITH ('connector' = 'spark', 'format' = 'csv', 'path' = '${IN}', 'maxFilesPerTrigger' = '1');
"""
CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';"


@pytest.fixture
def moves(workspace: Workspace) -> Workspace:
    """Three files: b ends at 0, a at 6, c at 9."""
    workspace.put("0.csv", "a,1", "b,5", "c,9")
    workspace.put("1.csv", "a,2", "b,-5")
    workspace.put("2.csv", "a,3")
    return workspace


@pytest.mark.parametrize("key", [", PRIMARY KEY (k) NOT ENFORCED", ""])
def test_upsert_into_delta(moves: Workspace, key: str) -> None:
    sink = f"CREATE TABLE totals (k STRING, s BIGINT{key}) WITH ('connector' = 'delta', 'path' = '${{OUT}}/totals');"
    query = moves.run(SOURCE, sink, "INSERT INTO totals SELECT k, SUM(v) FROM moves GROUP BY k;")[-1].query
    assert moves.delta("totals") == [("a", "6"), ("b", "0"), ("c", "9")]
    assert query.progress["rows_in"] == 6
    assert query.progress["batch"] == 3


def test_having_takes_a_row_away(moves: Workspace) -> None:
    sink = """CREATE TABLE totals (k STRING, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'delta', 'path' = '${OUT}/totals');"""
    moves.run(SOURCE, sink, "INSERT INTO totals SELECT k, SUM(v) FROM moves GROUP BY k HAVING SUM(v) > 0;")
    assert moves.delta("totals") == [("a", "6"), ("c", "9")]


def test_global_aggregate_and_grouping_sets(moves: Workspace) -> None:
    sinks = """
    CREATE TABLE one (n BIGINT, s BIGINT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/one', 'format' = 'csv');
    CREATE TABLE sets (k STRING, s BIGINT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/sets', 'format' = 'csv');
    SET 'sqlext.sink.updates' = 'final-state';
    EXECUTE STATEMENT SET BEGIN
      INSERT INTO one SELECT COUNT(*), SUM(v) FROM moves;
      INSERT INTO sets SELECT k, SUM(v) FROM moves GROUP BY GROUPING SETS ((k), ());
    END;
    """
    moves.run(SOURCE, sinks)
    assert moves.files("one") == ["6,15"]
    assert moves.files("sets") == [",15", "a,6", "b,0", "c,9"]


def test_select_shows_the_final_rows(moves: Workspace) -> None:
    result = moves.run(SOURCE, "SELECT k, SUM(v) AS s FROM moves GROUP BY k HAVING SUM(v) > 0;")[-1]
    assert result.columns == ("k", "s")
    assert sorted(result.rows) == [("a", 6), ("c", 9)]
    assert sorted(map(tuple, result.df.collect())) == [("a", 6), ("c", 9)]
    assert dict(result.df.dtypes)["s"] == "bigint"


def test_result_frames_of_two_selects_keep_their_types(moves: Workspace) -> None:
    first, second = moves.run(SOURCE, "SELECT k FROM moves WHERE v > 8;", "SELECT v FROM moves WHERE v > 8;")[-2:]
    assert first.df.dtypes == [("k", "string")]
    assert second.df.dtypes == [("v", "int")]
    assert (first.rows, second.rows) == ([("c",)], [(9,)])


def test_final_state_catches_up(moves: Workspace) -> None:
    sink = """CREATE TABLE one (k STRING, s BIGINT)
    WITH ('connector' = 'filesystem', 'path' = '${OUT}/one', 'format' = 'csv');
    SET 'sqlext.sink.updates' = 'final-state';"""
    insert = "INSERT INTO one SELECT k, SUM(v) FROM moves GROUP BY k;"
    moves.run(CATCH_UP, SOURCE, sink, insert)
    assert moves.files("one") == ["a,6", "b,0", "c,9"]
    moves.put("3.csv", "b,4", "d,1")
    moves.run(CATCH_UP, SOURCE, sink, insert)
    assert moves.files("one") == ["a,6", "b,4", "c,9", "d,1"]


def test_final_state_needs_an_end(moves: Workspace) -> None:
    script = """CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'rate');
    CREATE TABLE one (n BIGINT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/one', 'format' = 'csv');
    SET 'sqlext.sink.updates' = 'final-state';
    INSERT INTO one SELECT COUNT(*) FROM ticks;"""
    with pytest.raises(SqlExtError) as refused:
        moves.run(script)
    assert (refused.value.code, refused.value.line) == ("SINK-008", 4)
