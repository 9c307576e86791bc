"""A standalone cluster whose workers have no sqlext: it is brought there, or the start is refused with a clear word."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.standalone import Cluster, cluster, packages_without
from tests.refusals import answered
from tests.workspace import short_lived

pytestmark = pytest.mark.slow

DRIVER = Path(__file__).with_name("driver.py")
#: What lets workers see other files than the driver.
seeing_other_files = pytest.mark.skipif(
    shutil.which("unshare") is None or os.geteuid() != 0, reason="unshare needs root, on Linux"
)
#: How long a part may take, in seconds.
PATIENCE = 300
#: Not needed by workers: the driver alone parses SQL and keeps the catalog.
DRIVERS_OWN = ("sqlglot", "deltalake")


class Driver:
    """A driver on a cluster in its own process; ``folder`` is where it works."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._log = folder / "driver.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(DRIVER), cluster.url, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**short_lived(), "PYSPARK_PYTHON": str(cluster.python)},
            )

    def ask(self, part: str) -> Any:
        """Return what a function of ``driver.py`` gives; of a refusal its code, message and hint."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{part}\n")
        self._process.stdin.flush()
        patience = threading.Timer(PATIENCE, self._process.kill)
        patience.start()
        try:
            # Spark's own processes print too.
            said = next((line for line in self._process.stdout if line.startswith("answer ")), None)
        finally:
            patience.cancel()
        assert said is not None, self._log.read_text(errors="replace")[-3000:]
        return answered(json.loads(said.removeprefix("answer ")))

    def close(self) -> None:
        """Let nothing of it be left."""
        self._process.kill()
        self._process.wait()


def _other_python() -> tuple[str, str] | None:
    """Return an interpreter of another minor version and that version; None where PATH has none that runs."""
    for minor in set(range(10, 15)) - {sys.version_info.minor}:
        found = shutil.which(f"python3.{minor}")
        if found and subprocess.run([found, "-V"], capture_output=True, check=False).returncode == 0:
            return found, f"3.{minor}"
    return None


@contextmanager
def _driver(folder: Path, *workers: Path, hides: Path | None = None, python: str = sys.executable) -> Iterator[Driver]:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    with cluster(folder / "cluster", *workers, hides=hides, python=python) as running:
        driver = Driver(running, work)
        try:
            yield driver
        finally:
            driver.close()


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """Return a driver on a cluster of two workers that have all but sqlext and what drivers alone need."""
    folder = tmp_path_factory.mktemp("cluster")
    packages = packages_without(folder / "packages", DRIVERS_OWN)
    with _driver(folder, packages, packages) as driver:
        yield driver


def test_an_operator_with_state(driver: Driver) -> None:
    assert driver.ask("early") == [["a", 2], ["a", 2], ["b", 1]]


def test_files_read_by_our_reader(driver: Driver) -> None:
    assert driver.ask("arrow") == [["a", 2], ["b", 1]]


def test_a_table_function(driver: Driver) -> None:
    words = [["a", "a"], ["a", "a"], ["a", "aa"], ["a", "aa"], ["b", "b"], ["b", "bb"]]
    assert driver.ask("table_function") == words


@pytest.mark.costly
def test_an_executor_is_killed(driver: Driver) -> None:
    assert driver.ask("executors") == 2
    assert driver.ask("killed") == [["a", 2], ["b", 2]]


@pytest.mark.costly
def test_a_worker_lacks_packages(tmp_path: Path) -> None:
    full = packages_without(tmp_path / "full", DRIVERS_OWN)
    bare = packages_without(tmp_path / "bare", ("pyarrow", "pandas"))
    with _driver(tmp_path, full, bare) as driver:
        assert driver.ask("executors") == 2
        refused = driver.ask("early")
        assert refused["code"] == "ENV-015"
        assert refused["message"].endswith("no pandas, no pyarrow on 127.0.0.2")
        assert "pip install 'pandas>=2.2' 'pyarrow>=18'" in refused["hint"]
        assert driver.ask("native") == [["a", 2], ["b", 1]]


@pytest.mark.costly
def test_workers_have_another_python(tmp_path: Path) -> None:
    other = _other_python()
    if other is None:
        pytest.skip("PATH has no other Python 3")
    python, version = other
    packages = packages_without(tmp_path / "packages", DRIVERS_OWN)
    with _driver(tmp_path, packages, python=python) as driver:
        refused = driver.ask("early")
        assert refused["code"] == "ENV-016"
        own = f"{sys.version_info.major}.{sys.version_info.minor}"
        said = f"workers have Python {version}, and the driver has Python {own}"
        # The cluster has one worker.
        assert refused["message"] == f"{said}; workers run on 127.0.0.1"
        assert driver.ask("native") == [["a", 2], ["b", 1]]


@pytest.mark.costly
@seeing_other_files
def test_workers_do_not_see_the_catalog(tmp_path: Path) -> None:
    packages = packages_without(tmp_path / "packages", DRIVERS_OWN)
    catalog = tmp_path / "work" / "catalog"
    catalog.mkdir(parents=True)
    with _driver(tmp_path, packages, hides=catalog) as driver:
        refused = driver.ask("native")
        assert refused["code"] == "ENV-017"
        assert refused["message"].startswith(f"the workers on 127.0.0.1 cannot see the folder `{catalog}`")
        assert driver.ask("batch") == [["a", 3], ["b", 4]]


@pytest.mark.costly
@seeing_other_files
def test_workers_do_not_see_the_sink(tmp_path: Path) -> None:
    packages = packages_without(tmp_path / "packages", DRIVERS_OWN)
    folder = tmp_path / "work" / "hidden"
    folder.mkdir(parents=True)
    with _driver(tmp_path, packages, hides=folder) as driver:
        refused = driver.ask("hidden")
        assert refused["code"] == "ENV-017"
        said = f"the workers on 127.0.0.1 cannot see the folder `{folder}`, where a sink puts its rows"
        assert refused["message"].startswith(said)
        assert list(folder.iterdir()) == []
