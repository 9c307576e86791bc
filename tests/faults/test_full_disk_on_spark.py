"""On Spark each place is full in turn, with room for more and more pages: it is told, and each row comes once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workspace import short_lived

#: A file system of its own for each place; what is mounted goes with the process.
_PLACES = ("catalog", "checkpoints", "sink", "files", "letters")
_MOUNTED = 'for place in $1; do mount -t tmpfs -o size=4m none $0/$place || exit 99; done; shift; exec "$@"'
_TABLES = """
CREATE TABLE events (k STRING, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${ROOT}/in', 'format' = 'json');
CREATE TABLE letters (cause STRING, text STRING) WITH ('connector' = 'delta', 'path' = '${ROOT}/letters/t');
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, w) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${ROOT}/sink/t');
CREATE TABLE copies (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${ROOT}/files/t', 'format' = 'json');
"""
_JOB = """
SET 'sqlext.dead-letters.table' = 'letters';
SET 'sqlext.bounded' = 'catch-up';
BEGIN STATEMENT SET;
INSERT INTO counts SELECT k, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY ROW;
INSERT INTO copies SELECT k, CAST(v AS INT) FROM events;
END;
"""
_DRIVER = """
import json, os, sys
from pathlib import Path
import sqlext
from sqlext.spark.local import local_spark
root = Path(sys.argv[1])
spark = local_spark(cores=1, folder=root / "spark")

def leave(place, pages):
    filler = root / place / "filler"
    filler.unlink(missing_ok=True)
    space = os.statvfs(root / place)
    filler.write_bytes(b"x" * max(0, (space.f_bavail - pages) * space.f_frsize))

def run(name):
    session = sqlext.connect(spark, catalog=root / "catalog" / "t")
    session.run(root / name, variables={"ROOT": str(root)}, checkpoint=str(root / "checkpoints" / "t"))

run("tables.sql")
rows = 0
for place in sys.argv[2:]:
    pages = 0
    for n in range(12):
        rows += 1
        line = {"k": "a", "v": str(rows), "ts": f"2024-01-01 00:{rows // 60:02}:{rows % 60:02}"}
        bad = {**line, "v": f"x{rows}"}
        (root / "new").write_text(json.dumps(line) + "\\n" + json.dumps(bad) + "\\n")
        (root / "new").replace(root / "in" / f"{rows:03}.json")
        leave(place, pages)
        try:
            run("job.sql")
        except sqlext.SqlExtError as error:
            told = place, error.code, bool(error.hint), error.message[:300]
            print("failed", json.dumps(told), flush=True)
        else:
            break
        pages = 1 if not pages else pages * 2
    (root / place / "filler").unlink()
run("job.sql")
session = sqlext.connect(spark, catalog=root / "catalog" / "t")
found = {name: sorted(map(list, session.sql(f"SELECT {what} FROM {name}").rows))
    for name, what in (("copies", "v"), ("letters", "text"), ("counts", "n"))}
print("rows", json.dumps([rows, found]), flush=True)
"""


@pytest.mark.costly
def test_each_place(tmp_path: Path) -> None:
    for name in (*_PLACES, "in"):
        (tmp_path / name).mkdir()
    mounted = ["unshare", "--mount", "sh", "-c", _MOUNTED, str(tmp_path), " ".join(_PLACES)]
    if subprocess.run([*mounted, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    (tmp_path / "tables.sql").write_text(_TABLES)
    (tmp_path / "job.sql").write_text(_JOB)
    command = [*mounted, sys.executable, "-c", _DRIVER, str(tmp_path), *_PLACES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, env=short_lived())
    lines = done.stdout.splitlines()
    failed = [json.loads(line.removeprefix("failed ")) for line in lines if line.startswith("failed ")]
    print(*failed, sep="\n")
    assert {place for place, *_ in failed} == set(_PLACES), done.stderr[-3000:]
    # Java does not say which path it was.
    assert [told for told in failed if not told[2] or "No space left" not in told[3]] == []
    assert {code for _, code, _, _ in failed} <= {"CAT-035", "RUN-100"}
    rows, found = json.loads(lines[-1].removeprefix("rows "))
    assert found["copies"] == [[n] for n in range(1, rows + 1)]
    assert len(found["letters"]) == rows
    assert sum(n for (n,) in found["counts"]) == 2 * rows
