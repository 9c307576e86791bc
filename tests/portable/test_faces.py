"""One script, run by each face that takes scripts: the same rows everywhere.

Spark Connect and dbt need much that their own tests have running: they run it in ``tests/connect`` and ``tests/dbt``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from IPython.core.interactiveshell import InteractiveShell

import sqlext
from sqlext.cli.main import main
from sqlext.notebook.magics import load
from tests import one_script
from tests.workspace import Workspace

pytestmark = pytest.mark.slow

Face = Callable[[Workspace, Path, dict[str, str]], None]


def by_session(workspace: Workspace, script: Path, variables: dict[str, str]) -> None:
    sqlext.connect(workspace.spark, catalog=script.parent / "catalog").run(script, variables)


def by_cli(workspace: Workspace, script: Path, variables: dict[str, str]) -> None:
    _command("run", str(script), *_defined(script, variables))


def by_shell(workspace: Workspace, script: Path, variables: dict[str, str]) -> None:
    _command("shell", "-f", str(script), *_defined(script, variables))


def by_cell(workspace: Workspace, script: Path, variables: dict[str, str]) -> None:
    notebook = InteractiveShell.instance()
    notebook.user_ns["spark"] = workspace.spark.newSession()
    load(notebook)
    notebook.run_line_magic("sqlext_catalog", str(script.parent / "catalog"))
    notebook.run_cell_magic("sqlext", " ".join(f"-D {k}={v}" for k, v in variables.items()), script.read_text())
    InteractiveShell.clear_instance()


def by_spark_sql(workspace: Workspace, script: Path, variables: dict[str, str]) -> None:
    spark = workspace.spark.newSession()
    sqlext.install(spark, script.parent / "catalog")
    try:
        text = re.sub(r"\$\{(\w+)\}", lambda found: variables[found.group(1)], script.read_text())
        for statement in filter(str.strip, text.split(";")):
            spark.sql(statement)
    finally:
        sqlext.uninstall(spark)


FACES: dict[str, Face] = {
    "session": by_session,
    "command line": by_cli,
    "shell": by_shell,
    "cell": by_cell,
    "spark.sql": by_spark_sql,
}


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_the_same_script(workspace: Workspace, face: Face) -> None:
    script, variables = one_script.laid_out(workspace.folder / "one_script")
    face(workspace, script, variables)
    assert one_script.rows(Path(variables["OUT"])) == one_script.ROWS


def _command(*words: str) -> None:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 0, result.output


def _defined(script: Path, variables: dict[str, str]) -> list[str]:
    given = itertools.chain.from_iterable(("--define", f"{k}={v}") for k, v in variables.items())
    return ["--catalog", str(script.parent / "catalog"), *given]
