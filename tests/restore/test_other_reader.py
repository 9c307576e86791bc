"""A query goes on by another reader of its tables: from its place, with its state, each row once."""

from __future__ import annotations

import json

import pytest

from sqlext.jobs.checkpoint import QueryHome
from tests.restore.query_changes import CATCH_UP, QUERIES
from tests.restore.test_scheduled_and_live import KINDS as SETS
from tests.restore.test_scheduled_and_live import LIVE, SCHEDULED
from tests.workspace import Workspace

#: Rows of each run: key, value, second. The fourth run has none that is new.
RUNS = (
    ("a,1,1", "b,2,3", "a,-4,5"),
    ("a,3,12", "b,-1,13", "c,5,14"),
    ("b,4,15", "a,2,16", "c,-2,17"),
    (),
    ("a,7,31", "b,-3,32"),
    ("z,1,90",),
)
READERS = ("spark", "arrow", "spark", "arrow", "arrow", "spark")
#: Without state, and with state of Spark's that keeps its reader.
OTHERS = {
    "rows": QUERIES["join"].partition("INSERT")[0]
    + "INSERT INTO results SELECT k, ts, CAST(v AS BIGINT) FROM events;\n"
}
KINDS = {**{kind: text for kind, text in QUERIES.items() if kind != "native"}, **OTHERS}
#: How files are called: what a URL writes otherwise is in it.
NAME = "{} %41 ü+#&{}.json"


def asked(reader: str) -> str:
    return f"SET 'sqlext.source' = '{reader}';\n"


def put(workspace: Workspace, run: int) -> None:
    """Write each row of a run into a file of its own."""
    for number, row in enumerate(RUNS[run]):
        key, value, second = row.split(",")
        at = f"2024-01-01 00:0{int(second) // 60}:{int(second) % 60:02d}"
        workspace.put(NAME.format(run, number), json.dumps({"k": key, "v": int(value), "ts": at}))


def read_by(workspace: Workspace) -> str:
    (run,) = (workspace.folder / "catalog" / "queries").glob("*/run.json")
    found = json.loads(run.read_text())["fingerprint"]
    return str(next((said for part, (said, _) in found.items() if part.startswith("reader of")), "Spark"))


def expected(workspace: Workspace, text: str, reader: str) -> list[tuple[str, ...]]:
    """Return what the query writes that keeps its reader, run by run."""
    beside = Workspace(workspace.spark, workspace.folder / "beside")
    for run in range(len(RUNS)):
        put(beside, run)
        beside.run(CATCH_UP, asked(reader), text)
    return beside.delta("results")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", KINDS)
def test_files(workspace: Workspace, kind: str) -> None:
    (workspace.folder / "beside").mkdir()
    for run, reader in enumerate(READERS):
        put(workspace, run)
        workspace.run(CATCH_UP, asked(reader), KINDS[kind])
    assert workspace.delta("results") == expected(workspace, KINDS[kind], "spark") != []


DELTA = """CREATE TABLE IF NOT EXISTS events (k STRING, v INT, ts TIMESTAMP(3),
WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'delta', 'path' = '${OUT}/events');
CREATE TABLE IF NOT EXISTS counts (k STRING, w TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, w) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
"""
WINDOWS = """SET 'pipeline.name' = 'q';
INSERT INTO counts SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 99 ROWS;
"""


def insert(workspace: Workspace, *rows: str) -> None:
    found = ", ".join(f"('{k}', {v}, TIMESTAMP '2024-01-01 00:00:{s}')" for k, v, s in (r.split(",") for r in rows))
    workspace.run(DELTA, f"INSERT INTO events VALUES {found};")


def test_a_delta_table(workspace: Workspace) -> None:
    insert(workspace, "a,1,01", "b,1,02")
    workspace.run(CATCH_UP, asked("arrow"), DELTA, WINDOWS)
    for reader in ("spark", "arrow", "spark"):
        insert(workspace, "a,1,03", "c,1,05")
        job = "".join((CATCH_UP, asked(reader), DELTA, WINDOWS))
        (planned,) = workspace.session().plan(job, workspace.variables).queries
        assert (planned.outcome, len(planned.notes)) == ("goes on", 1)
        result = workspace.run(job)[-1]
        assert [planned.notes[0] in notice for notice in result.notices] == [True]
        assert read_by(workspace) == reader.title()
    insert(workspace, "z,1,59")
    workspace.run(CATCH_UP, DELTA, WINDOWS)
    assert read_by(workspace) == "Spark"
    first = "2024-01-01 00:00:00"
    assert workspace.delta() == [("a", first, "4"), ("b", first, "1"), ("c", first, "3")]


def test_alignment_brings_its_reader(workspace: Workspace) -> None:
    """Spark's reader can hold nothing back. What has the other one keeps it."""
    aligned = "'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '1 min', 'format'"
    live = LIVE[0].replace("'format'", aligned)
    workspace.put("1.csv", "a,1,1", "b,1,2", "a,2,13")
    workspace.run(asked("spark"), *SCHEDULED, *SETS["EMIT"])
    workspace.put("2.csv", "a,4,14", "b,8,24")
    session = workspace.session()
    workspace.run(live, *SETS["EMIT"], session=session)
    first = [("a", "2024-01-01 00:00:00", "1", "1"), ("b", "2024-01-01 00:00:00", "1", "1")]
    second = [first[0], ("a", "2024-01-01 00:00:10", "2", "6"), first[1]]
    workspace.until(lambda: workspace.delta() == second)
    session.stop()
    assert read_by(workspace) == "sqlext's own"
    workspace.put("3.csv", "b,16,25", "a,1,44")
    workspace.run(*SCHEDULED, *SETS["EMIT"])
    assert read_by(workspace) == "sqlext's own"
    assert workspace.delta() == [*second, ("b", "2024-01-01 00:00:20", "2", "24")]


@pytest.mark.costly
def test_it_dies_on_the_way(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the run begins all is as it was; both readers go on from there."""
    text = KINDS["EMIT"]
    put(workspace, 0)
    workspace.run(CATCH_UP, asked("spark"), text)
    for run, reader in ((1, "arrow"), (2, "spark")):
        put(workspace, run)

        def dies(home: QueryHome, run: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as broken:
            broken.setattr(QueryHome, "begin", dies)
            with pytest.raises(KeyboardInterrupt):
                workspace.run(CATCH_UP, asked(reader), text)
        before = read_by(workspace)
        assert before != reader.title()
        workspace.run(CATCH_UP, asked(before.lower()), text)
        workspace.run(CATCH_UP, asked(reader), text)
    for run in (3, 4, 5):
        put(workspace, run)
        workspace.run(CATCH_UP, text)
    (workspace.folder / "beside").mkdir()
    assert workspace.delta("results") == expected(workspace, text, "spark") != []
