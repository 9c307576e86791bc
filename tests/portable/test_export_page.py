"""docs/export.md does what it says, line by line; its pipelines are checked and run by the real spark-pipelines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.dataset as dataset
import pytest
from click.testing import CliRunner

from sqlext.cli.main import main
from tests.pages import blocks

#: For a small, busy machine.
DEFAULTS = "spark.sql.shuffle.partitions 2\nspark.python.authenticate.socketTimeout 300s\n"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the page was followed, without the runs of pipelines."""
    folder, before = tmp_path_factory.mktemp("export"), Path.cwd()
    os.chdir(folder)
    try:
        output = ""
        for kind, file, _, text in blocks("export.md"):
            if file:
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                Path(file).write_text(text, "utf-8")
            elif kind == "sh":
                output = "".join(rewritten(line) for line in text.splitlines() if line.startswith("sqlext"))
            elif kind == "text":
                assert [line for line in text.splitlines() if line not in output] == [], output
    finally:
        os.chdir(before)
    return folder


def rewritten(line: str) -> str:
    """Run a ``sqlext`` line and return what it prints."""
    command, _, code = line.partition("  # exit code ")
    result = CliRunner().invoke(main, command.split()[1:])
    assert result.exit_code == int(code or 0), result.output
    return result.output


def pipelines(project: Path, command: str) -> None:
    """Run ``spark-pipelines`` in a project."""
    configuration = project.parent / "conf"
    configuration.mkdir(exist_ok=True)
    (configuration / "spark-defaults.conf").write_text(DEFAULTS)
    tool = Path(sys.executable).parent / "spark-pipelines"
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_", "PYTHON"))}
    env |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": str(configuration)}
    env["PATH"] = f"{tool.parent}:{env['PATH']}"
    done = subprocess.run(
        [str(tool), command], cwd=project, env=env, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    assert "Run is COMPLETED" in done.stdout + done.stderr


def rows(project: Path, table: str) -> list[str]:
    """Return the rows of a pipeline's table as text, sorted."""
    found = dataset.dataset(project / "spark-warehouse" / table, format="parquet").to_table().to_pylist()
    return sorted(" ".join(f"{v:%H:%M}" if hasattr(v, "hour") else str(v) for v in row.values()) for row in found)


def test_the_page(page: Path) -> None:
    assert "wait for newer data" in (page / "pipeline" / "spark-pipeline.yml").read_text()
    assert "the last windows wait for newer data" in (page / "pipeline" / "transformations" / "queries.sql").read_text()
    assert "import sqlext" not in (page / "pipeline" / "transformations" / "readers.py").read_text()
    assert "the stateful function `window`" in (page / "early" / "transformations" / "early.py").read_text()


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("step", ["plain SQL", "stateful function", "dry run"])
def test_the_real_tool(page: Path, step: str) -> None:
    if step == "dry run":
        pipelines(page / "pipeline", "dry-run")
    elif step == "plain SQL":
        project = page / "pipeline"
        pipelines(project, "run")
        assert rows(project, "per_minute") == ["ink 10:00 7.0", "pen 10:00 1.5", "pen 10:01 3.0"]
        assert rows(project, "per_hour") == []
        assert rows(project, "totals") == ["ink 9.0", "pen 4.5"]
    else:
        pipelines(page / "early", "run")
        early = ["ink 10:00 7.0 0", "ink 10:02 2.0 0", "pen 10:00 1.5 0", "pen 10:01 3.0 0"]
        assert [row for row in rows(page / "early", "early") if row.endswith(" 0")] == early
