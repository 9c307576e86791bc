"""What is a command of the shell, and what is SQL."""

from __future__ import annotations

import pytest

from sqlext.cli.shell.commands import command


@pytest.mark.parametrize(
    "text", ["quit", "QUIT;", " exit ;", "help", ".help", ".mode csv", ".read job.sql", ".nothing"]
)
def test_commands(text: str) -> None:
    assert command(text) is not None


@pytest.mark.parametrize("text", ["", "SELECT 1;", "quit now", "mode csv", "SELECT\n.5;", "help;\nSELECT 1;", "read x"])
def test_sql(text: str) -> None:
    assert command(text) is None


def test_an_unknown_command_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    action = command(".nothing at all")
    assert action is not None
    action(None)  # type: ignore[arg-type]
    assert capsys.readouterr().err == "there is no command .nothing; .help lists them\n"


def test_read_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    found = command(".read")
    assert found is not None
    found(None)  # type: ignore[arg-type]
    assert capsys.readouterr().err == ".read needs a file: .read FILE\n"
