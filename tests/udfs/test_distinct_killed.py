"""DISTINCT survives kill -9 in a micro-batch, and goes on with fewer cores and more partitions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from streams import add_file

_JOB = Path(__file__).with_name("distinct_job.py")
_PATIENCE = 300.0


def _start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    # A group of its own, so that its JVM dies with it and cannot finish the batch.
    with (folder / "log.txt").open("ab") as log:
        command = [sys.executable, str(_JOB), str(folder), *arguments]
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def _kill_when(job: subprocess.Popen[bytes], sign: Path) -> None:
    give_up = time.monotonic() + _PATIENCE
    while not sign.exists() and job.poll() is None and time.monotonic() < give_up:
        time.sleep(0.02)
    reached = sign.exists()
    if job.poll() is None:
        os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    assert reached


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize(("batch", "moment"), [(0, "before"), (1, "during"), (2, "after")])
def test_same_rows_after_kill(tmp_path: Path, batch: int, moment: str) -> None:
    for start in (0, 100, 200, 300):
        add_file(tmp_path / "in", range(start, start + 400))
    _kill_when(_start(tmp_path, "2", "2", str(batch), moment), tmp_path / "now")
    assert _start(tmp_path, "1", "3").wait(_PATIENCE) == 0, (tmp_path / "log.txt").read_text()
    out = ds.dataset(tmp_path / "out", format="parquet").to_table().to_pylist()
    assert sorted(row["n"] for row in out) == list(range(500))
    assert all(row["s"] == f"n{row['n']}" for row in out)
