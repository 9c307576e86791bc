"""A Spark Connect server in a process of its own, as pyspark's package brings it along."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from sqlext.execution import class_archive
from sqlext.execution.local_spark import _configuration
from tests.workspace import short_lived

_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
_START_SECONDS = 180


@contextmanager
def connect_server(folder: Path, cores: int) -> Iterator[str]:
    """Run a server with the settings of a local Spark of ours and its files in ``folder``; gives its address."""
    folder.mkdir(parents=True)
    port = _free_port()
    settings = {
        **dict(_configuration(cores, folder, ()).getAll()),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.extraJavaOptions": class_archive.java_options(),
    }
    given = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    environment = {**short_lived(), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    log = folder / "server.log"
    with log.open("wb") as said:
        command = [str(_SUBMIT), "--class", _CLASS, *given, "spark-internal"]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=subprocess.STDOUT)
    try:
        _wait(process, port, log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        # What it would still tidy up lies in a folder of the tests.
        process.kill()
        process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Return when the server takes connections."""
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
