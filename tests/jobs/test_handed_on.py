"""Operators of one batch that hand on what they give: their rows, their counts, and that none comes twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlext.errors import SqlExtError
from tests.workspace import EVENTS, Workspace

ARROW, SPARK = (f"SET 'sqlext.source' = '{reader}';\n" for reader in ("arrow", "spark"))
SINK = "CREATE TABLE there ({}) WITH ('connector' = 'filesystem', 'path' = '${{OUT}}/there', 'format' = '{}');\n"
COLUMNS = "k STRING, v INT, w INT"
TOP = """INSERT INTO there SELECT k, v, w FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, w) AS place FROM (
    SELECT a.k, a.v, b.v AS w FROM events AS a JOIN events AS b ON a.k = b.k)
) WHERE place <= 2;"""
#: Bids beside the most of their window: rows of a table and of an operator go into one join.
BESIDE = """INSERT INTO there SELECT a.k, a.v, b.n FROM events AS a JOIN (
  SELECT k, CAST(COUNT(*) AS INT) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
  GROUP BY k, window_start, window_end) AS b ON a.k = b.k;"""
ROWS = [("a", 5, 1), ("a", 5, 3), ("b", 2, 2)]


@pytest.fixture
def events(workspace: Workspace) -> Workspace:
    workspace.put("0.csv", "a,1,1", "b,2,2", "a,5,15")
    workspace.put("1.csv", "a,3,3")
    return workspace


def lines(workspace: Workspace, name: str = "there") -> list[dict[str, object]]:
    files = (Path(workspace.variables["OUT"]) / name).glob("part-*")
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_changes_in_files(events: Workspace) -> None:
    query = events.run(ARROW, EVENTS, SINK.format(COLUMNS, "debezium-json"), TOP)[-1].query
    query.await_termination()
    found = sorted(lines(events), key=str)
    made = [{"before": None, "after": {"k": k, "v": v, "w": w}, "op": "c"} for k, v, w in ROWS]
    assert found == sorted(made, key=str)
    assert (query.progress["rows_in"], query.progress["rows_out"]) == (4, 3)


@pytest.mark.parametrize("insert", [BESIDE, TOP], ids=["beside", "top"])
def test_a_stream_gives_the_same(events: Workspace, insert: str) -> None:
    form = "json" if insert is BESIDE else "debezium-json"
    found = []
    for name, reader in (("arrow", ARROW), ("spark", SPARK)):
        table = SINK.format(COLUMNS, form).replace("/there", f"/{name}")
        query = events.run(reader, EVENTS, table, insert, session=events.session(name))[-1].query
        query.await_termination()
        found.append(sorted(lines(events, name), key=str))
    assert found[0] == found[1]
    assert found[0]


def test_what_fails_above_an_operator(events: Workspace) -> None:
    columns = COLUMNS.replace("v INT", "v INT NOT NULL")
    insert = TOP.replace("SELECT k, v, w FROM (", "SELECT k, NULLIF(v, 2), w FROM (", 1)
    with pytest.raises(SqlExtError) as caught:
        events.run(ARROW, EVENTS, SINK.format(columns, "debezium-json"), insert)[-1].query.await_termination()
    assert caught.value.code == "RUN-003"
    assert lines(events) == []


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("moment", ["before-commit:1", "after-commit:1", "after-finish:1"])
def test_killed_and_restarted(events: Workspace, moment: str) -> None:
    script = ARROW + EVENTS + SINK.format(COLUMNS, "debezium-json") + TOP
    events.killed(script, moment)
    events.run(script)[-1].query.await_termination()
    assert len(lines(events)) == len(ROWS)
