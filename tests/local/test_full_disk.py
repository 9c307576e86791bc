"""A disk with room for one page more each time: each failure names its file, and in the end each row is there once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_IN_SMALL_SPACE = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=2m none "$0" && exec "$@"')
_TABLES = """
CREATE TABLE events (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
CREATE TABLE plain (k STRING, v BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/plain');
CREATE TABLE files (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/files', 'format' = 'json');
CREATE TABLE keyed (k STRING, total BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/keyed');
"""
_JOB = """
BEGIN STATEMENT SET;
INSERT INTO plain SELECT k, v FROM events;
INSERT INTO files SELECT k, v FROM events;
INSERT INTO keyed SELECT k, SUM(v) FROM events GROUP BY k;
END;
"""
#: Runs scripts in a folder that has more and more room; prints what fails, then the rows.
_DRIVER = """
import os, sys
from pathlib import Path
import sqlext
root, folder = Path(sys.argv[1]), Path(sys.argv[2])

def leave(pages):
    filler = root / "filler"
    filler.unlink(missing_ok=True)
    space = os.statvfs(root)
    filler.write_bytes(b"x" * ((space.f_bavail - pages) * space.f_frsize))

def session():
    return sqlext.connect(catalog=root / "catalog", settings={"sqlext.engine": "local"})

left, pages, ended = ["tables.sql", "job.sql"], 0, False
while left and not ended and pages < 100:
    leave(pages)
    try:
        session().run(folder / left[0], variables={"IN": str(folder / "in"), "OUT": str(root / "out")})
        left.pop(0)
    except sqlext.SqlExtError as error:
        ended = "has come to its end" in error.message
        print("failed", error.code, str(root) in error.message, bool(error.hint), error.message)
    pages += 1
(root / "filler").unlink()
for name in ("plain", "files", "keyed"):
    print("rows", name, sorted(map(tuple, session().sql(f"SELECT * FROM {name}").rows)))
"""


@pytest.mark.slow
def test_each_page_more(tmp_path: Path) -> None:
    space = tmp_path / "space"
    for folder in (space, tmp_path / "in"):
        folder.mkdir()
    if subprocess.run([*_IN_SMALL_SPACE, str(space), "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    (tmp_path / "in" / "a.json").write_text('{"k": "a", "v": 1}\n{"k": "b", "v": 2}\n{"k": "a", "v": 3}\n')
    (tmp_path / "tables.sql").write_text(_TABLES)
    (tmp_path / "job.sql").write_text(_JOB)
    command = [*_IN_SMALL_SPACE, str(space), sys.executable, "-c", _DRIVER, str(space), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    lines = done.stdout.splitlines()
    failed = [line.split(maxsplit=4) for line in lines if line.startswith("failed")]
    assert [told for told in failed if told[2:4] != ["True", "True"]] == []
    # The catalog, a place of a query or a sink, each in several steps.
    assert {code for _, code, *_ in failed} >= {"CAT-035", "RUN-100"}
    assert lines[-3:] == [
        "rows plain [('a', 1), ('a', 3), ('b', 2)]",
        "rows files [('a', 1), ('a', 3), ('b', 2)]",
        "rows keyed [('a', 4), ('b', 2)]",
    ], done.stderr
