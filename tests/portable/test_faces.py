"""One script, run by each face that takes scripts: the same rows everywhere."""

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
from tests.workspace import EVENTS, Workspace

pytestmark = pytest.mark.slow

SCRIPT = (
    EVENTS
    + """
CREATE TABLE panes (k STRING, w TIMESTAMP(3), n BIGINT, pane BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}');
CREATE VIEW positive AS SELECT * FROM events WHERE v > 0;
INSERT INTO panes
SELECT k, window_start, COUNT(DISTINCT v), PANE_INDEX()
FROM TABLE(TUMBLE(TABLE positive, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 2 ROWS;
"""
)
ROWS = [("a", "1", "0"), ("a", "2", "1"), ("b", "1", "0")]
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
    workspace.put("1.csv", "a,1,1", "a,1,2", "b,3,4", "a,2,3", "b,-1,5", "c,0,30")
    script = workspace.folder / "script.sql"
    script.write_text(SCRIPT)
    face(workspace, script, {"IN": str(workspace.input), "OUT": str(workspace.folder / "out" / "counts")})
    assert [(k, n, pane) for k, _, n, pane in workspace.delta()] == ROWS


def _command(*words: str) -> None:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 0, result.output


def _defined(script: Path, variables: dict[str, str]) -> list[str]:
    given = itertools.chain.from_iterable(("--define", f"{k}={v}") for k, v in variables.items())
    return ["--catalog", str(script.parent / "catalog"), *given]
