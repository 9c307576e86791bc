"""The code of docs/shell.md does what the page says, from its first line to its last, in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from sqlext.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "shell.md"
_BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT_CODE = re.compile(r"# exit code (\d)")


class Block(NamedTuple):
    """A block of code; ``file`` is where it is to be written."""

    kind: str
    file: str
    text: str


def blocks() -> Iterator[Block]:
    return (Block(kind, file or "", text) for kind, file, text in _BLOCK.findall(PAGE.read_text("utf-8")))


def ran(line: str) -> str:
    """Run a line of a shell block, ``sqlext`` in this process, and return what it prints."""
    before, pipe, after = line.partition(" | ")
    words = shlex.split(after if pipe else before, comments=True)
    if words[0] != "sqlext":
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-ec", line], capture_output=True, text=True, env={**os.environ, "PATH": path})
        assert done.returncode == 0, done.stderr
        return done.stdout
    result = CliRunner().invoke(main, words[1:], input=shlex.split(before)[1] if pipe else "")
    code = _EXIT_CODE.search(line)
    assert result.exit_code == (int(code.group(1)) if code else 0), f"{line}\n{result.output}"
    return result.output


@pytest.mark.usefixtures("spark")
def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = ran_blocks = 0
    output = ""
    for kind, file, text in blocks():
        if file:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            Path(file).write_text(text, "utf-8")
        elif kind == "sql":
            begin = ["shell", "-S", "-i", "orders.sql", "-d", "IN=data", "-e", text]
            assert CliRunner().invoke(main, begin).exit_code == 0, text
        elif kind == "sh":
            output = "\n".join(map(ran, text.splitlines()))
        else:
            missing = [line for line in text.splitlines() if line not in output]
            assert not missing, output
            said += 1
        ran_blocks += 1
    assert (ran_blocks, said) >= (18, 4)
