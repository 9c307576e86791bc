"""kill -9 in the middle of a commit, and between the commits of two sinks: both have every row once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.workspace import short_lived

JOB = Path(__file__).with_name("sink_job.py")
BATCHES = 3


def run(folder: Path, kill_at_step: int, kill_after_delta: int) -> int:
    arguments = [sys.executable, str(JOB), str(folder), str(kill_at_step), str(kill_after_delta)]
    return subprocess.run(arguments, capture_output=True, timeout=180, check=False, env=short_lived()).returncode


@pytest.mark.slow
@pytest.mark.parametrize(("kill_at_step", "kill_after_delta"), [(4, 0), (0, 2)])
def test_every_row_comes_once(tmp_path: Path, kill_at_step: int, kill_after_delta: int) -> None:
    (tmp_path / "in").mkdir()
    for batch in range(BATCHES):
        (tmp_path / "in" / f"{batch}.csv").write_text(f"a,{batch}\nb,{batch}\n")
    assert run(tmp_path, kill_at_step, kill_after_delta) == -9
    assert run(tmp_path, 0, 0) == 0
    expected = sorted(f"{k},{v}" for k in "ab" for v in range(BATCHES))
    visible = (f for f in (tmp_path / "files").glob("part-*"))
    assert sorted(line for f in visible for line in f.read_text().splitlines()) == expected
    rows = DeltaTable(str(tmp_path / "delta")).to_pyarrow_table().to_pylist()
    assert sorted(f"{r['k']},{r['v']}" for r in rows) == expected
