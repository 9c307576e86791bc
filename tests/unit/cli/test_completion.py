"""Completion of the command itself, in a real bash."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sqlext.cli.main import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert "_SQLEXT_COMPLETE" in result.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("sqlext")
    script = f"""
        PATH={command.parent}:$PATH
        eval "$(sqlext completion bash)"
        COMP_WORDS=(sqlext check --fo); COMP_CWORD=2
        _sqlext_completion sqlext
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["--format"], done.stderr
