"""Without PySpark what needs none works, and what runs a statement names the extra."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HIDDEN = "import sys; sys.modules['pyspark'] = None; from sqlext.cli.main import main; main(sys.argv[1:])"


def sqlext(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process that finds no PySpark."""
    command = [sys.executable, "-c", HIDDEN, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))


def script(folder: Path) -> str:
    file = folder / "job.sql"
    file.write_text("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');\nINSERT INTO t VALUES (1);\n")
    return str(file)


def test_checks_and_rewrites_need_no_pyspark(tmp_path: Path) -> None:
    for command, said in (("check", "no mistakes\n"), ("rewrite", "")):
        done = sqlext(command, script(tmp_path))
        assert (done.returncode, done.stderr) == (0, said)


def test_a_run_names_the_extra(tmp_path: Path) -> None:
    done = sqlext("run", script(tmp_path), "--catalog", str(tmp_path / "catalog"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "ENV-011" in done.stderr
    assert "pip install 'sqlext-spark[local]'" in done.stderr
