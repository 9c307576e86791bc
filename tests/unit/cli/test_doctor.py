"""`sqlext doctor`: exit codes, both forms, and what it says where nothing is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sqlext.cli.main import main

HIDDEN = "import sys; sys.modules['pyspark'] = None; from sqlext.cli.main import main; main(sys.argv[1:])"


def test_as_text(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["doctor", "--catalog", str(tmp_path)])
    assert result.exit_code == 0
    assert "Nothing is missing that `sqlext run` needs." in result.output


def test_as_json(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["doctor", "--format", "json", "--catalog", "hdfs://host/catalog"])
    assert result.exit_code == 1
    [catalog] = [f for f in json.loads(result.output) if f["name"] == "this catalog"]
    assert catalog.keys() == {"area", "name", "state", "found", "advice", "code", "needed"}
    assert (catalog["state"], catalog["code"], catalog["needed"]) == ("refused", "CAT-038", True)


def test_without_java_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    result = CliRunner().invoke(main, ["doctor", "--catalog", str(tmp_path)])
    assert result.exit_code == 1
    assert "ENV-001" in result.output


@pytest.mark.parametrize("more", [[], ["--spark"]])
def test_without_pyspark_the_rest_is_said(more: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", HIDDEN, "doctor", "--catalog", str(tmp_path), *more]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert (done.returncode, done.stderr) == (1, "")
    assert "ENV-011" in done.stdout
    assert "pip install 'sqlext-spark[local]'" in done.stdout
    assert "there is no PySpark here" in done.stdout
    assert "this catalog" in done.stdout
    assert "prometheus" in done.stdout.lower()
