"""Each file that a job of this process leaves may be damaged: the next run is right, or names the file and a way on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.jobs import in_process
from tests.damaged_files import DAMAGES, Damaged

_TABLES = """
CREATE TABLE events (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
CREATE TABLE plain (k STRING, v BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/plain');
CREATE TABLE files (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/files', 'format' = 'json');
CREATE TABLE keyed (k STRING, total BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/keyed');
"""
_JOB = """
BEGIN STATEMENT SET;
INSERT INTO plain SELECT k, v FROM events WHERE v > 0;
INSERT INTO files SELECT k, v FROM events WHERE v > 0;
INSERT INTO keyed SELECT k, SUM(v) FROM events GROUP BY k;
END;
"""
_RESULTS = {
    "plain": [("a", 1), ("a", 3), ("b", 2)],
    "files": [("a", 1), ("a", 3), ("b", 2)],
    "keyed": [("a", 4), ("b", 2)],
}


class _DiedError(BaseException):
    """A driver that died, as far as its files can tell."""


class _Job:
    """A job of three sinks in one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "in").mkdir(parents=True)
        (root / "in" / "a.json").write_text('{"k":"a","v":1}\n{"k":"b","v":2}\n{"k":"a","v":3}\n')

    def session(self) -> sqlext.Session:
        return sqlext.connect(catalog=self.root / "catalog", settings={"sqlext.engine": "local"})

    def script(self, text: str) -> None:
        file = self.root.with_name("job.sql")
        file.write_text(text)
        self.session().run(file, variables={"IN": str(self.root / "in"), "OUT": str(self.root / "out")})

    def dies_at(self, step: str, time: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Run it until it comes to a step for so manieth time."""
        left = [time]

        def at_step(name: str) -> None:
            left[0] -= name == step
            if not left[0]:
                raise _DiedError

        self.script(_TABLES)
        with monkeypatch.context() as patched:
            patched.setattr(in_process, "at_step", at_step)
            with pytest.raises(_DiedError):
                self.script(_JOB)

    def again(self) -> dict[str, list[Any]]:
        self.script(_JOB)
        return self.rows()

    def rows(self) -> dict[str, list[Any]]:
        return {name: sorted(map(tuple, self.session().sql(f"SELECT * FROM {name}").rows)) for name in _RESULTS}


@pytest.mark.slow
@pytest.mark.parametrize(("step", "time"), [("batch written", 2), ("batch begun", 3), ("sink finished", 1)])
def test_each_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, time: int) -> None:
    job = _Job(tmp_path / "job")
    job.dies_at(step, time, monkeypatch)
    damaged = Damaged(job.root, job.again)
    assert damaged.wanted == _RESULTS
    codes: Counter[str] = Counter()
    # A file of rows that is gone or empty in a folder of json files has no rows, for each reader of it.
    of_rows = [name for name in damaged.kinds if name.match("files/part-*")]
    for how in DAMAGES:
        names = [name for name in damaged.kinds if name not in of_rows or how not in ("delete", "empty")]
        codes.update(error.code if error is not None else "right" for error in damaged.all_told(names, how))
    assert {"right", "CAT-030", "RUN-022", "RUN-023", "RUN-024", "RUN-093"} <= set(codes)


def test_the_definitions_alone_are_lost_with_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What CAT-030 says: neither rows nor the places of queries."""
    job = _Job(tmp_path / "job")
    job.dies_at("batch written", 2, monkeypatch)
    log = sorted((job.root / "catalog" / "definitions" / "_delta_log").glob("*.json"))
    log[1].write_text("")
    with pytest.raises(SqlExtError) as damaged:
        job.again()
    folder = job.root / "catalog" / "definitions"
    assert (damaged.value.code, f"`{log[1]}` is empty" in damaged.value.message) == ("CAT-030", True)
    assert f"move `{folder}` away" in (damaged.value.hint or "")
    folder.rename(tmp_path / "away")
    job.script(_TABLES)
    assert job.again() == _RESULTS


def test_an_emptied_commit_hides_no_rows(tmp_path: Path) -> None:
    """A disk that was full leaves such a file, and each reader would take the table for one without these rows."""
    job = _Job(tmp_path / "job")
    job.script(_TABLES + _JOB)
    (job.root / "out/plain/_delta_log/00000000000000000001.json").write_text("")
    with pytest.raises(SqlExtError, match=r"00000000000000000001.json` is empty") as damaged:
        job.rows()
    assert damaged.value.code == "RUN-093"


def test_who_was_about_to_make_a_table_died(tmp_path: Path) -> None:
    job = _Job(tmp_path / "job")
    (job.root / "out/plain/_delta_log").mkdir(parents=True)
    job.script(_TABLES + _JOB)
    assert job.rows() == _RESULTS


def test_a_table_without_its_first_commit_is_not_made_anew(tmp_path: Path) -> None:
    job = _Job(tmp_path / "job")
    job.script(_TABLES + _JOB)
    for commit in (job.root / "out/plain/_delta_log").glob("*.json"):
        commit.unlink()
    with pytest.raises(SqlExtError, match=r"_delta_log/00000000000000000000.json` is not there") as damaged:
        job.script(_JOB)
    assert damaged.value.code == "RUN-093"


def test_a_result_that_went_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a set that was interrupted the queries that had ended do not run again: their rows must be there."""
    job = _Job(tmp_path / "job")
    job.dies_at("finished", 1, monkeypatch)
    last = job.root / "out/plain/_delta_log/00000000000000000001.json"
    kept = last.read_bytes()
    last.unlink()
    with pytest.raises(SqlExtError, match=f"`{last}` is not there") as refused:
        job.again()
    assert refused.value.code == "RUN-096"
    last.write_bytes(kept)
    assert job.again() == _RESULTS
    # A job that has ended begins anew, and adds its rows to whatever is there then.
    last.unlink()
    assert job.again()["plain"] == _RESULTS["plain"]
