"""Run a driver of its own that kills itself amid its work."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

_REPOSITORY = Path(__file__).parents[2]


def run_and_die(module: str, *arguments: object) -> None:
    """Run a module with arguments until it is killed."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    job = subprocess.run(
        command, cwd=_REPOSITORY, capture_output=True, text=True, start_new_session=True, timeout=400, check=False
    )
    assert job.returncode == -signal.SIGKILL, job.stderr
