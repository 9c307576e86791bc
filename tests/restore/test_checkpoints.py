"""One checkpoint, one query, one driver; what is damaged or gone is said, and nothing hangs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sqlext import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Starting, plan_runs
from sqlext.jobs.runs import QueryRun
from sqlext.session.notices import RepeatedRowsNotice
from tests.workspace import COUNTS, WINDOWED, Workspace

EVENTS = """
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
"""
CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';"
SCRIPT = (CATCH_UP, EVENTS, COUNTS, WINDOWED)
PRINTS = {"window": ("10 s", "1")}
HOLDER = """
import sys, pathlib
from sqlext.jobs.checkpoint import QueryHome
from sqlext import SqlExtError
try:
    home = QueryHome(pathlib.Path(sys.argv[1]), "q")
except SqlExtError as error:
    print(error.code, flush=True)
else:
    print("mine", flush=True)
    sys.stdin.read()
"""


def driver(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDER, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def begun(workspace: Workspace) -> Workspace:
    """A query that has caught up with one file."""
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    workspace.run(*SCRIPT)
    workspace.put("b.csv", "a,7,14", "a,1,40")
    return workspace


def checkpoint_of(workspace: Workspace) -> Path:
    return Path(workspace.queries()["sql.counts"]["checkpoint"])


# Locks


def test_a_second_driver_is_refused(tmp_path: Path) -> None:
    with QueryHome(tmp_path, "q"):
        with pytest.raises(SqlExtError) as refused:
            QueryHome(tmp_path, "q")
        assert refused.value.code == "RUN-022"
        with driver(tmp_path) as other:
            assert first_line(other) == "RUN-022"
        QueryHome(tmp_path, "another").close()
    QueryHome(tmp_path, "q").close()


def test_one_of_two_racing_drivers_wins(tmp_path: Path) -> None:
    with driver(tmp_path) as one, driver(tmp_path) as other:
        assert sorted([first_line(one), first_line(other)]) == ["RUN-022", "mine"]
        one.kill()
        other.kill()


def test_kill_frees_it(tmp_path: Path) -> None:
    with driver(tmp_path) as holder:
        assert first_line(holder) == "mine"
        holder.kill()
        holder.wait()
        QueryHome(tmp_path, "q").close()


def test_threads_race_with_removal(tmp_path: Path) -> None:
    """Whoever gets the folder has it alone, also while others remove it."""
    inside: list[int] = []

    def work(_: int) -> int:
        try:
            home = QueryHome(tmp_path, "q")
        except SqlExtError:
            return 0
        inside.append(1)
        assert len(inside) == 1
        inside.pop()
        home.remove()
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(400))) > 0


def _a_file(path: Path) -> None:
    path.touch()


def _a_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


@pytest.mark.parametrize("put", [_a_file, _a_link_to_nothing])
def test_something_in_the_way_of_the_folder(tmp_path: Path, put: Callable[[Path], None]) -> None:
    QueryHome(tmp_path, "q").close()
    folder = Path(QueryHome(tmp_path, "q", looks=True).location.place)
    shutil.rmtree(folder)
    put(folder)
    with pytest.raises(FileExistsError):
        QueryHome(tmp_path, "q")


def test_a_checkpoint_elsewhere_is_locked_there(tmp_path: Path) -> None:
    with QueryHome(tmp_path / "catalog", "q", str(tmp_path / "ck")), pytest.raises(SqlExtError) as refused:
        QueryHome(tmp_path / "other catalog", "q", str(tmp_path / "ck"))
    assert refused.value.code == "RUN-022"


@pytest.mark.parametrize("name", ["../../evil", "a/b", "", "x" * 500, "名前", "a\x00b"])
def test_no_name_leaves_the_folder(tmp_path: Path, name: str) -> None:
    with QueryHome(tmp_path / "catalog", name) as home:
        assert Path(home.location.place).parent == tmp_path / "catalog" / "queries"
    assert [p.name for p in tmp_path.iterdir()] == ["catalog"]


# Runs of a job with several queries


def homes(folder: Path) -> list[QueryHome]:
    return [QueryHome(folder, name) for name in ("one", "two")]


def begin(found: list[QueryHome], *, finish: int = 0) -> list[QueryRun]:
    runs = plan_runs([Starting(home, PRINTS) for home in found], restart_finished=True)
    for home, run in zip(found, runs, strict=True):
        home.begin(run)
    for home, run in list(zip(found, runs, strict=True))[:finish]:
        home.finish(run)
    for home in found:
        home.close()
    return runs


def test_a_job_goes_on_as_one(tmp_path: Path) -> None:
    interrupted = begin(homes(tmp_path), finish=1)
    again = begin(homes(tmp_path), finish=2)
    assert [r.run_id for r in again] == [interrupted[0].run_id] * 2
    assert [r.finished for r in again] == [True, False]
    anew = begin(homes(tmp_path))
    assert {r.run_id for r in anew}.isdisjoint({interrupted[0].run_id})
    assert not any(r.finished for r in anew)


def test_interrupted_while_it_began_again(tmp_path: Path) -> None:
    """The first query of the second life had begun, the second still has the end of the first life."""
    before = begin(homes(tmp_path), finish=2)
    found = homes(tmp_path)
    second = plan_runs([Starting(home, PRINTS) for home in found], restart_finished=True)
    found[0].begin(second[0])
    for home in found:
        home.close()
    again = begin(homes(tmp_path))
    assert [r.run_id for r in again] == [second[0].run_id] * 2 != [before[0].run_id] * 2
    assert not any(r.finished for r in again)


def test_nothing_is_cleared_if_one_query_is_refused(tmp_path: Path) -> None:
    begin(homes(tmp_path), finish=2)
    found = homes(tmp_path)
    (Path(found[0].location.place) / "run.json").unlink()
    found[0].location.put("checkpoint/offsets/0", "v1")
    with pytest.raises(SqlExtError) as refused:
        plan_runs([Starting(home, PRINTS) for home in found], restart_finished=True)
    assert refused.value.code == "RUN-021"
    assert Path(found[1].checkpoint).exists()


# What is damaged, gone, or another's


def test_damaged_run(begun: Workspace) -> None:
    run = checkpoint_of(begun).parent / "run.json"
    for text in ("", "{", "[]", '{"run_id": 1}', '{"run_id": "a", "fingerprint": {"x": 1}, "finished": false}'):
        run.write_text(text)
        with pytest.raises(SqlExtError, match="is damaged") as refused:
            begun.run(*SCRIPT)
        assert (refused.value.code, str(run) in refused.value.message) == ("RUN-023", True)
    begun.session().sql("DROP QUERY `sql.counts`")
    assert begun.queries() == {}
    begun.run(*SCRIPT)


@pytest.mark.parametrize("emptied", [False, True])
def test_checkpoint_gone(begun: Workspace, emptied: bool) -> None:
    place = checkpoint_of(begun)
    shutil.rmtree(place)
    if emptied:
        place.mkdir()
    before = begun.delta()
    with pytest.raises(SqlExtError, match="is gone") as refused:
        begun.run(*SCRIPT)
    assert refused.value.code == "RUN-024"
    assert begun.delta() == before
    begun.session().sql("DROP QUERY sql.counts")
    begun.run(*SCRIPT)
    assert ("a", "2024-01-01 00:00:10", "2", "9") in begun.delta()


def test_checkpoint_of_another_query(begun: Workspace) -> None:
    begun.run("SET 'pipeline.name' = 'other';", *SCRIPT)
    other = Path(begun.queries()["other"]["checkpoint"])
    mine = checkpoint_of(begun)
    shutil.rmtree(mine)
    shutil.copytree(other, mine)
    with pytest.raises(SqlExtError, match="checkpoint of something else") as refused:
        begun.run(*SCRIPT)
    assert refused.value.code == "RUN-021"
    stranger = begun.folder / "ck"
    shutil.copytree(other.parent, stranger / mine.parent.name)
    (stranger / mine.parent.name / "run.json").unlink()
    with pytest.raises(SqlExtError, match="checkpoint of something else"):
        begun.run(*SCRIPT, checkpoint=str(stranger))


def test_truncated_offsets(begun: Workspace) -> None:
    for offsets in (checkpoint_of(begun) / "offsets").iterdir():
        offsets.write_text("")
    for crc in (checkpoint_of(begun) / "offsets").glob(".*.crc"):
        crc.unlink()
    with pytest.raises(SqlExtError) as failed:
        begun.run(*SCRIPT)
    assert failed.value.code.startswith("RUN-")
    assert "offsets" in failed.value.message or "checkpoint" in failed.value.message
    assert "DROP QUERY" in (failed.value.hint or "")


def test_changed_query(begun: Workspace) -> None:
    with pytest.raises(SqlExtError, match=r"window was TUMBLE\(10000 ms\) on ts, is TUMBLE\(20000 ms\)") as refused:
        begun.run(CATCH_UP, EVENTS, COUNTS, WINDOWED.replace("'10'", "'20'"))
    assert (refused.value.code, refused.value.line) == ("RUN-020", 11)
    assert begun.queries()["sql.counts"]["status"] == "finished"
    begun.run(CATCH_UP, EVENTS, COUNTS, WINDOWED.replace("SELECT k,", "SELECT  k  AS key_, /* the window */"))
    assert ("a", "2024-01-01 00:00:10", "2", "9") in begun.delta()


def test_checkpoint_elsewhere(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,12")
    elsewhere = workspace.folder / "ck"
    workspace.run(*SCRIPT, checkpoint=str(elsewhere))
    workspace.put("b.csv", "a,1,40")
    workspace.run(*SCRIPT, checkpoint=str(elsewhere))
    assert [(n, s) for _, _, n, s in workspace.delta()] == [("1", "1"), ("1", "2")]
    assert checkpoint_of(workspace).is_relative_to(elsewhere)
    workspace.session().sql("DROP QUERY `sql.counts`")
    assert list(elsewhere.iterdir()) == []


def test_its_checkpoint_lies_elsewhere(begun: Workspace) -> None:
    """It begins anew there, and says that rows come a second time."""
    before = checkpoint_of(begun)
    with pytest.warns(RepeatedRowsNotice, match=f"begins anew, since its checkpoint lies at `{before}`"):
        begun.run(*SCRIPT, checkpoint=str(begun.folder / "ck"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedRowsNotice)
        begun.run(*SCRIPT, checkpoint=str(begun.folder / "ck"))


@pytest.mark.parametrize("partitions", ["1", "5"])
def test_other_shuffle_partitions(begun: Workspace, partitions: str) -> None:
    session = begun.session()
    session.spark.conf.set("spark.sql.shuffle.partitions", partitions)
    begun.run(*SCRIPT, session=session)
    assert begun.delta() == [
        ("a", "2024-01-01 00:00:00", "1", "1"),
        ("a", "2024-01-01 00:00:10", "2", "9"),
        ("b", "2024-01-01 00:00:10", "1", "3"),
    ]
