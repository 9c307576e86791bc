"""A real schema registry for tests: Apicurio Registry from Maven, which answers as Confluent's does.

Needs Java. Its archive (142 MB) is fetched once, into ``~/.cache/sqlext``. Schemas are in the server's memory.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.maven_jars import fetched_archive, java
from tests.ports import await_port, free_port

#: The last version for Java 17.
VERSION = "2.6.13.Final"
_START_SECONDS = 120


@contextmanager
def schema_registry(folder: Path) -> Iterator[str]:
    """Run a registry, its log in ``folder``; gives its URL."""
    unpacked = fetched_archive("io.apicurio", "apicurio-registry-app", VERSION, "all")
    (runner,) = unpacked.glob("*-runner.jar")
    port = free_port()
    settings = [f"-Dquarkus.http.port={port}", "-Dquarkus.http.host=127.0.0.1"]
    with (folder / "registry.log").open("wb") as log:
        # It makes folders where it begins.
        process = subprocess.Popen(
            [java(), "-Xmx256m", *settings, "-jar", str(runner)], stdout=log, stderr=subprocess.STDOUT, cwd=folder
        )
    try:
        await_port(process, port, folder / "registry.log", _START_SECONDS)
        yield f"http://127.0.0.1:{port}/apis/ccompat/v7"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
