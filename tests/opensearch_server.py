"""A real OpenSearch for tests: one node from Maven jars (60 MB), run within a JVM of its own. Needs a JDK."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.maven_jars import fetched, java
from tests.ports import await_port, free_port

#: The last version for Java 17.
VERSION = "2.19.6"
_MODULES = (
    ("org.opensearch", "opensearch", VERSION),
    ("org.opensearch.plugin", "transport-netty4-client", VERSION),
    ("org.apache.logging.log4j", "log4j-core", "2.25.4"),
)
_START_SECONDS = 180


def has_compiler() -> bool:
    """Return whether Java can run a source file, which a runtime environment alone (JRE) cannot."""
    found = subprocess.run([java(), "--list-modules"], capture_output=True, text=True, check=True)
    return "jdk.compiler@" in found.stdout


@contextmanager
def opensearch_server(folder: Path) -> Iterator[str]:
    """Run a node with its data in ``folder``; gives its URL."""
    jars = fetched(f"opensearch-{VERSION}", _MODULES, transitive=True)
    http, nodes = free_port(), free_port()
    (folder / "config").mkdir()
    source = Path(__file__).with_name("OpenSearchNode.java")
    command = [java(), "-Xmx384m", "-cp", f"{jars}/*", str(source), str(folder), str(http), str(nodes)]
    with (folder / "node.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        await_port(process, http, folder / "node.log", _START_SECONDS)
        yield f"http://127.0.0.1:{http}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
