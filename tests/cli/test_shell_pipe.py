"""``sqlext shell`` into a pipe: a query that never ends gives its changes as they come, until Ctrl-C."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TICKS = "CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'rate', 'rows-per-second' = '10');"


@pytest.mark.slow
def test_an_endless_select(tmp_path: Path) -> None:
    arguments = ["--format", "csv", "-e", f"{TICKS} SELECT n FROM ticks;"]
    with subprocess.Popen(
        [sys.executable, "-m", "sqlext.cli.main", "shell", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as shell:
        assert shell.stdout is not None
        lines = [shell.stdout.readline().strip() for _ in range(4)]
        shell.send_signal(signal.SIGINT)
        _, said = shell.communicate(timeout=120)
    assert lines[0] == "op,n"
    assert len({line for line in lines[1:] if re.fullmatch(r"\+I,\d+", line)}) == 3, lines
    assert shell.returncode == 0, said
    assert "Traceback" not in said
