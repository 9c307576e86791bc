"""Spark's event log has no secret: neither of options and settings, nor of jobs that failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DRIVER = Path(__file__).with_name("event_log_driver.py")
CANARY = "c4n4ry0123456789abcdef"


def test_no_secret_is_in_it(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(DRIVER), str(tmp_path), CANARY], capture_output=True, text=True, timeout=300, check=True
    )
    events = [f for f in (tmp_path / "events").rglob("*") if f.is_file()]
    text = "\n".join(f.read_text("utf-8") for f in events)
    assert text.count("SparkListenerJobStart") > 2
    assert "QueryStartedEvent" in text
    shown = [line[max(0, line.index(CANARY) - 200) :][:250] for line in text.splitlines() if CANARY in line]
    assert shown == []
    assert CANARY not in run.stdout + run.stderr
    assert [f for f in tmp_path.rglob("*") if f.is_file() and CANARY.encode() in f.read_bytes()] == []
