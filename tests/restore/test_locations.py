"""A catalog, a checkpoint, sources and sinks at ``file:///`` are at that path; a remote checkpoint runs nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';"
SCRIPT = (CATCH_UP, EVENTS, COUNTS, WINDOWED)
COPY = """
CREATE TABLE copy (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/copy', 'format' = 'csv');
INSERT INTO copy SELECT k, v FROM events;
"""


@pytest.fixture
def here(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    place = workspace.folder / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def checkpoint(workspace: Workspace) -> str:
    """A query that has caught up with one file, its checkpoint at a URL, and a second file."""
    place = (workspace.folder / "check points").as_uri()
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    workspace.run(*SCRIPT, checkpoint=place)
    workspace.put("b.csv", "a,7,14", "a,1,40")
    return place


def code(workspace: Workspace, checkpoint: str, *script: str, catalog: str = "catalog") -> str:
    with pytest.raises(SqlExtError) as refused:
        workspace.run(*(script or SCRIPT), session=workspace.session(catalog), checkpoint=checkpoint)
    return refused.value.code


def home(workspace: Workspace) -> Path:
    (found,) = (workspace.folder / "check points").iterdir()
    return found


@pytest.mark.parametrize("source", ["spark", "arrow"])
def test_all_at_file_urls(workspace: Workspace, here: Path, source: str) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13", "a,1,40")
    place = workspace.folder / "a place"
    urls = {"IN": workspace.input.as_uri(), "OUT": (place / "out").as_uri()}
    session = sqlext.connect(workspace.spark, catalog=(place / "catalog").as_uri())
    text = "\n".join((f"SET 'sqlext.source' = '{source}';", *SCRIPT, COPY))
    session.run(text, variables=urls, checkpoint=(place / "checkpoints").as_uri())
    rows = workspace.spark.newSession().read.format("delta").load(str(place / "out" / "counts")).collect()
    assert sorted((r.k, r.n, r.s) for r in rows) == [("a", 1, 1), ("a", 1, 2), ("b", 1, 3)]
    found = (f for f in (place / "out" / "copy").rglob("part-*") if "_sqlext" not in f.parts)
    assert sorted(line for f in found for line in f.read_text().splitlines()) == ["a,1", "a,1", "a,2", "b,3"]
    assert (place / "catalog" / "definitions").is_dir()
    assert not (place / "catalog" / "queries").exists()
    assert len(list((place / "checkpoints").iterdir())) == 2
    back = "SET 'execution.runtime-mode' = 'batch'; SELECT COUNT(*) FROM counts; SELECT COUNT(*) FROM copy;"
    assert [r.rows for r in session.run(back)[1:]] == [[(3,)], [(4,)]]
    assert list(here.iterdir()) == []


def test_it_goes_on(workspace: Workspace, checkpoint: str) -> None:
    before = workspace.delta()
    path = str(workspace.folder / "check points")
    workspace.run(*SCRIPT, checkpoint=path)  # the path and its URL are one place
    assert len(workspace.delta()) > len(before)
    again = workspace.delta()
    workspace.run(*SCRIPT, checkpoint=checkpoint)
    assert workspace.delta() == again


def test_gone(workspace: Workspace, checkpoint: str) -> None:
    shutil.rmtree(home(workspace) / "checkpoint")
    before = workspace.delta()
    assert code(workspace, checkpoint) == "RUN-024"
    assert workspace.delta() == before


def test_of_something_else(workspace: Workspace, checkpoint: str) -> None:
    (home(workspace) / "checkpoint" / "sqlext-run").write_text("another")
    assert code(workspace, checkpoint) == "RUN-021"


def test_without_its_run(workspace: Workspace, checkpoint: str) -> None:
    (home(workspace) / "run.json").unlink()
    assert code(workspace, checkpoint) == "RUN-021"
    assert code(workspace, checkpoint, catalog="another") == "RUN-021"


def test_changed(workspace: Workspace, checkpoint: str) -> None:
    changed = WINDOWED.replace("GROUP BY", "WHERE v > 1 GROUP BY")
    assert code(workspace, checkpoint, CATCH_UP, EVENTS, COUNTS, changed) == "RUN-020"
    assert code(workspace, checkpoint, CATCH_UP, EVENTS, COUNTS, changed, catalog="another") == "RUN-020"


def test_held(workspace: Workspace, checkpoint: str) -> None:
    with QueryHome(workspace.folder / "elsewhere", "sql.counts", checkpoint):
        assert code(workspace, checkpoint) == "RUN-022"
        assert code(workspace, checkpoint, catalog="another") == "RUN-022"


def test_changed_amid_a_batch(workspace: Workspace) -> None:
    place = (workspace.folder / "check points").as_uri()
    future = "SET 'sqlext.watermark.max-future' = '{} h';"
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    workspace.run(future.format(1), *SCRIPT, checkpoint=place)
    max((home(workspace) / "checkpoint" / "commits").glob("[0-9]*"), key=lambda f: int(f.name)).unlink()
    assert code(workspace, place, future.format(2), *SCRIPT) == "RUN-026"


@pytest.mark.parametrize("place", ["hdfs://n/ck", "dbfs:/ck", "wasbs://c@a/ck", "FTP://b/ck"])
def test_a_remote_checkpoint_runs_nothing(workspace: Workspace, here: Path, place: str) -> None:
    workspace.put("a.csv", "a,1,1")
    assert code(workspace, place) == "RUN-028"
    assert workspace.delta() == []
    assert workspace.queries() == {}
    assert list(here.iterdir()) == []


def test_a_query_whose_checkpoint_lay_at_a_url(workspace: Workspace, here: Path) -> None:
    """An older version kept its run in the catalog's folder: it does not begin anew as if it were the old run."""
    workspace.put("a.csv", "a,1,1", "a,2,12")
    workspace.run(*SCRIPT)
    kept = Path(workspace.queries()["sql.counts"]["checkpoint"])
    shutil.rmtree(kept)
    with pytest.raises(SqlExtError) as refused:
        workspace.run(*SCRIPT)
    assert refused.value.code == "RUN-024"
    workspace.run("DROP QUERY `sql.counts`;")
    assert not kept.parent.exists()
    assert list(here.iterdir()) == []


def test_a_remote_filesystem_sink_writes_nothing(workspace: Workspace, here: Path) -> None:
    workspace.put("a.csv", "a,1,1")
    script = COPY.replace("${OUT}/copy", "hdfs://n/copy")
    with pytest.raises(SqlExtError) as refused:
        workspace.run(EVENTS, COUNTS, WINDOWED, script)
    assert refused.value.code == "OPT-018"
    assert workspace.delta() == []
    assert list(here.iterdir()) == []


def test_urls_for_which_spark_has_no_file_system(workspace: Workspace, here: Path) -> None:
    """Refused by the scheme before another INSERT writes: of the set, or of the script."""
    workspace.put("a.csv", "a,1,1")
    far = "CREATE TABLE far (k STRING) WITH ('connector' = 'spark', 'format' = '{}', 'path' = '{}');"
    into, out_of = "INSERT INTO far SELECT k FROM events;", "INSERT INTO copy SELECT k, 1 FROM far;"
    first = WINDOWED.replace("counts", "copy").replace("k, window_start, COUNT(*), SUM(CAST(v AS BIGINT))", "k, 1")
    for query, form, path in (
        (into, "json", "abfss://c@a.dfs.core.windows.net/x"),
        (into, "json", "dbfs:/x"),
        (into, "parquet", "unheard-of://b/x"),
        (out_of, "json", "gs://b/x"),
        (out_of, "csv", "unheard-of:/x"),
    ):
        scheme = path.partition(":")[0]
        for text in (f"BEGIN STATEMENT SET; {WINDOWED} {query} END;", f"{WINDOWED} {first} {query}"):
            session = workspace.session(scheme)
            with pytest.raises(SqlExtError) as refused:
                workspace.run(
                    EVENTS, COUNTS, COPY.partition("INSERT")[0], far.format(form, path), text, session=session
                )
            assert (refused.value.code, f"the scheme `{scheme}`" in refused.value.message) == ("OPT-014", True)
            assert refused.value.line is not None
            assert session.catalog.snapshot().queries() == []
    assert not (workspace.folder / "out").exists()
    assert list(here.iterdir()) == []


def test_a_set_with_a_fault_makes_no_table(workspace: Workspace, here: Path) -> None:
    """The first INSERT is right; the others are refused before its table is made."""
    workspace.put("a.csv", "a,1,1")
    (workspace.folder / "file").write_text("")
    table = "CREATE TABLE {} (k STRING) WITH ('connector' = '{}', 'path' = '{}', 'format' = 'csv');"
    gone = table.format("gone", "filesystem", workspace.folder / "no such folder")
    nobody = table.format("nobody", "spark", "hdfs://nobody.invalid/x")
    a_file = table.format("a_file", "filesystem", workspace.folder / "file")
    for definition, query, code in (
        (gone + a_file.replace("/file", "/fine"), "INSERT INTO a_file SELECT k FROM gone;", "OPT-009"),
        (nobody, "INSERT INTO nobody SELECT k FROM events;", "RUN-010"),
        (
            nobody.replace("spark", "delta").replace(", 'format' = 'csv'", ""),
            "INSERT INTO nobody SELECT k FROM events;",
            "RUN-010",
        ),
        (a_file, "INSERT INTO a_file SELECT k FROM events;", "SINK-092"),
    ):
        session = workspace.session(f"{code}-{definition.partition('connector')[2][5:10]}")
        text = f"BEGIN STATEMENT SET; {WINDOWED} {query} END;"
        with pytest.raises(SqlExtError) as refused:
            workspace.run(EVENTS, COUNTS, definition, text, session=session)
        assert (refused.value.code, refused.value.line is None) == (code, False)
        assert session.catalog.snapshot().queries() == []
    assert not (workspace.folder / "out").exists()
    assert not (workspace.folder / "fine").exists()


def test_a_set_reads_what_it_writes(workspace: Workspace) -> None:
    """The table of the first INSERT is made before the second is opened, which reads it."""
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    names = "CREATE TABLE names (k STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/names');"
    text = f"BEGIN STATEMENT SET; {WINDOWED} INSERT INTO names SELECT k FROM counts; END;"
    workspace.run(CATCH_UP, EVENTS, COUNTS, names, text)
    assert len(workspace.delta()) == 1
    assert workspace.delta("names") is not None
