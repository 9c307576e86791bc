"""One clear sentence for every machine that cannot run Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sqlext import environment
from sqlext.errors import SqlExtError

ENVIRONMENT = Path(environment.__file__)


def fake_java(folder: Path, version: str) -> Path:
    """Make a java that says which version it is, as real ones do: on stderr."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-01' >&2\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize("version", ["17.0.15", "17", "21.0.2", "21-ea"])
def test_java_that_spark_takes(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert environment.java_problem() is None


@pytest.mark.parametrize(("version", "shown"), [("1.8.0_402", "8"), ("11.0.2", "11"), ("25", "25")])
def test_wrong_java(version: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SqlExtError) as raised:
        environment.require_java()
    assert raised.value.code == "ENV-002"
    assert f"needs Java 17 or 21, but the java in JAVA_HOME ({tmp_path}) is version {shown}" in raised.value.message


def test_java_home_wins_over_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path / "old", "11.0.2")
    fake_java(tmp_path / "new", "17.0.1")
    monkeypatch.setenv("PATH", str(tmp_path / "new" / "bin"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert environment.java_problem() is not None
    monkeypatch.delenv("JAVA_HOME")
    assert environment.java_problem() is None


@pytest.mark.parametrize("home", [None, "/no/such/folder"])
def test_no_java(home: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if home:
        monkeypatch.setenv("JAVA_HOME", home)
    else:
        monkeypatch.delenv("JAVA_HOME", raising=False)
    problem = environment.java_problem()
    assert problem
    assert problem.code == "ENV-001"
    assert (home or "PATH") in problem.message


def test_java_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, "17").write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    problem = environment.java_problem()
    assert problem
    assert problem.code == "ENV-002"


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("WARNING: Retrying ... NewConnectionError('<HTTPSConnection>: Failed to establish')", "cannot be reached"),
        ("ERROR: No matching distribution found for pyspark==4.2.0", "pip failed"),
        ("error: subprocess-exited-with-error\nBuilding wheel failed", "pip failed"),
    ],
)
def test_pip_failed(log: str, reason: str) -> None:
    problem = environment.pip_problem(log)
    assert problem.code == "ENV-004"
    assert reason in problem.message


@pytest.mark.parametrize(
    ("log", "code", "part"),
    [
        (
            ":: io.delta#delta-spark_4.2_2.13;4.4.0: not found\nRuntimeException: [unresolved dependency: io.delta]",
            "ENV-005",
            "io.delta#delta-spark_4.2_2.13;4.4.0",
        ),
        ("Error occurred during initialization of VM\nToo small", "ENV-006", "initialization of VM"),
        ("", "ENV-006", "it said nothing"),
    ],
)
def test_spark_failed(log: str, code: str, part: str) -> None:
    problem = environment.spark_problem(log)
    assert problem.code == code
    assert part in problem.message


def test_it_runs_alone_as_the_makefile_runs_it(tmp_path: Path) -> None:
    """Nothing installed, no package: and the folder's types.py must not shadow the library's."""
    fake_java(tmp_path, "11.0.2")
    ran = subprocess.run(
        [sys.executable, "-I", "-S", str(ENVIRONMENT)],
        env={**os.environ, "JAVA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("ENV-002: ")
    assert ran.stderr.count("\n") == 1
