"""A Spark that has ended under its session: each statement says so, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
import sqlext
session = sqlext.connect()
files = "WITH ('connector' = 'filesystem', 'path' = '" + sys.argv[1] + "', 'format' = 'json');"
session.run("CREATE TABLE t (k STRING) " + files)
def told(act, *arguments):
    try:
        act(*arguments)
    except sqlext.SqlExtError as error:
        print(error.code)
told(session.sql, "SELECT reflect('java.lang.System', 'exit', 3) FROM t")
told(session.sql, "SELECT 1")
told(session.sql, "SELECT k FROM t")
told(session.query, "SELECT k FROM t")
print(len(session.sql("SHOW TABLES").rows))
"""


def test_each_statement_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"k": "a"}\n')
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.stdout.split() == ["RUN-080", "RUN-080", "RUN-080", "RUN-080", "1"], ended.stderr
    assert "Traceback" not in ended.stderr
