"""Nothing heavy is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"pyspark", "pandas", "numpy", "pyarrow", "deltalake", "delta", "py4j", "google.protobuf", "rich"}
REWRITE = """
from sqlext.session.offline.commands import rewrite_file
rewrite_file({file!r})
"""
SCRIPT = """
CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
"""


def modules_after(code: str) -> set[str]:
    shown = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_package_costs_no_more_than_sqlglot() -> None:
    ours = modules_after("import sqlext")
    assert not ours & HEAVY
    assert not {m for m in ours if m.startswith("sqlglot")} - modules_after("import sqlglot")


def test_a_rewrite_needs_no_spark(tmp_path: Path) -> None:
    file = tmp_path / "job.sql"
    file.write_text(SCRIPT)
    assert not modules_after(REWRITE.format(file=str(file))) & (HEAVY - {"deltalake"})


@pytest.mark.parametrize("module", ["sqlext.cli.main", "sqlext.session.api"])
def test_the_faces_are_light(module: str) -> None:
    assert not modules_after(f"import {module}") & HEAVY
