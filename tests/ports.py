"""Ports of servers that tests start in processes of their own."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_port(process: subprocess.Popen[bytes], port: int, log: Path, seconds: float, says: str = "") -> None:
    """Return when a server takes connections.

    Args:
        log: what it says.
        says: what stands there when it serves, of a server that takes connections before.

    Raises:
        RuntimeError: if it ends before that, or takes longer.
    """
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0 and says in log.read_text(errors="replace"):
                return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")
