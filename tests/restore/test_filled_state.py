"""A new version fills its state from what the source still has, and the sink keeps its rows: none twice, none lost."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from sqlext.session.deploying.beside import NewVersions
from sqlext.session.deploying.report import Deployment
from tests.restore.deployments import HEAD, KEYED, SINK, TUMBLE, dies_before
from tests.workspace import Workspace

FILES = SINK.replace("'delta'", "'filesystem', 'format' = 'csv'")
WINDOWS = f"INSERT INTO counts SELECT k, {{}} FROM {TUMBLE} GROUP BY k, window_start, window_end"
LATE = "CREATE TABLE late (k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector' = 'delta', 'path' = '${OUT}/late');\n"


def fill(workspace: Workspace, script: str) -> Deployment:
    return workspace.session().deploy(script, workspace.variables, keep_rows=True)


#: Who reads, where the rows go, and what EMIT says.
KINDS = {
    "native": ("spark", FILES, ";"),
    "by Arrow": ("arrow", FILES, ";"),
    "EMIT into Delta": ("spark", SINK, " EMIT AFTER WATERMARK ALLOW LATENESS INTERVAL '0' SECOND;"),
}


@pytest.mark.parametrize("kind", ["native", *(pytest.param(k, marks=pytest.mark.costly) for k in list(KINDS)[1:])])
def test_windows(workspace: Workspace, kind: str) -> None:
    """The open window has its rows from before; those that are closed stay as the old version wrote them."""
    source, sink, emit = KINDS[kind]
    head = HEAD.format(source) + sink
    old, new = (head + WINDOWS.format(what) + emit for what in ("COUNT(*)", "CAST(SUM(v) AS BIGINT)"))

    def rows() -> list[tuple[str, ...]]:
        return workspace.delta() if sink == SINK else [tuple(line.split(",")) for line in workspace.files("counts")]

    workspace.put("1.csv", "a,1,1", "a,2,2", "b,3,12", "b,4,13")
    workspace.run(old)
    assert rows() == [("a", "2")]
    with pytest.raises(SqlExtError) as refused:
        workspace.run(new)
    assert refused.value.code == "RUN-020"
    assert str(fill(workspace, new)).splitlines() == [
        "query q  switched",
        "  SELECT was k, COUNT(*), is k, CAST(SUM(v) AS BIGINT)",
        "  the rows that are there stay; it has read what its source has, and writes what comes now",
        "1 query switched",
    ]
    assert rows() == [("a", "2")]
    workspace.put("2.csv", "b,5,14", "c,6,32")
    workspace.run(new)
    assert rows() == [("a", "2"), ("b", "12")]
    # What the old version has closed is closed for the new one, too.
    workspace.put("3.csv", "a,100,3", "c,1,33", "d,1,57")
    workspace.run(new)
    assert rows() == [("a", "2"), ("b", "12"), ("c", "7")]
    with pytest.raises(SqlExtError) as none:
        workspace.session().roll_back(new, workspace.variables)
    assert none.value.code == "RUN-085"


@pytest.mark.costly
def test_a_row_of_a_key(workspace: Workspace) -> None:
    """It has its new value when the key is met next; a stream that reads the table goes on."""
    head = HEAD.format("spark") + KEYED
    old, new = (
        head + f"INSERT INTO counts SELECT k, CAST({what} AS BIGINT) FROM events GROUP BY k;"
        for what in ("SUM(v)", "MAX(v) * 10")
    )
    workspace.put("1.csv", "a,1,1", "a,2,2", "b,3,12")
    workspace.run(old)
    assert fill(workspace, new).queries[0].outcome == "switched"
    assert workspace.delta() == [("a", "3"), ("b", "3")]
    workspace.put("2.csv", "a,1,13", "c,4,14")
    workspace.run(new)
    assert workspace.delta() == [("a", "20"), ("b", "3"), ("c", "40")]
    # Back to the old text, by the same way.
    fill(workspace, old)
    workspace.put("3.csv", "a,1,15", "b,1,16")
    workspace.run(old)
    assert workspace.delta() == [("a", "5"), ("b", "4"), ("c", "40")]


@pytest.mark.costly
def test_late_rows_are_kept_once(workspace: Workspace) -> None:
    """What the fill meets late is not written again to the table of late rows."""
    head = HEAD.format("spark") + SINK + LATE
    emit = " EMIT AFTER WATERMARK LATE DATA TO late;"
    old, new = (head + WINDOWS.format(what) + emit for what in ("COUNT(*)", "COUNT(v) * 10"))
    workspace.put("1.csv", "a,1,1", "b,2,12")
    workspace.run(old)
    workspace.put("2.csv", "a,9,2", "b,3,13")
    workspace.run(old)
    late = workspace.delta("late")
    assert [row[:2] for row in late] == [("a", "9")]
    fill(workspace, new)
    assert workspace.delta("late") == late
    workspace.put("3.csv", "a,8,3", "b,4,14", "c,1,25")
    workspace.run(new)
    assert workspace.delta() == [("a", "1"), ("b", "30")]
    assert [row[:2] for row in workspace.delta("late")] == [("a", "8"), ("a", "9")]


@pytest.mark.costly
@pytest.mark.parametrize("lost", ["switching", "current"])
def test_it_is_broken_off_and_goes_on(workspace: Workspace, lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the decision any command ends it; before it, a comparison does not take what was thrown away."""
    head = HEAD.format("spark") + SINK
    old, new = (head + WINDOWS.format(what) + ";" for what in ("COUNT(*)", "COUNT(v)"))
    workspace.put("1.csv", "a,1,1", "a,2,2", "b,3,12", "b,4,13")
    workspace.run(old)
    with monkeypatch.context() as broken:
        broken.setattr(NewVersions, "change", dies_before(lost))
        with pytest.raises(KeyboardInterrupt):
            fill(workspace, new)
    found = workspace.session().deploy(new, workspace.variables).queries[0]
    assert found.outcome == "switched"
    assert (found.comparison is None) == (lost == "current")
    workspace.put("2.csv", "b,5,14", "c,6,32")
    workspace.run(new)
    assert workspace.delta() == [("a", "2"), ("b", "3")]


def test_what_was_fed_back_is_not_fed_back_again(workspace: Workspace) -> None:
    """The new version has the rows of the old one that were fed back in its state, and reads those that wait, once."""
    letters = """
    CREATE TABLE letters (letter STRING, query_name STRING, cause STRING, source STRING, text STRING)
    WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
    SET 'sqlext.dead-letters.table' = 'letters';
    """
    head = HEAD.format("spark") + SINK + letters
    old, new = (head + WINDOWS.format(what) + ";" for what in ("COUNT(*)", "CAST(SUM(v) AS BIGINT)"))

    def replay(where: str) -> tuple[int, int]:
        (row,) = workspace.run(
            head,
            f"REPLAY letters WHERE cause = 'decode' AND text LIKE '{where}' "
            "SET k = 'a', v = 1, ts = TIMESTAMP '2024-01-01 00:00:36';",
        )[-1].rows
        return row[3], row[4]

    workspace.put("1.csv", "a,1,1", "a,2,35", "first", "second")
    workspace.run(old)
    assert replay("first") == (1, 0)
    workspace.put("2.csv", "a,3,36")
    workspace.run(old)
    assert replay("second") == (1, 0)
    assert fill(workspace, new).queries[0].outcome == "switched"
    assert replay("%") == (0, 2)
    workspace.put("3.csv", "b,4,59")
    query = workspace.run(new)[-1].query
    assert query.progress["rows_in"] == 1
    assert replay("%") == (0, 2)
    workspace.put("4.csv", "b,5,59")
    workspace.run(new)
    assert workspace.delta() == [("a", "1"), ("a", "7")]
    assert sorted(row[2] for row in workspace.delta("letters")) == ["decode", "decode", "replayed", "replayed"]


OVER = """CREATE TABLE sums (k STRING, ts TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/sums');
INSERT INTO sums SELECT k, ts, CAST(SUM({}) OVER (PARTITION BY k ORDER BY ts) AS BIGINT) FROM events;
"""


def test_rows_that_were_late_are_late_again(workspace: Workspace) -> None:
    """The fill goes by the micro-batches and the watermarks of the old version; so its state has no late row."""
    head = HEAD.format("spark")
    old, new = (head + OVER.format(what) for what in ("v", "v * 10"))
    workspace.put("1.csv", "a,1,1", "a,2,20")
    workspace.run(old)
    workspace.put("2.csv", "a,100,3", "a,4,30")
    workspace.run(old)
    before = workspace.delta("sums")
    assert [row[2] for row in before] == ["1", "3"]
    assert fill(workspace, new).queries[0].outcome == "switched"
    workspace.put("3.csv", "a,8,60")
    workspace.run(new)
    assert [row[2] for row in workspace.delta("sums")] == ["1", "3", "70"]
    workspace.put("4.csv", "a,8,90")
    workspace.run(new)
    assert [row[2] for row in workspace.delta("sums")] == ["1", "3", "70", "150"]
