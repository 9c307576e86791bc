"""``--restricted`` and ``--allow`` of the commands that run and check SQL. No Spark is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sqlext.cli.main import main

STATEMENTS = {
    "ADD JAR '/x.jar';": "RESTRICT-006",
    "SET 'spark.x' = '1';": "RESTRICT-005",
    "CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = '/etc', 'format' = 'json');": "RESTRICT-002",
}


@pytest.mark.parametrize("command", ["run", "check", "shell"])
@pytest.mark.parametrize(("statement", "code"), STATEMENTS.items())
def test_what_is_refused(
    command: str, statement: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.sql").write_text(statement)
    file = ["-f", "job.sql"] if command == "shell" else ["job.sql"]
    result = CliRunner().invoke(main, [command, *file, "--restricted", "--allow", "path=data"])
    assert result.exit_code == 1
    assert f"job.sql:1:{1 if code != 'RESTRICT-002' else 61}: {code}: " in result.stderr


@pytest.mark.parametrize("command", ["run", "check", "shell"])
def test_wrong_arguments(command: str) -> None:
    file = [] if command == "shell" else ["job.sql"]
    for wrong, told in {("--allow", "path=x"): "goes with --restricted", ("--allow", "paths=x"): "none of"}.items():
        result = CliRunner().invoke(main, [command, *file, *wrong])
        assert result.exit_code == 2
        assert told in result.stderr


@pytest.mark.parametrize("command", ["ui", "mcp", "lsp"])
def test_wrong_arguments_of_servers(command: str) -> None:
    wrong = {("--unrestricted", "--allow", "path=x"): "goes without --unrestricted", ("--allow", "paths=x"): "none of"}
    for arguments, told in wrong.items():
        result = CliRunner().invoke(main, [command, *arguments])
        assert result.exit_code == 2
        assert told in result.stderr
