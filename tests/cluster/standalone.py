"""A standalone cluster of Spark, each part a process of its own on loopback, as pyspark's package brings it along.

Its workers' Python is not the tests' own: it sees chosen packages, and never sqlext.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlext.spark.worker_processes import spark_home
from tests.ports import await_port, free_port
from tests.workspace import short_lived

_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_START_SECONDS = 180
#: Where a worker's Python finds its packages.
_PACKAGES = "TESTS_PACKAGES"
#: What a worker is started by, so that it sees other files than the driver.
_ELSEWHERE = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"')


@dataclass(frozen=True)
class Cluster:
    """A running cluster.

    Attributes:
        url: its master's.
        python: the interpreter of its workers, a script.
    """

    url: str
    python: Path


@contextmanager
def cluster(folder: Path, *workers: Path, hides: Path | None = None, python: str = sys.executable) -> Iterator[Cluster]:
    """Run a master and workers of one core.

    Args:
        folder: for their files; made here.
        workers: where the Python of each finds its packages: the n-th is the host 127.0.0.n.
        hides: a folder of which the workers see an empty one in its place.
        python: what runs their Python.
    """
    folder.mkdir(parents=True)
    port = free_port()
    with ExitStack() as running:
        log = folder / "master.log"
        words = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        await_port(running.enter_context(_process(_MASTER, words, {}, log)), port, log, _START_SECONDS)
        url = f"spark://127.0.0.1:{port}"
        for number, packages in enumerate(workers, 1):
            home = folder / f"worker-{number}"
            host = f"127.0.0.{number}"
            words = ["--host", host, "--webui-port", "0", "--cores", "1", "--memory", "1g", "--work-dir", str(home)]
            variables = {_PACKAGES: str(packages), "SPARK_LOCAL_IP": host, "SPARK_LOCAL_HOSTNAME": host}
            before = [*_ELSEWHERE, str(hides)] if hides is not None else []
            running.enter_context(_process(_WORKER, [*words, url], variables, folder / f"worker-{number}.log", before))
        yield Cluster(url, python_with(folder / "python", workers[0], python))


def packages_without(folder: Path, left_out: Collection[str]) -> Path:
    """Return a folder of links to the installed packages, without some, and without sqlext."""
    folder.mkdir(parents=True)
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.name.partition("-")[0] not in {"sqlext_spark", *left_out}:
            (folder / path.name).symlink_to(path)
    return folder


def python_with(script: Path, packages: Path, python: str = sys.executable) -> Path:
    """Write a script that runs Python with the packages of a folder; a worker of a cluster has its own folder."""
    # -S: no packages but those on its path, so that sqlext, which is installed in place, is not seen. The driver's JVM
    # starts this Python too, with the packages of the first worker.
    path = f"$PYTHONPATH${{PYTHONPATH:+:}}${{{_PACKAGES}:-{packages}}}"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec {python} -S "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script


@contextmanager
def _process(
    name: str, words: list[str], variables: Mapping[str, str], log: Path, before: Collection[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a class of Spark's until the block ends; what it has started ends with it."""
    home = str(spark_home())
    environment = {**short_lived(), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": home, **variables}
    environment.pop("PYTHONPATH", None)
    command = [*before, f"{home}/bin/spark-class", name, *words]
    with log.open("wb") as said:
        process = subprocess.Popen(
            command, cwd=log.parent, env=environment, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()  # a worker then ends its executors
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
