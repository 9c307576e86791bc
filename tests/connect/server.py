"""A Spark Connect server in a process of its own, as pyspark's package brings it along."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlext.spark.local import archive_options, configuration
from sqlext.spark.worker_processes import spark_home
from tests.ports import await_port, free_port
from tests.workspace import short_lived

_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
_START_SECONDS = 180


@contextmanager
def connect_server(folder: Path, cores: int, python: str = sys.executable) -> Iterator[str]:
    """Run a server with the settings of a local Spark of ours and its files in ``folder``; gives its address.

    Args:
        python: what it and its workers run Python by.
    """
    folder.mkdir(parents=True)
    port = free_port()
    settings = {
        **dict(configuration(cores, folder, ()).getAll()),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.extraJavaOptions": archive_options(),
    }
    given = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    home = str(spark_home())
    environment = {**short_lived(), "PYSPARK_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": home}
    log = folder / "server.log"
    with log.open("wb") as said:
        command = [f"{home}/bin/spark-submit", "--class", _CLASS, *given, "spark-internal"]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=subprocess.STDOUT)
    try:
        await_port(process, port, log, _START_SECONDS)
        yield f"sc://127.0.0.1:{port}"
    finally:
        # What it would still tidy up lies in a folder of the tests.
        process.kill()
        process.wait()
